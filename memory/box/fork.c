/*
 * fork.c - the box of a forked child, or a note that it has none. At first the child's box is a
 * private copy at the same addresses, so no store of the child reaches its parent's file. Later the
 * child gets a file of its own. The parent makes the copy before the fork. A copy made by the child
 * would contain the parent's stores after the fork, which do not match the child's own memory.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "box.h"
#include "containers/message.h"
#include "keep.h"
#include "place.h"

/* Parts of the box that have memory, as (from, bytes); head and control first. */
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
		/* They have no pages; zeroes would be limits of 0. */
		if (region->kind == PFS_BOX_LIMITS || region->kind == PFS_BOX_MAPPERS)
			bytes = region->bytes;
		parts.from[parts.count] = region->offset;
		parts.bytes[parts.count++] = bytes;
	}
	return parts;
}

/* ---- the copy: made before the fork, because the parent continues to write after it ---- */

bool pfs_box_copy(struct pfs_box *self)
{
	struct parts parts = parts_of(self);
	uint64_t at = 0;
	self->copy = NULL;
	self->copy_bytes = 0;
	if (self->is_private)
		return true;
	for (uint32_t i = 0; i < parts.count; i++)
		self->copy_bytes += parts.bytes[i];
	char *copy = mmap(NULL, self->copy_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (copy == MAP_FAILED)
		return false;
	if (madvise(copy, self->copy_bytes, 23 /* MADV_POPULATE_WRITE */) != 0) {
		(void)munmap(copy, self->copy_bytes);
		return false;
	}
	for (uint32_t i = 0; i < parts.count; i++) {
		/* Other threads count at the same time. */
		pfs_bytes_load(copy + at, self->base + parts.from[i], parts.bytes[i]);
		at += parts.bytes[i];
	}
	self->copy = copy;
	return true;
}

void pfs_box_drop_copy(struct pfs_box *self)
{
	if (self->copy != NULL)
		(void)munmap(self->copy, self->copy_bytes);
	self->copy = NULL;
}

/* The copy's own head says where its parts belong: the box's head may be newer. */
bool pfs_box_detach(struct pfs_box *self)
{
	if (self->is_private)
		return true;
	if (self->copy == NULL)
		return false;
	self->head = (void *)self->copy;
	struct parts parts = parts_of(self);
	self->head = (void *)self->base;
	if (mmap(self->base, self->bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		return false;
	char *from = self->copy;
	for (uint32_t i = 0; i < parts.count; from += parts.bytes[i++])
		if (parts.bytes[i] != 0 &&
		    mremap(from, parts.bytes[i], parts.bytes[i], MREMAP_MAYMOVE | MREMAP_FIXED,
			   self->base + parts.from[i]) == MAP_FAILED)
			return false;
	self->copy = NULL;
	self->is_private = true;
	/* relaxed, both: one thread. The child's history begins now, without ticks and moments. */
	pfs_store_relaxed(&self->head->ticks, 0);
	pfs_store_relaxed(&self->head->moments, 0); /* relaxed: as above */
	return true;
}

/* ---- a file of its own ---- */

/* Copy the box into a fresh mapping, and move that to the box's address. */
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
	return mremap(fresh, self->bytes, self->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, self->base) ==
	       self->base;
}

static bool folder_of(const char *path, char *folder, size_t folder_bytes)
{
	(void)snprintf(folder, folder_bytes, "%s", path);
	char *slash = strrchr(folder, '/');
	if (slash != NULL)
		*slash = '\0';
	return slash != NULL;
}

/* A path for this process in a folder; false: too long. */
static bool name_in(const char *folder, char *path, size_t path_bytes)
{
	char name[PFS_BOX_PATH_BYTES + 64];
	uint32_t pid = (uint32_t)getpid();
	pfs_box_name(name, sizeof(name), folder, pid, pfs_box_start_ticks(pid));
	(void)snprintf(path, path_bytes, "%s", name);
	return strlen(name) < path_bytes;
}

/* A program may make children that exec, and start no program that would remove their boxes. */
#define PRUNES_ONE_OF 16u

/* The file for a child's box: beside its parent's, or, if the process has changed its user since,
 * in that user's folder. */
static char *new_bytes(struct pfs_box *self, struct pfs_message *message)
{
	char folder[PFS_BOX_PATH_BYTES];
	if (!folder_of(self->path, folder, sizeof(folder)) ||
	    !name_in(folder, self->path, sizeof(self->path)))
		return NULL;
	if ((uint32_t)getpid() % PRUNES_ONE_OF == 0)
		pfs_box_prune(folder);
	char *fresh = pfs_box_map_new(self, message);
	if (fresh != NULL || geteuid() == self->head->uid)
		return fresh;
	pfs_box_folder_of(folder, sizeof(folder), (uint32_t)geteuid());
	if (!pfs_box_open_folder(folder, message) ||
	    !name_in(folder, self->path, sizeof(self->path)))
		return NULL;
	return pfs_box_map_new(self, message);
}

bool pfs_box_refile(struct pfs_box *self, struct pfs_message *message)
{
	struct pfs_box_head *head = self->head;
	uint32_t pid = (uint32_t)getpid();
	char *fresh = new_bytes(self, message);
	if (fresh == NULL)
		return false;
	head->parent_pid = head->pid != pid ? head->pid : head->parent_pid;
	head->pid = pid;
	head->start_ticks = pfs_box_start_ticks(pid);
	head->uid = (uint32_t)geteuid();
	head->is_on_disk = pfs_box_is_on_disk(self);
	if (!move_to(self, fresh)) {
		(void)munmap(fresh, self->bytes);
		(void)unlink(self->path);
		(void)pfs_box_is_full(self, message);
		return false;
	}
	self->is_private = false;
	return true;
}

/* ---- a child without accounts ---- */

bool pfs_box_note(const struct pfs_box *parents, const char *why, char *path, size_t path_bytes)
{
	char folder[PFS_BOX_PATH_BYTES];
	struct pfs_box_head head;
	pfs_bytes_load(&head, parents->head, sizeof(head));
	uint64_t bytes = 2 * PFS_BOX_PAGE;
	if (!folder_of(parents->path, folder, sizeof(folder)) || !name_in(folder, path, path_bytes))
		return false;
	head.parent_pid = head.pid;
	head.pid = (uint32_t)getpid();
	head.uid = (uint32_t)geteuid();
	head.start_ticks = pfs_box_start_ticks(head.pid);
	head.start_realtime_ns = pfs_box_now_ns();
	head.file_bytes = bytes;
	head.region_count = 0;
	pfs_store_relaxed(&head.ticks, 0);                 /* relaxed: not shared yet */
	pfs_store_relaxed(&head.moments, 0);               /* relaxed: not shared yet */
	pfs_store_relaxed(&head.state, PFS_BOX_UNCOUNTED); /* relaxed: not shared yet */
	(void)snprintf(head.why, sizeof(head.why), "%s", why);
	int file = pfs_box_new_file(path, bytes, NULL);
	if (file < 0)
		return false;
	bool is_written = pwrite(file, &head, sizeof(head), 0) == (ssize_t)sizeof(head);
	/* The mapping holds the lock after the descriptor is closed. Without one it stays open. */
	if (mmap(NULL, bytes, PROT_READ, MAP_SHARED, file, 0) != MAP_FAILED || !is_written)
		(void)close(file);
	if (!is_written)
		(void)unlink(path);
	return is_written;
}
