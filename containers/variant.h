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
 * PFS_POLICY(exact) = { .name = "exact", ... }. Who wants a policy's operations inlined into
 * loops of its own defines it otherwise and includes the policy's file, as bench/ does.
 */
#ifndef PFS_POLICY
#define PFS_POLICY(policy) const struct pfs_variant pfs_variant_##policy
#endif

/* How much a reclaim pass gives back. */
enum pfs_reclaim_kind {
	PFS_RECLAIM_PASS, /* along the curve of decay_passes */
	PFS_RECLAIM_NOW,  /* all surplus at once */
	PFS_RECLAIM_TRIM  /* every empty page, spare and preallocated ones too */
};

struct pfs_variant {
	const char *name;
	const char *summary; /* one line for --list-policies */
	uint32_t traits;

	/* Set-up; pfs_container_create and pfs_thread_attach call them. thread_start and
	 * thread_stop run one at a time, and must not wait for the growth lock: a page may be
	 * mapped under it, and whoever attaches or detaches would wait for that. */
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
	 * Optional: several operations a call, as pfs_allocate_many and pfs_free_many say. NULL:
	 * one after the other.
	 */
	uint32_t (*allocate_many)(struct pfs_thread *thread, struct pfs_claim *claims,
				  uint32_t count);
	void (*free_many)(struct pfs_thread *thread, void *const *records, uint32_t count);

	/*
	 * Optional: shared variables of the policy's own, the same for the container and for
	 * each page, each in a line of its own, zero at first: their names, NULL behind the last.
	 * thread->policy are the container's, pfs_page_policy(page) a page's.
	 */
	const char *const *lines;

	/* Optional: add one page, needed or not, for page_prealloc. NULL: the container does. */
	enum pfs_status (*add_page)(struct pfs_thread *thread);

	/*
	 * Optional, asked with the growth lock held when a page is added: is a record free by
	 * the variant's own index? NULL: the records' words tell.
	 */
	int (*some_free)(struct pfs_container *container);

	/*
	 * Optional, asked with the growth lock held by counting builds: how many free records
	 * may the attached thread with the fewest of its own not allocate, because they lie
	 * with others; now, and at most so far. NULL: none, ever.
	 */
	void (*stranded)(struct pfs_container *container, uint64_t *now, uint64_t *peak);

	/*
	 * Optional, asked with the growth lock held: bytes that the policy keeps beside the pages
	 * and that go with pages or records, for the metric overhead_bytes. NULL: none.
	 */
	uint64_t (*index_bytes)(struct pfs_container *container);

	/* Optional, asked without the growth lock: resident bytes of pages that were made and are
	 * not published. NULL: there are none. */
	uint64_t (*reserve_bytes)(struct pfs_container *container);

	/* Optional, and needed with PFS_TRAIT_BARE: how many records of a published page the
	 * policy's index does not show free. Passes read this, and not each record's word. */
	uint32_t (*page_live)(struct pfs_container *container, uint32_t page);

	/*
	 * Optional, for walks: the first slot at or after one, of a page, whose record may be
	 * in use; UINT32_MAX if there is none. What is free all the while may be skipped, what
	 * is live all the while must not be.
	 */
	uint32_t (*next_used)(struct pfs_container *container, uint32_t page, uint32_t slot);

	/* With PFS_TRAIT_BARE: may this record of a published page be in use? One look; the same
	 * answer as next_used from that slot. */
	bool (*is_used)(struct pfs_container *container, uint32_t page, uint32_t slot);

	/* Optional: give pages back; NULL where PFS_TRAIT_RECLAIM is missing. */
	uint32_t (*reclaim)(struct pfs_thread *thread, enum pfs_reclaim_kind kind);
};

#endif
