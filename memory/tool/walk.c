/*
 * walk.c - pfs-mem walk: reports a walk over all blocks in use. The program's ticking thread
 * writes the report into a file that this command creates, and removes afterwards.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "memory/box/layout.h"

#define WAIT_MS 15000u
#define LOOK_MS 20u

static char *read_all(int file, size_t *bytes)
{
	struct stat status;
	if (fstat(file, &status) != 0 || status.st_size <= 0)
		return NULL;
	char *text = malloc((size_t)status.st_size);
	ssize_t got = text != NULL ? pread(file, text, (size_t)status.st_size, 0) : -1;
	if (got <= 0) {
		free(text);
		return NULL;
	}
	*bytes = (size_t)got;
	return text;
}

/* The last line is the total; no instrument's name begins with that word. */
static bool is_whole(const char *text, size_t bytes)
{
	static const char total[] = "\ntotal\t";
	return bytes > 0 && text[bytes - 1] == '\n' &&
	       memmem(text, bytes, total, sizeof(total) - 1) != NULL;
}

/* NULL: no answer in time. */
static char *wait_for(int file, size_t *bytes)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	for (uint32_t waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
		char *text = read_all(file, bytes);
		if (text != NULL && is_whole(text, *bytes))
			return text;
		free(text);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

static int ask(struct pfs_reader *reader, int file, const char *out)
{
	struct pfs_message message;
	size_t bytes = 0;
	if (!pfs_reader_ask_walk(reader, &message))
		return pfs_complain_of(&message);
	char *text = wait_for(file, &bytes);
	if (text == NULL)
		return pfs_complain(
			PFS_EXIT_REFUSED,
			"walk: no answer within %u s: a program answers at a tick; it needs "
			"libpfsmem.so, ticks (run --tick-ms) and more than one thread",
			WAIT_MS / 1000);
	int status = pfs_write_out("walk", out, text, bytes);
	free(text);
	return status;
}

static int run_walk(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	char path[PFS_READER_PATH_BYTES + sizeof(PFS_BOX_WALK_END)];
	struct pfs_reader *reader = pfs_reader_open(arguments->words[0], &message);
	if (reader == NULL)
		return pfs_complain_of(&message);
	const struct pfs_box_info *info = pfs_reader_info(reader);
	int status = PFS_EXIT_REFUSED, file = -1;
	(void)snprintf(path, sizeof(path), "%s%s", info->path, PFS_BOX_WALK_END);
	if (!info->is_live)
		(void)pfs_complain(
			status,
			"walk: the program of '%.200s' is dead: its blocks are "
			"gone, but 'pfs-mem show' and 'pfs-mem flame' still name their owners",
			info->path);
	else if (strcmp(info->rule, "exact") != 0)
		(void)pfs_complain(status,
				   "walk: with rule %.20s blocks do not record their owner: run "
				   "the program with rule exact",
				   info->rule);
	else if ((file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0)
		(void)pfs_complain(status,
				   errno == EEXIST ? "walk: %.300s exists: another walk is "
						     "running; if not, remove the file"
						   : "walk: %.300s cannot be created",
				   path);
	else
		status = ask(reader, file, arguments->out != NULL ? arguments->out : "-");
	if (file >= 0) {
		(void)unlink(path);
		(void)close(file);
	}
	pfs_reader_close(reader);
	return status;
}

static const struct pfs_option walk_options[] = {
	PFS_MEM_TEXT("out", 'o', "FILE", out, "write to FILE; default standard output"), { 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_walk = {
	.name = "walk", .words = "TARGET", .words_min = 1, .words_max = 1, .run = run_walk,
	.options = walk_options,
	.doc = "count every block in use, by instrument, account and size class\vThe running "
	       "program visits all its blocks at its next tick. Its threads go on, except those "
	       "that begin or end meanwhile.",
};
/* clang-format on */
