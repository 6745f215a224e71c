/*
 * box.h - the program's side of the box: create the file, map it once, and allocate its memory page
 * by page. See layout.h.
 *
 * The kernel allocates each page before the first store to it. A full file system or a limit is
 * therefore an error return, and no store raises SIGBUS. The file stays locked (flock) while
 * the program has it mapped; the lock tells readers that the program is alive. If somebody
 * truncates the file, the program goes on uncounted (cut.h).
 */
#ifndef PFS_BOX_H
#define PFS_BOX_H

#include <pfslab/container.h>

#include "cut.h"
#include "layout.h"

#define PFS_BOX_PATH_BYTES 512u

struct pfs_box_source {
	struct pfs_box *box;
	struct pfs_box_region *region;
};

struct pfs_box {
	char *base;
	uint64_t bytes;
	struct pfs_box_head *head;       /* at base */
	struct pfs_box_control *control; /* the page after the head */
	bool is_private;                 /* no file */
	char *copy;                      /* for the child, during a fork; or NULL */
	uint64_t copy_bytes;
	bool keep;
	char path[PFS_BOX_PATH_BYTES]; /* empty: no file */
	struct pfs_box_source sources[PFS_BOX_REGIONS_MAX];
	struct pfs_cut cut;          /* of a box with a file */
	_Atomic(uint32_t) says_full; /* 1: in use, and it was not said yet that it cannot grow */
};

/* The specification of a region. */
struct pfs_box_want {
	enum pfs_box_kind kind;
	uint32_t record_bytes;
	uint32_t records;      /* at most */
	uint32_t page_records; /* 0: a plain array */
};

/*
 * pfs_box_make - create the file, its head and its empty regions.
 *
 * folder: NULL for the default one; is_private: private memory instead of a file.
 * Returns   PFS_OK; or PFS_BAD_CONFIG or PFS_NO_MEMORY with a message, and nothing is left.
 * Progress  blocking.
 */
enum pfs_status pfs_box_make(struct pfs_box *self, const char *folder, bool is_private,
			     const struct pfs_box_want *wants, uint32_t want_count,
			     struct pfs_message *message);

/* The message of a box without memory, and what to do about it. */
enum pfs_status pfs_box_is_full(const struct pfs_box *self, struct pfs_message *message);

/* Unmap the box. Remove its file, or keep it and mark it as ended. */
void pfs_box_end(struct pfs_box *self);

/* The same, but the box stays mapped. */
void pfs_box_leave(struct pfs_box *self);

/* When the box is ready: from now on, truncating its file does not end the program. */
void pfs_box_watch(struct pfs_box *self);

/* Was its file truncated? What is counted then is lost, and nothing is to be counted. */
static inline bool pfs_box_is_cut(struct pfs_box *self)
{
	return pfs_cut_is(&self->cut);
}

/* The process is about to become another program; or it failed to (will: false). */
void pfs_box_exec(struct pfs_box *self, bool will);

struct pfs_box_region *pfs_box_region_of(struct pfs_box *self, enum pfs_box_kind kind);

/* pfs_box_populate - allocate zero-filled memory for a part of the box; false: no memory. The first
 * time, a line on stderr says so. */
bool pfs_box_populate(struct pfs_box *self, uint64_t offset, uint64_t bytes);

/* The configuration of a container whose pages lie in a region. */
void pfs_box_configure(struct pfs_box *self, enum pfs_box_kind kind, struct pfs_config *config,
		       struct pfs_memory_source *source);

/* The address of a record in a region of records. */
static inline void *pfs_box_record(const struct pfs_box *self, const struct pfs_box_region *region,
				   uint32_t reference)
{
	uint64_t number = reference - 1;
	return self->base + region->offset + number / region->page_records * region->page_bytes +
	       number % region->page_records * region->record_bytes;
}

/* Nanoseconds since 1970. All times in a box are in this unit. */
uint64_t pfs_box_now_ns(void);

/* Resident bytes of the box. */
uint64_t pfs_box_resident(const struct pfs_box *self);

/* Does the file system count the file's resident pages as those of files? Else: of shared memory.
 */
uint32_t pfs_box_is_on_disk(const struct pfs_box *self);

/* Create, lock and map a new file at self->path, at any address; NULL: failed, see message. */
char *pfs_box_map_new(const struct pfs_box *self, struct pfs_message *message);

/* Parts of it: create a folder for boxes, or check the one there is; create and lock a file, which
 * replaces one left by an earlier image of this process (below 0: failed). */
bool pfs_box_open_folder(const char *folder, struct pfs_message *message);
int pfs_box_new_file(const char *path, uint64_t bytes, struct pfs_message *message);

/* Before a fork: copy the box for the child, whose detach takes the copy; false: failed. The parent
 * drops the copy after the fork. */
bool pfs_box_copy(struct pfs_box *self);
void pfs_box_drop_copy(struct pfs_box *self);

/* In a forked child, in this order: make the mapped box private to the child; later give it a file
 * of its own (false: failed, see message, and the child continues without a file). */
bool pfs_box_detach(struct pfs_box *self);
bool pfs_box_refile(struct pfs_box *self, struct pfs_message *message);

/*
 * pfs_box_note - in a forked child that does not count: create a file with a head alone, which says
 * why. Only reads the parent's box. Calls nothing but the system.
 *
 * Returns   true: path is the file. It stays mapped, and so locked, until the process ends.
 */
bool pfs_box_note(const struct pfs_box *parents, const char *why, char *path, size_t path_bytes);

#endif
