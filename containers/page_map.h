/*
 * page_map.h - from any address to the page that contains it: one map for the process.
 *
 * Two levels by address bits: a root, and leaves. A leaf is mapped when the first page comes to its
 * part of the address space, and holds memory only where pages are or were (an entry of 8 bytes for
 * 4 KiB of page; the system allocates a leaf by OS pages). A granule belongs to one page at most: a
 * block begins and ends at a granule (page.c).
 *
 * Invariant: an entry is NULL or an owner that pfs_page_map_set wrote for the block that is mapped
 * there. It is written before any record of the page is handed out, and is NULL again before the
 * block goes back to its source. An owner is the place of a container's directory that has the page
 * [I1]; any thread may compare it, but only a thread that knows that the container is its own may
 * follow it.
 *
 * No locks: a leaf is put into the root by CAS, and only the block's holder writes its entries. So
 * fork needs no handling, and the child's copy is correct.
 *
 * Ordering:  [A1] root: CAS, acq_rel     <->  [A2] root: load, acquire
 *            carries: the leaf's zeroes
 *            Entries need no order of their own. A thread that looks up a record in use got the
 *            record from its owner, whose page was published after the entry was written: by [C2]
 *            and by what carries the record's bytes. So it sees that entry, or a later one, which
 *            says that the page is gone. The directory, which is read through the entry, has its
 *            own order [C1].
 * Source:    radix maps of addresses as in tcmalloc's pagemap.h; the code is our own.
 */
#ifndef PFS_PAGE_MAP_H
#define PFS_PAGE_MAP_H

#include <stddef.h>

#include "atomic.h"
#include "compiler.h"

#define PFS_GRANULE_BITS 12u
#define PFS_GRANULE_BYTES ((size_t)1 << PFS_GRANULE_BITS)
#define PFS_ADDRESS_BITS 48u /* of user space, unless a mapping asks for a higher address */
#define PFS_LEAF_BITS 18u
#define PFS_ROOT_BITS (PFS_ADDRESS_BITS - PFS_LEAF_BITS - PFS_GRANULE_BITS)

struct pfs_page_map_leaf {
	_Atomic(void *) owners[(size_t)1 << PFS_LEAF_BITS];
	struct pfs_page_map_leaf *older; /* reserve only, as number */
	uint32_t number;                 /* in the root */
};

extern _Atomic(struct pfs_page_map_leaf *) pfs_page_map_root[(size_t)1 << PFS_ROOT_BITS];

/*
 * pfs_page_map_reserve - make room for the entries of a block, which begins at a granule.
 *
 * Returns   false: no memory, or an address beyond the map.
 * Errors    as returned; what was reserved stays, and is used again.
 * Progress  lock-free, apart from the system call.
 * Order     release [A1].
 */
bool pfs_page_map_reserve(const void *block, size_t size_bytes);

/* Assign the block's granules to an owner; NULL: to none. After reserve, by the block's holder. */
void pfs_page_map_set(const void *block, size_t size_bytes, void *owner);

/*
 * Not 0 after a container of the layout bare was created. Until then, calls with a record and no
 * handle use the record's header. Not a step of the simulated machine: see pfs_page_map_leaf_of.
 */
extern _Atomic(uint32_t) pfs_page_map_bare;

/* Free the leaves: the library is being unloaded, and there is no container. */
void pfs_page_map_forget(void);

/*
 * Leaves are made once and stay. So the root is no shared word on the simulated machine: a leaf
 * would appear only in the first execution of a search.
 */
#ifdef PFS_SIM
#define pfs_page_map_begin() pfs_sim_quiet()
#define pfs_page_map_end() pfs_sim_loud()
#else
#define pfs_page_map_begin() ((void)0)
#define pfs_page_map_end() ((void)0)
#endif

static inline struct pfs_page_map_leaf *pfs_page_map_leaf_of(uintptr_t address)
{
	_Atomic(struct pfs_page_map_leaf *) *root =
		&pfs_page_map_root[address >> (PFS_LEAF_BITS + PFS_GRANULE_BITS)];
	pfs_page_map_begin();
	struct pfs_page_map_leaf *leaf = pfs_load_acquire(root); /* [A2] acquire, pairs with [A1] */
	pfs_page_map_end();
	return leaf;
}

static inline bool pfs_page_map_has_bare(void)
{
	pfs_page_map_begin();
	/* relaxed: a thread that has a record of such a container came after its creation. */
	uint32_t bare = pfs_load_relaxed(&pfs_page_map_bare);
	pfs_page_map_end();
	return bare != 0;
}

static inline void pfs_page_map_allow_bare(void)
{
	pfs_page_map_begin();
	pfs_store_relaxed(&pfs_page_map_bare, 1); /* relaxed: see pfs_page_map_has_bare */
	pfs_page_map_end();
}

/* The owner at an address; NULL: no page is there. The pointer may have any value. Wait-free: two
 * loads. */
static inline void *pfs_page_map_find(const void *pointer)
{
	uintptr_t address = (uintptr_t)pointer;
	if (!pfs_likely(address >> PFS_ADDRESS_BITS == 0))
		return NULL;
	struct pfs_page_map_leaf *leaf = pfs_page_map_leaf_of(address);
	if (!pfs_likely(leaf != NULL))
		return NULL;
	size_t granule = (address >> PFS_GRANULE_BITS) & (((size_t)1 << PFS_LEAF_BITS) - 1);
	/* relaxed: the head of this file says why it is new enough. */
	return pfs_load_relaxed(&leaf->owners[granule]);
}

#endif
