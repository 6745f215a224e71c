/*
 * threads.c - the calls that create threads: the last moment at which a forked child has one, so
 * that its box can move.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "counter.h"
#include "memory/malloc/background.h"
#include "memory/malloc/next.h"

#define PUBLIC __attribute__((visibility("default")))

int pfs_background_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*body)(void *), void *context)
{
	typedef int call(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	static _Atomic(void *) known;
	call *next = (call *)pfs_next("pthread_create", &known);
	return next != NULL ? next(thread, attributes, body, context) : EAGAIN;
}

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*body)(void *), void *context)
{
	(void)pfs_child_counts();
	return pfs_background_create(thread, attributes, body, context);
}

PUBLIC int thrd_create(thrd_t *thread, thrd_start_t body, void *context)
{
	typedef int call(thrd_t *, thrd_start_t, void *);
	static _Atomic(void *) known;
	(void)pfs_child_counts();
	call *next = (call *)pfs_next("thrd_create", &known);
	return next != NULL ? next(thread, body, context) : thrd_error;
}
