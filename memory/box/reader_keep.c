/*
 * reader_keep.c - for a list of boxes: what each dead program held, and why its box is still there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/box/keep.h"
#include "reader_inside.h"

/* The decisions on one folder. */
struct pfs_keepings {
	char folder[PFS_READER_PATH_BYTES];
	struct pfs_kept *all;
	size_t count;
};

struct pfs_keepings *pfs_keepings_begin(void)
{
	return calloc(1, sizeof(struct pfs_keepings));
}

void pfs_keepings_end(struct pfs_keepings *self)
{
	if (self != NULL)
		free(self->all);
	free(self);
}

static void weigh(struct pfs_keepings *self, const char *path, size_t length)
{
	free(self->all);
	(void)snprintf(self->folder, sizeof(self->folder), "%.*s", (int)length, path);
	int folder = open(self->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	self->count = 0;
	self->all = folder >= 0 ? pfs_box_keep(folder, true, &self->count) : NULL;
	if (folder >= 0)
		(void)close(folder);
}

static const char *text_of(enum pfs_keep keep)
{
	static const char *const texts[] = {
		[PFS_KEEP_NOT] = "goes next",
		[PFS_KEEP_LIVING] = "living",
		[PFS_KEEP_YOUNG] = "began 10 seconds ago or less",
		[PFS_KEEP_NEWEST] = "among the last that were killed with 4 MiB or more",
		[PFS_KEEP_WEIGHT] = "by its cause of death, then its bytes",
		[PFS_KEEP_TRIVIAL] = "there is room; held less than 4 MiB",
	};
	return texts[keep];
}

struct pfs_keeping pfs_keepings_of(struct pfs_keepings *self, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash != NULL ? (size_t)(slash - path) : 0;
	if (self == NULL || slash == NULL)
		return (struct pfs_keeping){ false, 0, "" };
	if (strncmp(self->folder, path, length) != 0 || self->folder[length] != '\0')
		weigh(self, path, length);
	for (size_t i = 0; i < self->count; i++) {
		const struct pfs_kept *kept = &self->all[i];
		if (strcmp(kept->name, slash + 1) == 0)
			return (struct pfs_keeping){ kept->keep != PFS_KEEP_LIVING,
						     kept->held_bytes, text_of(kept->keep) };
	}
	return (struct pfs_keeping){ false, 0, "" };
}

struct pfs_removed pfs_boxes_removed(void)
{
	char folder[PFS_READER_PATH_BYTES];
	uint64_t dropped[3];
	pfs_reader_folder(folder, sizeof(folder));
	pfs_box_dropped(folder, dropped);
	return (struct pfs_removed){ dropped[0], dropped[1], dropped[2] };
}
