#define _GNU_SOURCE
#include "areas.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "begin-end perms offset device inode   name" */
static bool read_area(char *line, struct pfs_area *area)
{
	char *at;
	area->begin = strtoull(line, &at, 16);
	if (*at != '-')
		return false;
	area->end = strtoull(at + 1, &at, 16);
	if (strlen(at) < 6)
		return false;
	area->has_access = at[1] == 'r' || at[2] == 'w' || at[3] == 'x';
	area->is_writable = at[2] == 'w';
	area->is_code = at[3] == 'x';
	area->is_shared = at[4] == 's';
	at += 6;
	for (int field = 0; field < 2; field++) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	area->is_file = strtoull(at, &at, 10) != 0;
	area->name = at + strspn(at, " ");
	return true;
}

static void read_line(char *line, void (*call)(const struct pfs_area *area, void *context),
		      void *context)
{
	struct pfs_area area;
	if (read_area(line, &area))
		call(&area, context);
}

/* The name in a line longer than the buffer is truncated. */
static bool read_all(int file, char *text, size_t text_bytes,
		     void (*call)(const struct pfs_area *area, void *context), void *context)
{
	size_t have = 0;
	bool is_cut = false;
	for (;;) {
		ssize_t got = read(file, text + have, text_bytes - 1 - have);
		if (got <= 0)
			return got == 0;
		have += (size_t)got;
		char *at = text, *end;
		while ((end = memchr(at, '\n', have - (size_t)(at - text))) != NULL) {
			*end = '\0';
			if (!is_cut)
				read_line(at, call, context);
			is_cut = false;
			at = end + 1;
		}
		have -= (size_t)(at - text);
		memmove(text, at, have);
		if (have == text_bytes - 1) {
			text[have] = '\0';
			if (!is_cut)
				read_line(text, call, context);
			have = 0;
			is_cut = true;
		}
	}
}

bool pfs_areas_read(char *text, size_t text_bytes,
		    void (*call)(const struct pfs_area *area, void *context), void *context)
{
	int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	bool is_whole = read_all(file, text, text_bytes, call, context);
	(void)close(file);
	return is_whole;
}
