/*
 * futex.h - the futex system call, with which C and C++ libraries implement std::atomic::wait.
 *
 * As in the kernel, a word's waiters are in a queue with a lock, under which the word is compared:
 * a thread that changes the word and then wakes cannot miss a waiter. The longest waiting thread is
 * woken first. A wait may end spuriously (pfs_user_fails), or by its time limit. std::atomic's wait
 * checks again in any case, so that is not tried there.
 */
#ifndef PFS_CHECK_FUTEX_H
#define PFS_CHECK_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_sim_place;
struct pfs_machine_snapshot;

/* begin: before an execution. put: all that an execution changes. */
void pfs_futex_begin(void);
void pfs_futex_put(struct pfs_machine_snapshot *snapshot);

/* Replaces libc's syscall, with the arguments of a futex. */
long pfs_futex_syscall(long number, uint32_t *word, long operation, long value, const void *limit,
		       void *other, long bits);

/* Is the code part of libstdc++'s wait for an atomic? */
bool pfs_futex_is_of_atomic(const void *code);

/*
 * libstdc++'s std::atomic::wait reads 16 times before it waits. Of reads that find the same value
 * without anything in between, only the first is a step: a thread that finds another value at a
 * later read could equally have come later. *seen: what this one finds.
 */
bool pfs_futex_looks_again(const void *address, const struct pfs_sim_place *place, const void *code,
			   uint64_t *seen);

#endif
