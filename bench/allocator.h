/*
 * allocator.h - which malloc this process uses: policy malloc measures whatever is linked or
 * preloaded.
 */
#ifndef PFS_BENCH_ALLOCATOR_H
#define PFS_BENCH_ALLOCATOR_H

#include <stddef.h>

#include <pfslab/status.h>

/* The file that malloc and free come from, without its folder, and the version that it reports, if
 * it does. Empty if the linker does not know, or if the two differ. */
void pfs_allocator_describe(char *text, size_t size);

/*
 * PFS_OK if malloc and free come from lib<peer>.so or one of its versions. Otherwise PFS_BAD_CONFIG
 * with a line in *message: a preload that did not take effect must not count as the peer.
 */
enum pfs_status pfs_allocator_check(const char *peer, struct pfs_message *message);

#endif
