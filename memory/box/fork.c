/*
 * fork.c - the box of a forked child. At first its memory is a copy, at the same addresses, so that
 * no store of the child ever meets its parent's file; later it gets a file of its own.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "box.h"
#include "place.h"

/* Parts that have memory: (from, bytes), head and control first. */
struct parts {
	uint64_t from[PFS_BOX_REGIONS_MAX + 1], bytes[PFS_BOX_REGIONS_MAX + 1];
	uint32_t count;
};

static struct parts parts_of(const struct pfs_box *self)
{
	struct parts parts = { { 0 }, { 2 * PFS_BOX_PAGE }, 1 };
	for (uint32_t i = 0; i < self->head->region_count; i++) {
		struct pfs_box_region *region = &self->head->regions[i];
		/* relaxed: one thread */
		uint64_t bytes = (uint64_t)pfs_load_relaxed(&region->page_count) *
				 region->page_bytes;
		parts.from[parts.count] = region->offset;
		parts.bytes[parts.count++] = bytes;
	}
	return parts;
}

/* Copy what there is into a fresh mapping, and put that at the box's place. */
static bool move_to(struct pfs_box *self, char *fresh)
{
	struct parts parts = parts_of(self);
	for (uint32_t i = 0; i < parts.count; i++) {
		char *to = fresh + parts.from[i];
		if (parts.bytes[i] == 0)
			continue;
		if (madvise(to, parts.bytes[i], 23 /* MADV_POPULATE_WRITE */) != 0)
			return false;
		memcpy(to, self->base + parts.from[i], parts.bytes[i]);
	}
	return mremap(fresh, self->bytes, self->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		      self->base) == self->base;
}

bool pfs_box_detach(struct pfs_box *self)
{
	if (self->is_private)
		return true;
	char *fresh = mmap(NULL, self->bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh == MAP_FAILED)
		return false;
	if (!move_to(self, fresh)) {
		(void)munmap(fresh, self->bytes);
		return false;
	}
	self->is_private = true;
	return true;
}

bool pfs_box_refile(struct pfs_box *self)
{
	char folder[PFS_BOX_PATH_BYTES];
	(void)snprintf(folder, sizeof(folder), "%s", self->path);
	char *slash = strrchr(folder, '/');
	if (slash == NULL)
		return false;
	*slash = '\0';
	char path[PFS_BOX_PATH_BYTES + 64];
	uint32_t pid = (uint32_t)getpid();
	uint64_t start = pfs_box_start_ticks(pid);
	pfs_box_name(path, sizeof(path), folder, pid, start);
	if (strlen(path) >= sizeof(self->path))
		return false;
	struct pfs_box_head *head = self->head;
	(void)snprintf(self->path, sizeof(self->path), "%s", path);
	head->parent_pid = head->pid != pid ? head->pid : head->parent_pid;
	head->pid = pid;
	head->start_ticks = start;
	char *fresh = pfs_box_map_new(self);
	if (fresh == NULL)
		return false;
	if (!move_to(self, fresh)) {
		(void)munmap(fresh, self->bytes);
		(void)unlink(self->path);
		return false;
	}
	self->is_private = false;
	return true;
}
