/*
 * thread_local.h - thread-local variables of the checked program: each of its threads has a block
 * of its own, although all are one thread of the host.
 *
 * The program asks for the address of a variable: by a call of __tls_get_addr, or of a descriptor's
 * function. Both are replaced. Set-up, final check and constructors have the host thread's block.
 */
#ifndef PFS_CHECK_THREAD_LOCAL_H
#define PFS_CHECK_THREAD_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/front/user.h"

#define PFS_TLS_OUTSIDE PFS_USER_THREADS_MAX /* not in a thread */

/* An object with such variables: its number in the dynamic linker, and a new thread's bytes. NULL,
 * or why not. */
const char *pfs_tls_add(size_t number, const void *initial, size_t initial_bytes, size_t bytes,
			size_t align);

/* In place of __tls_get_addr. */
void *pfs_tls_address(const size_t *index);
/* A descriptor that the dynamic linker has filled in: from now on it finds the thread's own. */
void pfs_tls_describe(void **descriptor);

/* keep: remember the host thread's variables as constructors left them. restore: set them to that;
 * threads get new ones. */
void pfs_tls_keep(void);
void pfs_tls_restore(void);
struct pfs_machine_snapshot;
void pfs_tls_put(struct pfs_machine_snapshot *snapshot);

/* From now on the variables are those of this thread, and errno, too. */
extern uint32_t pfs_tls_current;
void pfs_tls_change(uint32_t thread);
static inline void pfs_tls_switch(uint32_t thread)
{
	if (thread != pfs_tls_current)
		pfs_tls_change(thread);
}

/* Whose is it, and where in the block of the first object? false: it is none. */
struct pfs_tls_place {
	uint32_t thread;
	bool is_first; /* object */
	size_t offset;
};
bool pfs_tls_find(const void *address, struct pfs_tls_place *place);

/* Is it of the thread that runs? */
bool pfs_tls_is_current(const void *address);

/* The host thread's block of an object, from 0; false: there are no more. */
bool pfs_tls_block(uint32_t at, const void **first, size_t *bytes);

#endif
