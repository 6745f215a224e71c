/*
 * begins.c - interposes the calls by which a program registers fork handlers or starts threads, so
 * that our fork handlers are registered first, just before. A program with one thread and no fork
 * handlers needs none and gets none: they would cost it two 64 KiB windows of glibc's pages that
 * hardly anything else in a small program touches, 128 KiB. It gets them once it has much free
 * memory (attach.c) or a guarded block.
 *
 * Threads that glibc starts itself (timers, asynchronous I/O) are noticed when they first allocate.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "background.h"
#include "next.h"
#include "start.h"

#define PUBLIC __attribute__((visibility("default")))

const char pfs_start_sees_threads = 1;

typedef void handler(void);
typedef int register_call(handler *, handler *, handler *, void *);
register_call __register_atfork; /* NOLINT: glibc's name, which pthread_atfork calls */

PUBLIC int __register_atfork(handler *prepare, handler *parent, handler *child, void *library)
{
	static _Atomic(void *) known;
	if (prepare != pfs_start_prepare)
		pfs_start_handlers();
	register_call *next = (register_call *)pfs_next("__register_atfork", &known);
	return next != NULL ? next(prepare, parent, child, library) : ENOMEM;
}

int pfs_background_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*body)(void *), void *context)
{
	typedef int call(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	static _Atomic(void *) known;
	pfs_start_handlers();
	call *next = (call *)pfs_next("pthread_create", &known);
	return next != NULL ? next(thread, attributes, body, context) : EAGAIN;
}

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*body)(void *), void *context)
{
	return pfs_background_create(thread, attributes, body, context);
}

PUBLIC int thrd_create(thrd_t *thread, thrd_start_t body, void *context)
{
	typedef int call(thrd_t *, thrd_start_t, void *);
	static _Atomic(void *) known;
	pfs_start_handlers();
	call *next = (call *)pfs_next("thrd_create", &known);
	return next != NULL ? next(thread, body, context) : thrd_error;
}
