/*
 * forking.h - for tests of fork: a container, its thread that forks, and one that the child
 * does not have.
 */
#ifndef PFS_STRESS_FORKING_H
#define PFS_STRESS_FORKING_H

#include <pthread.h>
#include <stdatomic.h>

#include "stress/harness/harness.h"

/* What the sanitizers of gcc 12 cannot do: ThreadSanitizer knows no threads that start in the
 * child of a process with threads, and AddressSanitizer's malloc hangs there now and then. */
#define MAY_START_THREADS (!PFS_UNDER_TSAN)
#ifdef __SANITIZE_ADDRESS__
#define MAY_ALLOCATE_ALL_THE_WHILE 0
#else
#define MAY_ALLOCATE_ALL_THE_WHILE 1
#endif

#define CROWD 3u
#define PAGES 32u
#define PAGE_RECORDS 16u

struct scene {
	const struct pfs_case *at;
	struct pfs_container *container;
	struct pfs_thread *thread; /* of the thread that forks */
	struct pfs_thread *other;  /* of a thread that the child does not have */
	void *record;
	pthread_t native[CROWD];
	_Atomic(bool) stop;
	pthread_barrier_t met; /* the other thread has come so far, and waits */
	void (*other_body)(struct scene *self);
};

/* PAGES pages of PAGE_RECORDS records, the rest as configured. */
void scene_init(struct scene *self, const struct pfs_case *at, struct pfs_config *config);
void scene_fini(struct scene *self);

/* A thread attaches, runs body and waits, until end; its handle stays attached. */
void other_begin(struct scene *self, void (*body)(struct scene *self));
void other_end(struct scene *self);

/* Run body in a child; it must come to its end. */
void in_child(void (*body)(void *context), void *context);

/* Allocate all that can be had; how many. */
uint32_t take_all(struct pfs_thread *thread);

/* Records that are free by their words; after take_all no allocation can find them. */
uint32_t count_lost(struct pfs_thread *thread);

#endif
