/*
 * relied.h - what loops.h relies on: that no other thread looks at what a thread writes.
 *
 * An iteration whose writes only its own thread can see, and which it undoes, has no effect. Whether
 * another thread looks is known only when all executions are. So it is assumed that none does, in
 * any execution, once the thread itself has used the place. Each assumption is an entry here, which
 * all processes of a search share, and each access is compared with them. A new assumption, or one
 * that turns out wrong, ends the search, which starts again with it; a wrong one is not made again.
 * An execution in which another thread has looked is, up to that access, also one of the search
 * that assumed the opposite: so none is missed.
 */
#ifndef PFS_CHECK_RELIED_H
#define PFS_CHECK_RELIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Before processes are forked. false: no memory. */
bool pfs_relied_begin(void);

/* A scenario's search begins: forget all entries, but those that were read. */
void pfs_relied_reset(void);

/* May this thread rely on that? The first time, the execution ends here. */
bool pfs_relied_on(uint32_t thread, const void *address, uint32_t size_bytes);

/* Before an execution; all that one changes here. */
struct pfs_machine_snapshot;
void pfs_relied_execution(void);
void pfs_relied_put(struct pfs_machine_snapshot *snapshot);

/* Must the search start again? Asked once. */
bool pfs_relied_changed(void);

/* From now on there are no new entries, and none turns out wrong: a failure is shown. */
void pfs_relied_freeze(void);

/* As words of a saved schedule. */
void pfs_relied_write(FILE *file);
bool pfs_relied_read(const char *text);

/* The thread accesses a place: the execution ends here if others relied on that it does not. */
extern const uint32_t *pfs_relied_count;
void pfs_relied_compare(uint32_t thread, const void *address, size_t size_bytes);
static inline void pfs_relied_look(uint32_t thread, const void *address, size_t size_bytes)
{
	if (__builtin_expect(*pfs_relied_count != 0, 0))
		pfs_relied_compare(thread, address, size_bytes);
}

#endif
