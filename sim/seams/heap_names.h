/*
 * heap_names.h - included first by the containers' sources when they are compiled for the machine:
 * it replaces malloc by the machine's. See heap.h.
 */
#ifndef PFS_SIM_HEAP_NAMES_H
#define PFS_SIM_HEAP_NAMES_H

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
extern __typeof(malloc) malloc __asm__("pfs_machine_heap_malloc");
extern __typeof(calloc) calloc __asm__("pfs_heap_calloc");
extern __typeof(aligned_alloc) aligned_alloc __asm__("pfs_heap_aligned_alloc");
extern __typeof(free) free __asm__("pfs_machine_heap_free");
#ifdef __cplusplus
}
#endif

#endif
