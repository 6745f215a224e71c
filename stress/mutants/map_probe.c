/*
 * map_probe.c - parts of the page map come while another thread asks for
 * addresses there; meant for ThreadSanitizer.
 *
 * usage: map_probe
 * Exit 0: fine. 1: a check failed. 66: a data race (halt_on_error).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "page_map.h"

#define LEAVES 64u
#define LEAF_BYTES ((uintptr_t)1 << (PFS_LEAF_BITS + PFS_GRANULE_BITS))

/* Leaves that are there. It carries nothing: what a leaf holds the map must
 * carry. */
static atomic_uint made;

static _Noreturn void fail(const char *what)
{
	(void)fprintf(stderr, "map_probe: %s\n", what);
	exit(1);
}

static void *ask(void *opaque)
{
	(void)opaque;
	for (uint32_t n = 1; n <= LEAVES; n++) {
		uintptr_t address = n * LEAF_BYTES;
		while (atomic_load_explicit(&made, memory_order_relaxed) < n)
			continue;
		if (pfs_page_map_find((void *)address) != NULL)
			fail("a page where none is");
		/* No atomic, like the zeroes of a leaf: a thread that finds the leaf sees them. */
		if (pfs_page_map_leaf_of(address)->number != n)
			fail("a part of the map that is not made yet");
	}
	return NULL;
}

/* In parts of the addresses in which this program has nothing. */
int main(void)
{
	pthread_t other;
	if (pthread_create(&other, NULL, ask, NULL) != 0)
		fail("no thread");
	for (uint32_t n = 1; n <= LEAVES; n++) {
		if (!pfs_page_map_reserve((void *)(n * LEAF_BYTES), PFS_GRANULE_BYTES))
			fail("no memory");
		atomic_store_explicit(&made, n, memory_order_relaxed);
	}
	(void)pthread_join(other, NULL);
	pfs_page_map_forget();
	(void)printf("fine\n");
	return 0;
}
