/*
 * parts.h - everything that a program's memory consists of, as one list and as the table
 * memory_parts: what is counted by instrument, what is mapped without malloc, and what else was
 * resident at the last tick.
 */
#ifndef PFS_MEM_PARTS_H
#define PFS_MEM_PARTS_H

#include "memory/box/reader.h"

struct pfs_part {
	const char *kind; /* heap, mapped, allocator, stacks, files, shared, counting, unknown */
	const char *name;
	int64_t bytes;
	int64_t high_bytes, count, allocs; /* of heap; mapped has ranges in count */
	bool is_high_exact;                /* else an upper bound */
	bool is_estimate;                  /* mapped since the last measurement, at least in part */
};

struct pfs_parts {
	struct pfs_part *parts; /* the largest first */
	uint32_t count;
	int64_t heap_bytes;  /* of all that is counted */
	int64_t known_bytes; /* of all parts but unknown */
	int64_t resident;    /* now, or of a dead program at its last tick; 0: not known */
	bool has_estimate;
};

/* pfs_parts_take - of a snapshot with rows, which must outlive the list. False: no memory. */
bool pfs_parts_take(struct pfs_parts *self, const struct pfs_snapshot *snapshot);
void pfs_parts_drop(struct pfs_parts *self);

/* The resident bytes of a living program, from the system; 0: not known. */
uint64_t pfs_resident_now(const struct pfs_box_info *info);

#endif
