/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config.h - what a container is made of: sizes, layout, memory, reclaim.
 *
 * Fill a struct pfs_config with pfs_config_init(), change what differs, create. A container
 * copies it; nothing in it may be changed afterwards.
 */
#ifndef PFSLAB_CONFIG_H
#define PFSLAB_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfslab/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the pfs_lock word of a record stands. It changes which policy wins. */
enum pfs_layout {
	PFS_LAYOUT_IN_RECORD,    /* in front of the bytes, as the real system does */
	PFS_LAYOUT_SIDE_BY_SIDE, /* the words of a page in one array: 16 to a cache line */
	PFS_LAYOUT_BARE          /* no header: see bare_words. Policies with PFS_TRAIT_BARE */
};

/* Pages in memory of large OS pages, where the system has some and a page of the container has
 * at least one (2 MiB); of the default source. */
enum pfs_huge_pages {
	PFS_HUGE_NEVER,
	PFS_HUGE_ADVISE /* the page begins at a multiple of 2 MiB, and madvise asks for them */
};

/* Which NUMA node the memory of a page comes from. */
enum pfs_memory {
	PFS_MEMORY_FIRST_TOUCH, /* the kernel's default: where it is written first. The page's own
				 * bytes are written where it is added, a record's by its owner */
	PFS_MEMORY_LOCAL,       /* bound to the node of the thread that adds the page */
	PFS_MEMORY_INTERLEAVE,  /* OS pages spread over all nodes */
	PFS_MEMORY_NODE         /* bound to memory_node */
};

#define PFS_NODE_MIXED UINT32_MAX /* memory of no single node, or a node that is not known */

/*
 * Where pages get their bytes. The default binds through hwloc; tests and the simulator bring
 * their own. map returns zero-filled memory, at least 64-byte aligned and below address 2^48, or
 * NULL when it can't be had; it is called with the growth lock held, so it must not call into the
 * container. node_wanted is a logical node index or PFS_NODE_MIXED; *node_got is where the bytes
 * will lie, by first touch where the caller runs. unmap cannot fail: a source whose system refuses
 * to unmap gives at least the memory back. resident counts the bytes that the system really holds
 * for the range.
 */
struct pfs_memory_source {
	void *(*map)(void *context, size_t size_bytes, enum pfs_memory memory, uint32_t node_wanted,
		     uint32_t *node_got);
	void (*unmap)(void *context, void *memory, size_t size_bytes);
	uint64_t (*resident)(void *context, void *memory, size_t size_bytes);
	void *context;
	size_t align_bytes; /* what map promises, a power of two; 0: 64. Less than 4096 costs up
			     * to 4032 bytes a page, which are asked for and not used */
};

/*
 * When pages go back to the operating system; read by policies with PFS_TRAIT_RECLAIM, for
 * others period_ms must be 0. A page that stayed empty for idle_passes passes is surplus.
 * Surplus pages go along a smooth curve: all are there at first, half of them after
 * decay_passes / 2 more passes, none after decay_passes. The decay time is decay_passes *
 * period_ms; with period_ms 0 every pfs_reclaim_pass is one step of it. pfs_reclaim_now waits
 * for neither.
 */
struct pfs_reclaim_config {
	uint32_t period_ms;        /* background pass every so often; 0: only on demand */
	uint32_t headroom_percent; /* keep room for live records plus this share, 0..1000 */
	uint32_t spare_pages;      /* and this many pages more */
	uint32_t idle_passes;      /* a page is surplus after this many passes, empty; 1..1000 */
	uint32_t decay_passes;     /* then surplus pages go over this many more; 0: at once */
};

#define PFS_PAGE_MAX 1048576u /* the largest page_max */

struct pfs_config {
	uint32_t record_size_bytes;  /* the user's bytes, 8 .. 1 MiB */
	uint32_t record_align_bytes; /* of the user's bytes: power of two, 8 .. 4096 */
	uint32_t page_records;       /* records in a page, 1 .. 65536 */
	uint32_t page_max;           /* pages, 0 .. PFS_PAGE_MAX; 0 refuses every allocation */
	uint32_t page_prealloc;      /* pages made by create, 0 .. page_max */
	uint64_t record_max;         /* 0, or a bound on records: the last page may be smaller */
	enum pfs_layout layout;
	bool bare_words;    /* bare: with a pfs_lock word for each record, side by side */
	uint32_t tag_bytes; /* bare: a tag for each record, side by side: 0, 4 or 8 */
	enum pfs_huge_pages huge_pages;
	enum pfs_memory memory;
	uint32_t memory_node;    /* logical node, with PFS_MEMORY_NODE */
	bool full_flags;         /* policy original: with the real system's full flags */
	bool lasting_references; /* weak references outlive pfs_reopen; 8 bytes a record */
	bool owner_fences;       /* policy magazine: without the kernel's membarrier */
	struct pfs_reclaim_config reclaim;
	const struct pfs_memory_source *source; /* NULL: hwloc; must outlive the container */
	uint64_t seed;                          /* of the policies' random numbers */
};

/*
 * pfs_config_init - the defaults: records of 48 bytes (64 with their header: one cache line),
 * 256 a page, at most 256 pages, none made in advance, words in the records, first touch,
 * full flags on, background reclaim off.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  wait-free.
 * Order     none.
 */
void pfs_config_init(struct pfs_config *config);

/*
 * pfs_config_check - is every value in its range, and do they fit together?
 *
 * Returns   PFS_OK, or PFS_BAD_CONFIG with a line in *message (which may be NULL).
 * Errors    as returned; nothing is changed.
 * Progress  wait-free.
 * Order     none.
 */
enum pfs_status pfs_config_check(const struct pfs_config *config, struct pfs_message *message);

#ifdef __cplusplus
}
#endif
#endif
