/*
 * box.h - the program's side of the box: the file is made, mapped once, and given memory page by
 * page. See layout.h.
 *
 * No memory for a page of it (a full file system, a limit) is found out before the first store, by
 * the kernel's own answer, so no store ever ends in SIGBUS. The file is locked (flock) as long as
 * the program has it mapped: that is how others know that it lives.
 */
#ifndef PFS_BOX_H
#define PFS_BOX_H

#include <pfslab/container.h>

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
	struct pfs_box_control *control; /* behind it */
	bool is_private;                 /* no file */
	char *copy;                      /* for a child, while the process forks; or NULL */
	uint64_t copy_bytes;
	bool keep;
	char path[PFS_BOX_PATH_BYTES]; /* empty: no file */
	struct pfs_box_source sources[PFS_BOX_REGIONS_MAX];
};

/* What a region is made for. */
struct pfs_box_want {
	enum pfs_box_kind kind;
	uint32_t record_bytes;
	uint32_t records;      /* at most */
	uint32_t page_records; /* 0: a plain array */
};

/*
 * pfs_box_make - the file, its head and its regions, nothing in them.
 *
 * folder: NULL for the usual one; is_private: memory of the process alone.
 * Returns   PFS_OK; or PFS_BAD_CONFIG, PFS_NO_MEMORY with a line, and nothing is left.
 * Progress  blocking.
 */
enum pfs_status pfs_box_make(struct pfs_box *self, const char *folder, bool is_private,
			     const struct pfs_box_want *wants, uint32_t want_count,
			     struct pfs_message *message);

/* The end: unmapped, and the file removed, or kept and marked as ended. */
void pfs_box_end(struct pfs_box *self);

/* The same without unmapping it. */
void pfs_box_leave(struct pfs_box *self);

struct pfs_box_region *pfs_box_region_of(struct pfs_box *self, enum pfs_box_kind kind);

/* pfs_box_populate - memory for a part of the box, zero-filled; false: there is none. */
bool pfs_box_populate(struct pfs_box *self, uint64_t offset, uint64_t bytes);

/* A container's configuration whose pages are a region's. */
void pfs_box_configure(struct pfs_box *self, enum pfs_box_kind kind, struct pfs_config *config,
		       struct pfs_memory_source *source);

/* Nanoseconds since 1970, as all times in a box. */
uint64_t pfs_box_now_ns(void);

/* Bytes that the box has from the system. */
uint64_t pfs_box_resident(const struct pfs_box *self);

/* A new file at self->path, locked, mapped somewhere; NULL: it cannot be. */
char *pfs_box_map_new(const struct pfs_box *self);

/* Ahead of a fork: a copy for the child, which its detach takes; false: none. And in the parent. */
bool pfs_box_copy(struct pfs_box *self);
void pfs_box_drop_copy(struct pfs_box *self);

/* In a forked child, in this order: what is mapped becomes the child's alone; and, when it has
 * time, gets a file of its own (false: it has none, and goes on without). */
bool pfs_box_detach(struct pfs_box *self);
bool pfs_box_refile(struct pfs_box *self);

#endif
