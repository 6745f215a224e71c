/*
 * futex.h - waiting by the system call that C and C++ libraries make std::atomic::wait of.
 *
 * As in the kernel, a word's waiters stand in a queue behind a lock, under which the word is
 * compared: who changes the word and then wakes cannot miss one. Who has waited longest is woken
 * first. A wait may end by itself (pfs_user_fails), as by its time; std::atomic's looks again in
 * any case, so that there it is not tried.
 */
#ifndef PFS_CHECK_FUTEX_H
#define PFS_CHECK_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_sim_place;
struct pfs_snapshot;

/* Before an execution; and all that it changes. */
void pfs_futex_begin(void);
void pfs_futex_put(struct pfs_snapshot *snapshot);

/* In the place of libc's, with the arguments of a futex. */
long pfs_futex_syscall(long number, uint32_t *word, long operation, long value, const void *limit,
		       void *other, long bits);

/* Is the code in libstdc++'s waiting for an atomic? */
bool pfs_futex_is_of_atomic(const void *code);

/*
 * libstdc++'s std::atomic::wait looks 16 times before it waits. Of those that find the same without
 * anything in between, only the first is a step: who finds something other at a later one could as
 * well have come later. *seen: what this one finds.
 */
bool pfs_futex_looks_again(const void *address, const struct pfs_sim_place *place, const void *code,
			   uint64_t *seen);

#endif
