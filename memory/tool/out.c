/*
 * out.c - writes what --out names: a file is complete or absent.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "base/output.h"

/* A box must not be overwritten. */
static bool is_box(const char *path)
{
	char magic[sizeof(PFS_BOX_MAGIC) - 1] = "";
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is = file >= 0 && read(file, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
		  memcmp(magic, PFS_BOX_MAGIC, sizeof(magic)) == 0;
	if (file >= 0)
		(void)close(file);
	return is;
}

static int say(const char *command, const char *path, int problem)
{
	return pfs_complain(PFS_EXIT_REFUSED,
			    "%s: %.300s cannot be written (%s): name another file with --out",
			    command, path, strerror(problem));
}

int pfs_write_out(const char *command, const char *path, const char *text, size_t bytes)
{
	struct pfs_output output;
	if (strcmp(path, "-") == 0)
		return fwrite(text, 1, bytes, stdout) == bytes && fflush(stdout) == 0
			       ? PFS_EXIT_FINE
			       : say(command, "standard output", errno);
	if (is_box(path))
		return pfs_complain(PFS_EXIT_REFUSED,
				    "%s: %.300s is a box: name another file with --out", command,
				    path);
	if (!pfs_output_begin(&output, path))
		return say(command, path, errno);
	(void)fwrite(text, 1, bytes, output.file); /* pfs_output_end reports errors */
	return pfs_output_end(&output) ? PFS_EXIT_FINE : say(command, path, errno);
}
