/*
 * pages.h - memory of the host that is set back before each execution, page by page: only pages
 * that some execution has written.
 *
 * A page is read-only until its first write, which faults (pfs_pages_fault). From then on it is
 * restored before each execution, and belongs to snapshots. So a large area costs nothing until
 * it is written.
 */
#ifndef PFS_CHECK_PAGES_H
#define PFS_CHECK_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pages of these bytes are to be restored to what they are now. */
void pfs_pages_add(void *first, size_t bytes);

/* Was this the first write to a page of these areas? Then the access can be repeated. */
bool pfs_pages_fault(const void *address);

void pfs_pages_restore(void);
struct pfs_machine_snapshot;
void pfs_pages_put(struct pfs_machine_snapshot *snapshot);

/* The parts that were written so far, from 0; false: there are no more. */
bool pfs_pages_written(uint32_t at, const void **first, size_t *bytes);

#endif
