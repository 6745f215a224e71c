#define _GNU_SOURCE
#include "page_map.h"

#include <sys/mman.h>

_Atomic(struct pfs_page_map_leaf *) pfs_page_map_root[(size_t)1 << PFS_ROOT_BITS];
_Atomic(uint32_t) pfs_page_map_bare;
static _Atomic(struct pfs_page_map_leaf *) newest; /* list of all leaves, by `older` */

#define LEAF_BYTES ((uintptr_t)1 << (PFS_LEAF_BITS + PFS_GRANULE_BITS)) /* of addresses */

static struct pfs_page_map_leaf *leaf_map(void)
{
	void *leaf = mmap(NULL, sizeof(struct pfs_page_map_leaf), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return leaf != MAP_FAILED ? leaf : NULL;
}

/* For pfs_page_map_forget, which runs alone. */
static void remember(struct pfs_page_map_leaf *leaf)
{
	struct pfs_page_map_leaf *seen = pfs_load_relaxed(&newest); /* relaxed: the CAS verifies */
	do {
		leaf->older = seen;
	} while (!pfs_cas_relaxed(&newest, &seen, leaf)); /* relaxed: its reader runs alone */
}

/* The leaf of an address, made if there is none; false: no memory. */
static bool reserve_leaf(uintptr_t address)
{
	struct pfs_page_map_leaf *none = NULL;
	if (pfs_page_map_leaf_of(address) != NULL)
		return true;
	struct pfs_page_map_leaf *leaf = leaf_map();
	if (leaf == NULL)
		return false;
	leaf->number = (uint32_t)(address / LEAF_BYTES);
	/* [A1] acq_rel, pairs with [A2]: without it another thread could find the leaf, and bytes
	 * other than zero in it. */
	if (pfs_cas_acq_rel(&pfs_page_map_root[leaf->number], &none, leaf))
		remember(leaf);
	else
		(void)munmap((void *)leaf, sizeof(*leaf));
	return true;
}

bool pfs_page_map_reserve(const void *block, size_t size_bytes)
{
	uintptr_t first = (uintptr_t)block;
	uintptr_t last = first + size_bytes - 1;
	bool done = last >> PFS_ADDRESS_BITS == 0;
	pfs_page_map_begin();
	for (uintptr_t at = first / LEAF_BYTES; done && at <= last / LEAF_BYTES; at++)
		done = reserve_leaf(at * LEAF_BYTES);
	pfs_page_map_end();
	return done;
}

void pfs_page_map_set(const void *block, size_t size_bytes, void *owner)
{
	uintptr_t first = (uintptr_t)block;
	for (uintptr_t at = first; at < first + size_bytes; at += PFS_GRANULE_BYTES) {
		struct pfs_page_map_leaf *leaf = pfs_page_map_leaf_of(at);
		/* relaxed: publishing the page carries it; see the head of page_map.h. */
		pfs_store_relaxed(&leaf->owners[at % LEAF_BYTES / PFS_GRANULE_BYTES], owner);
	}
}

void pfs_page_map_forget(void)
{
	struct pfs_page_map_leaf *leaf = pfs_load_relaxed(&newest); /* relaxed: runs alone */
	while (leaf != NULL) {
		struct pfs_page_map_leaf *older = leaf->older;
		/* relaxed: runs alone; later calls make new leaves. */
		pfs_store_relaxed(&pfs_page_map_root[leaf->number], NULL);
		(void)munmap((void *)leaf, sizeof(*leaf));
		leaf = older;
	}
	pfs_store_relaxed(&newest, NULL); /* relaxed: runs alone */
}
