/*
 * heap_open.c - a profile of a TARGET: a box, or a dump in a file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heap.h"
#include "memory/box/reader.h"

#define DUMP_BYTES_MAX (INT64_C(1) << 30)

static bool refuse(struct pfs_message *message, const char *path, const char *why)
{
	return pfs_refuse(message, "'%.150s' %s", path, why);
}

/* Of a regular file that is no box; NULL, and no message: it is none. */
static char *read_dump(const char *path, size_t *bytes, struct pfs_message *message)
{
	char magic[8] = "";
	struct stat status;
	char *text = NULL;
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	message->text[0] = '\0';
	if (file < 0)
		return NULL;
	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
	    pread(file, magic, sizeof(magic), 0) < 0 ||
	    memcmp(magic, PFS_BOX_MAGIC, sizeof(magic)) == 0) {
		(void)close(file);
		return NULL;
	}
	if (status.st_size > DUMP_BYTES_MAX)
		(void)refuse(message, path, "is longer than 1 GiB: not a heap profile");
	else if ((text = malloc((size_t)status.st_size + 1)) == NULL)
		(void)refuse(message, path, "cannot be read: no memory");
	*bytes = 0;
	while (text != NULL && *bytes < (size_t)status.st_size) {
		ssize_t got = read(file, text + *bytes, (size_t)status.st_size - *bytes);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		*bytes += (size_t)got;
	}
	(void)close(file);
	return text;
}

static bool is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

struct pfs_heap *pfs_heap_open(const char *target, const struct pfs_heap_choice *choice,
			       struct pfs_message *message)
{
	size_t bytes;
	struct pfs_heap *heap = NULL;
	char *text = NULL;
	if (!is_number(target) && strcmp(target, "last") != 0) {
		text = read_dump(target, &bytes, message);
		if (text == NULL && message->text[0] != '\0')
			return NULL;
	}
	if (text != NULL && choice != NULL &&
	    (choice->at_peak || choice->older_ns != 0 || choice->newer_ns != 0)) {
		free(text);
		(void)pfs_refuse(message,
				 "'%.150s' is a dump, without times and without its peak: give a "
				 "box",
				 target);
		return NULL;
	}
	if (text != NULL) {
		heap = pfs_heap_of_dump(text, bytes, target, message);
		free(text);
		return heap;
	}
	struct pfs_reader *reader = pfs_reader_open(target, message);
	if (reader != NULL)
		heap = pfs_heap_of_box_chosen(reader, choice, message);
	pfs_reader_close(reader);
	return heap;
}
