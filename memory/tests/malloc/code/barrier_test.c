/*
 * barrier_test.c - the process's first barrier takes milliseconds: the ticking thread asks for it
 * while it holds no lock that fork takes.
 */
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pfslab/malloc.h>

#include "containers/atomic.h"
#include "memory/malloc/cache.h"
#include "memory/malloc/rings.h"

#define TRIES 10000u
#define BUSY 200u

static _Atomic(uint32_t) registered, locked; /* by the ticking thread; main reads them */

long __real_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

/* Arguments that the caller does not have are not read by the kernel either. */
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_membarrier && a == MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) {
		/* Other threads may hold it for a moment, this one would for all the tries. */
		uint32_t tries = 0;
		while (tries <= 100 && pthread_mutex_trylock(&pfs_registry.lock.native) != 0)
			tries += usleep(1000) == 0;
		if (tries > 100)
			pfs_store_release(&locked, 1);
		else
			(void)pthread_mutex_unlock(&pfs_registry.lock.native);
		pfs_store_release(&registered, 1);
	}
	return __real_syscall(number, a, b, c, d, e, f);
}

/* The ticking thread starts, and then finds rings that are idle. */
static void *allocate(void *unused)
{
	for (uint32_t i = 0; i < TRIES && pfs_load_acquire(&registered) == 0; i++) {
		for (size_t bytes = 16; i < BUSY && bytes < 100000; bytes *= 2)
			pfs_block_free(pfs_malloc(bytes));
		(void)usleep(1000);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, allocate, NULL) != 0)
		return 1;
	(void)allocate(NULL);
	(void)pthread_join(thread, NULL);
	if (pfs_load_acquire(&registered) == 0) {
		(void)fprintf(stderr, "barrier_test: no tick asked for the barrier\n");
		return 1;
	}
	if (pfs_load_acquire(&locked) != 0) {
		(void)fprintf(stderr, "barrier_test: it was asked for under the registry's lock\n");
		return 1;
	}
	return 0;
}
