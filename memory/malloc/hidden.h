/*
 * hidden.h - free memory that a forked child does not get, so that fork does not copy the page
 * tables of memory that nobody uses.
 *
 * Just before a fork, under the locks of all arenas, the long free extents that may have memory
 * become HIDDEN (MADV_WIPEONFORK). The parent shows them again before it releases the locks, and so
 * does the child. In the child they have no memory, so they are retained.
 *
 * Invariants
 * 	[HD1] an extent is hidden only while a thread that forks holds all arenas' locks.
 * So a child that runs no fork handlers (_Fork, the system call clone) has all of the memory. If
 * it was made while another thread was forking, the locks are held in it.
 *
 * Where the system refuses
 * 	to hide    the child gets a copy.
 * 	to show    the extent leaves the lists for good, HELD, and its memory is returned.
 *
 * Progress   wait-free: at most PFS_HIDDEN_MOST system calls in each of the three.
 * Source:    our own.
 */
#ifndef PFS_MALLOC_HIDDEN_H
#define PFS_MALLOC_HIDDEN_H

#include <stddef.h>

/* Two calls take 3 us; the page tables of so many bytes take the kernel 10 us or more. */
#define PFS_HIDDEN_LEAST_BYTES ((size_t)1 << 20)
/* Each may add two mappings to the 65530 that a process may have by default. */
#define PFS_HIDDEN_MOST 1024u

/* Under the locks of all arenas, in fork's prepare and parent handlers. */
void pfs_hidden_begin(void);
void pfs_hidden_end(void);

/* Under the same locks, in the child, but not under the metadata's lock: it frees descriptors. */
void pfs_hidden_child(void);

#endif
