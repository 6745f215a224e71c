/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config.h - the configuration of a container: sizes, layout, memory and reclaim.
 *
 * Fill a struct pfs_config with pfs_config_init(), change the fields that differ, and create the
 * container. It copies the configuration; no field can be changed afterwards.
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

/* Where the pfs_lock word of a record is. The layout affects which policy is fastest. */
enum pfs_layout {
	PFS_LAYOUT_IN_RECORD,    /* before the record's bytes, as in the Performance Schema */
	PFS_LAYOUT_SIDE_BY_SIDE, /* all words of a page in one array: 16 to a cache line */
	PFS_LAYOUT_BARE,         /* no headers: see bare_words. Needs PFS_TRAIT_BARE */
	PFS_LAYOUT_OWN_WORD      /* no headers: the user's bytes contain the word, at word_offset.
				  * Needs PFS_TRAIT_OWN_WORD */
};

/* What is given back of a page. All but the first need a layout without headers. */
enum pfs_give_back {
	PFS_GIVE_BACK_ADDRESSES, /* everything: the page is unmapped */
	PFS_GIVE_BACK_MEMORY,    /* its memory; its addresses stay mapped and read as zeros. So a
				  * reader outside a section finds FREE records, not a fault. The
				  * next page uses the addresses again, with versions above all
				  * that its words ever had, and on the node that they are bound
				  * to. Memory that the program locked is cleared, not given back */
	PFS_GIVE_BACK_ARRAYS     /* only what the page's hooks give back. The records stay as their
				  * last owners left them, FREE: for records that point into arrays
				  * of their page */
};

/* Transparent huge pages for container pages of at least 2 MiB, where the system has them. Only
 * with the default memory source. */
enum pfs_huge_pages {
	PFS_HUGE_NEVER,
	PFS_HUGE_ADVISE /* the page begins at a multiple of 2 MiB; madvise(MADV_HUGEPAGE) */
};

/* The NUMA node of a page's memory. */
enum pfs_memory {
	PFS_MEMORY_FIRST_TOUCH, /* the kernel's default: the node of the first write. The thread
				 * that adds the page writes the page's own data, the owner of a
				 * record the record's bytes */
	PFS_MEMORY_LOCAL,       /* bound to the node of the thread that adds the page */
	PFS_MEMORY_INTERLEAVE,  /* OS pages spread over all nodes */
	PFS_MEMORY_NODE         /* bound to memory_node */
};

#define PFS_NODE_MIXED UINT32_MAX /* memory of more than one node, or of an unknown one */

/*
 * Where pages get their memory. The default uses mmap, and binds through hwloc; tests and the
 * simulator supply their own.
 *
 * map returns zero-filled memory, aligned to at least 64 bytes and below address 2^48, or NULL. The
 * growth lock may be held, so map must not call into the container. node_wanted is a logical node
 * index or PFS_NODE_MIXED; *node_got is the node of the memory (with first touch: the node on which
 * the caller runs). unmap must not fail: if the system refuses to unmap, the source must at least
 * release the memory. resident returns the resident bytes of the range. discard releases the memory
 * of a range that stays mapped, begins at a multiple of 4096, and then reads as zeros. Only
 * PFS_GIVE_BACK_MEMORY calls it. A thread that reads such a zero must see all that the caller
 * stored before: madvise does that, a memset does not.
 */
struct pfs_memory_source {
	void *(*map)(void *context, size_t size_bytes, enum pfs_memory memory, uint32_t node_wanted,
		     uint32_t *node_got);
	void (*unmap)(void *context, void *memory, size_t size_bytes);
	uint64_t (*resident)(void *context, void *memory, size_t size_bytes);
	void *context;
	size_t align_bytes; /* alignment that map guarantees, a power of two; 0: 64. Below 4096 each
			     * page costs up to 4032 bytes that are mapped and not used */
	void (*discard)(void *context, void *memory, size_t size_bytes); /* may be NULL */
};

/* A page, as its hooks see it. */
struct pfs_page_view {
	char *records;       /* the first record */
	size_t stride_bytes; /* from a record to the next */
	uint32_t page;       /* its number: the index of its first record is page * page_records */
	uint32_t record_count; /* records of this page */
	void *arrays;          /* the hooks' own: NULL at first, then kept as long as the addresses
				* of the records are */
};

/*
 * Calls about each page, for arrays that belong to it. Calls about different pages may run at the
 * same time. Each may be NULL.
 *
 * A lock is held meanwhile: by come that of adding pages, by go and end that of reclaim passes, or
 * that of adding pages if the page was never used. Threads that need a page, and calls of
 * pfs_reclaim_now, pfs_container_counts and fork, wait for a hook. So a hook must not call into the
 * container, fork, or wait for a thread that does.
 *
 * come: the page was mapped, and no look-up finds it yet. Its words are set; the other bytes of the
 * records are zero, or with PFS_GIVE_BACK_ARRAYS and addresses that were kept as they were left.
 * come may write all bytes but the words; bytes that readers outside sections copy, with
 * pfs_bytes_store. If it returns false the page does not come, and the allocation that needs it is
 * refused (PFS_NO_MEMORY). view->arrays of kept addresses were made for as many records.
 * go: no record of the page is in use, and no read section can see it.
 * end: its addresses are given up, after go or after a come that returned false; for kept addresses
 * when the container is destroyed.
 */
struct pfs_page_hooks {
	bool (*come)(void *context, struct pfs_page_view *view);
	void (*go)(void *context, struct pfs_page_view *view);
	void (*end)(void *context, struct pfs_page_view *view);
	void *context;
};

/*
 * When pages return to the operating system. For policies with PFS_TRAIT_RECLAIM; for others
 * period_ms must be 0.
 *
 * A page becomes surplus after idle_passes passes in which it was empty. The number of surplus
 * pages that may stay then falls along a smooth curve: half of them after decay_passes / 2 more
 * passes, none after decay_passes. The decay time is decay_passes * period_ms; with period_ms 0
 * each pfs_reclaim_pass is one step. pfs_reclaim_now ignores idle_passes and decay_passes.
 */
struct pfs_reclaim_config {
	uint32_t period_ms;        /* period of the background pass; 0: passes on demand only */
	uint32_t headroom_percent; /* keep room for the live records plus this share, 0..1000 */
	uint32_t spare_pages;      /* and this many pages more */
	uint32_t idle_passes;      /* empty passes until a page is surplus; 1..1000 */
	uint32_t decay_passes;     /* passes until all surplus pages are gone, 0..1000; 0: at
				    * once */
};

#define PFS_PAGE_MAX 1048576u /* largest page_max */

struct pfs_config {
	uint32_t record_size_bytes;  /* the user's bytes, 8 .. 1 MiB */
	uint32_t record_align_bytes; /* alignment of these bytes: power of two, 8 .. 4096 */
	uint32_t page_records;       /* records in a page, 1 .. 65536 */
	uint32_t page_max;           /* pages, 0 .. PFS_PAGE_MAX; 0 refuses every allocation */
	uint32_t page_prealloc;      /* pages that create adds, 0 .. page_max */
	uint64_t record_max;         /* most records, 0: page_max * page_records; the last page may
				      * be smaller */
	enum pfs_layout layout;
	bool bare_words;      /* bare: with a pfs_lock word for each record, in an array */
	uint32_t tag_bytes;   /* bare: with a tag for each record, in an array: 0, 4 or 8 */
	uint32_t word_offset; /* own word: its offset in the user's bytes, a multiple of 4 */
	enum pfs_give_back give_back;       /* for policies with PFS_TRAIT_RECLAIM */
	const struct pfs_page_hooks *hooks; /* NULL: none; must outlive the container */
	enum pfs_huge_pages huge_pages;
	enum pfs_memory memory;
	uint32_t memory_node;    /* logical node, for PFS_MEMORY_NODE */
	bool full_flags;         /* policy original: with the Performance Schema's full flags */
	bool lasting_references; /* weak references survive pfs_reopen; 8 bytes a record */
	bool owner_fences;       /* policy magazine: do not use the kernel's membarrier */
	bool late_reuse;         /* policies exact and magazine: the free records of a page are
				  * allocated in turn, so a freed one comes last; magazine then has
				  * no rings. For readers that show the last life of a record */
	struct pfs_reclaim_config reclaim;
	const struct pfs_memory_source *source; /* NULL: the default; must outlive the container */
	uint64_t seed;                          /* of the policies' random numbers */
};

/*
 * pfs_config_init - set the defaults: records of 48 bytes (64 with their header: one cache line),
 * 256 records in a page, at most 256 pages, none preallocated, words in the records, first touch,
 * full flags on, background reclaim off.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  wait-free.
 * Order     none.
 */
void pfs_config_init(struct pfs_config *config);

/*
 * pfs_config_check - check that each value is in its range and that the values fit together.
 *
 * Returns   PFS_OK, or PFS_BAD_CONFIG with one line in *message (which may be NULL).
 * Errors    as returned; nothing is changed.
 * Progress  wait-free.
 * Order     none.
 */
enum pfs_status pfs_config_check(const struct pfs_config *config, struct pfs_message *message);

#ifdef __cplusplus
}
#endif
#endif
