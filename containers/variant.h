/*
 * variant.h - a policy as a container calls it: a table of functions.
 *
 * One indirect call for each operation. Inside a policy's own file no call is indirect;
 * scripts/checks/codegen.py reads the disassembly and fails the build if one is left.
 */
#ifndef PFS_VARIANT_H
#define PFS_VARIANT_H

#include <pfslab/container.h>
#include <pfslab/variant.h>

/*
 * PFS_POLICY - opens the definition of a policy's table, the last thing in its file:
 * PFS_POLICY(exact) = { .name = "exact", ... }. Code that wants a policy's operations inlined into
 * its own loops defines it otherwise and includes the policy's file, as bench/ does.
 */
#ifndef PFS_POLICY
#define PFS_POLICY(policy) const struct pfs_variant pfs_variant_##policy
#endif

/* How much a reclaim pass gives back. */
enum pfs_reclaim_kind {
	PFS_RECLAIM_PASS, /* along the curve of decay_passes */
	PFS_RECLAIM_NOW,  /* all surplus at once */
	PFS_RECLAIM_TRIM  /* every empty page, also spare and preallocated ones */
};

struct pfs_variant {
	const char *name;
	const char *summary; /* one line for --list-policies */
	uint32_t traits;

	/* Set-up; pfs_container_create and pfs_thread_attach call them. thread_start and
	 * thread_stop run one at a time, and must not wait for the growth lock: a page may be
	 * mapped under it, and every attach and detach would wait for that. */
	enum pfs_status (*start)(struct pfs_container *container);
	void (*stop)(struct pfs_container *container);
	enum pfs_status (*thread_start)(struct pfs_thread *thread);
	void (*thread_stop)(struct pfs_thread *thread);

	/* One operation a call. */
	struct pfs_claim (*allocate)(struct pfs_thread *thread);
	void (*publish)(struct pfs_thread *thread, struct pfs_claim claim);
	void (*abandon)(struct pfs_thread *thread, struct pfs_claim claim);
	void (*free)(struct pfs_thread *thread, void *record);

	/*
	 * Optional: several operations a call, as pfs_allocate_many and pfs_free_many define. NULL:
	 * one after the other.
	 */
	uint32_t (*allocate_many)(struct pfs_thread *thread, struct pfs_claim *claims,
				  uint32_t count);
	void (*free_many)(struct pfs_thread *thread, void *const *records, uint32_t count);

	/*
	 * Optional: names of shared variables of the policy, NULL after the last. The container and
	 * each page have each of them, in a line of its own, zero at first: at thread->policy for
	 * the container, at pfs_page_policy(page) for a page.
	 */
	const char *const *lines;

	/* Optional: add one page, needed or not, for page_prealloc. NULL: the container does. */
	enum pfs_status (*add_page)(struct pfs_thread *thread);

	/*
	 * Optional, called with the growth lock held when a page is added: is a record free
	 * according to the variant's own index? NULL: the records' words tell.
	 */
	int (*some_free)(struct pfs_container *container);

	/*
	 * Optional, called with the growth lock held by counting builds: the free records that the
	 * attached thread with the fewest of its own may not allocate, because they lie with
	 * others; at this moment, and at most so far. NULL: always none.
	 */
	void (*stranded)(struct pfs_container *container, uint64_t *now, uint64_t *peak);

	/*
	 * Optional, called with the growth lock held: bytes of the policy outside the pages that
	 * grow with pages or records, for the metric overhead_bytes. NULL: none.
	 */
	uint64_t (*index_bytes)(struct pfs_container *container);

	/* Optional, called without the growth lock: resident bytes of pages that were made and are
	 * not published. NULL: there are none. */
	uint64_t (*reserve_bytes)(struct pfs_container *container);

	/* Optional, required with PFS_TRAIT_BARE: the number of records of a published page that
	 * the policy's index does not show as free. Passes read this instead of each record's
	 * word. */
	uint32_t (*page_live)(struct pfs_container *container, uint32_t page);

	/*
	 * Optional, for walks: the first slot of a page, from slot on, whose record may be in use;
	 * UINT32_MAX if there is none. It may skip records that are free throughout, and must not
	 * skip records that are live throughout.
	 */
	uint32_t (*next_used)(struct pfs_container *container, uint32_t page, uint32_t slot);

	/* With PFS_TRAIT_BARE: may this record of a published page be in use? One look; the same
	 * answer as next_used from that slot. */
	bool (*is_used)(struct pfs_container *container, uint32_t page, uint32_t slot);

	/* Optional: give pages back; NULL without PFS_TRAIT_RECLAIM. */
	uint32_t (*reclaim)(struct pfs_thread *thread, enum pfs_reclaim_kind kind);
};

#endif
