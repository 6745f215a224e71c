/*
 * out.c - what --out names is written: whole, or not at all where it is a file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

/* Somebody's numbers, which nobody meant to write over. */
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

int pfs_write_out(const char *command, const char *path, const char *text, size_t bytes)
{
	struct stat status;
	if (is_box(path))
		return pfs_complain(PFS_EXIT_REFUSED, "%s: %.300s is a box: name another file with "
				    "--out", command, path);
	int file = strcmp(path, "-") == 0 ?
			   dup(STDOUT_FILENO) :
			   open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	size_t written = 0;
	int problem = file < 0 ? errno : 0;
	while (problem == 0 && written < bytes) {
		ssize_t count = write(file, text + written, bytes - written);
		if (count > 0)
			written += (size_t)count;
		else if (count < 0 && errno != EINTR)
			problem = errno;
	}
	bool is_file = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
	if (file >= 0 && close(file) != 0 && problem == 0)
		problem = errno;
	if (problem == 0)
		return PFS_EXIT_FINE;
	if (is_file && strcmp(path, "-") != 0)
		(void)unlink(path);
	return pfs_complain(PFS_EXIT_REFUSED, "%s: %.300s cannot be written (%s): name another "
			    "file with --out", command, path, strerror(problem));
}
