/*
 * ticker.c - make the ticks of the books. A thread does it, which starts when the program starts
 * its second thread: a single-threaded program with it could no longer call unshare or setns.
 * Before that slow calls make ticks when they are due. The thread ends with the last counted life,
 * because a process whose main thread has left should end with its last thread.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "counter.h"
#include "mapped.h"
#include "base/now.h"
#include "memory/malloc/next.h"

typedef int create_call(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)

static _Atomic(uint32_t) has_thread;
static _Atomic(uint64_t) last_ns; /* last tick made by a slow call */
static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* waiting */
static bool look_at_lives;                                /* waiting */

static void wait_until(uint64_t due_ns)
{
	struct timespec until = { .tv_sec = (time_t)(due_ns / NS_PER_SECOND),
				  .tv_nsec = (long)(due_ns % NS_PER_SECOND) };
	int error = 0;
	(void)pthread_mutex_lock(&waiting);
	while (!look_at_lives && error == 0)
		error = pthread_cond_clockwait(&changed, &waiting, CLOCK_MONOTONIC, &until);
	look_at_lives = false;
	(void)pthread_mutex_unlock(&waiting);
}

/* Under the desk, so that a thread that begins now is either seen, or starts the ticker again. */
static bool is_over(void)
{
	struct pfs_books *books = pfs_program.books;
	pfs_desk_open(books);
	bool over = books->threads == NULL;
	if (over)
		pfs_store_relaxed(&has_thread, 0); /* relaxed: under the desk */
	pfs_desk_close(books);
	return over;
}

static void *tick_on(void *unused)
{
	(void)unused;
	pfs_counter_never();
	pfs_mapped_stack();
	(void)pthread_setname_np(pthread_self(), "pfsmem");
	uint64_t due_ns = pfs_now_ns(CLOCK_MONOTONIC);
	for (;;) {
		due_ns += pfs_program.tick_ms * NS_PER_MS;
		wait_until(due_ns);
		if (is_over())
			break;
		if (pfs_now_ns(CLOCK_MONOTONIC) < due_ns) {
			due_ns -= pfs_program.tick_ms * NS_PER_MS;
			continue;
		}
		pfs_measure();
		pfs_memory_tick(pfs_program.books);
		pfs_walk_if_asked();
		/* Make each thread check its name at its next slow call. */
		pfs_box_announce(pfs_program.books->control);
	}
	return NULL;
}

void pfs_ticker_wish(void)
{
	uint32_t before = 0;
	if (pfs_program.tick_ms == 0 ||
	    !pfs_cas_relaxed(&has_thread, &before, 1)) /* relaxed: only the first call counts */
		return;
	pthread_t thread;
	static _Atomic(void *) known;
	pthread_attr_t attributes;
	sigset_t all, mask;
	(void)sigfillset(&all);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	/* glibc's own: this library's is for the program's threads. */
	create_call *create = (create_call *)pfs_next("pthread_create", &known);
	if (create == NULL || create(&thread, &attributes, tick_on, NULL) != 0)
		pfs_store_relaxed(&has_thread, 0); /* relaxed: the next thread tries again */
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	(void)pthread_attr_destroy(&attributes);
}

void pfs_ticker_if_time(void)
{
	if (pfs_program.tick_ms == 0 || pfs_load_relaxed(&has_thread) != 0) /* relaxed: a hint */
		return;
	uint64_t now = pfs_now_ns(CLOCK_MONOTONIC);
	uint64_t last = pfs_load_relaxed(&last_ns); /* relaxed: the CAS decides */
	if (last != 0 && now - last < pfs_program.tick_ms * NS_PER_MS)
		return;
	if (!pfs_cas_relaxed(&last_ns, &last, now) || last == 0) /* relaxed: a clock */
		return;
	pfs_measure();
	pfs_memory_tick(pfs_program.books);
}

void pfs_ticker_last_life(void)
{
	if (pfs_load_relaxed(&has_thread) == 0) /* relaxed: a hint */
		return;
	(void)pthread_mutex_lock(&waiting);
	look_at_lives = true;
	(void)pthread_cond_signal(&changed);
	(void)pthread_mutex_unlock(&waiting);
}

void pfs_ticker_child(void)
{
	pfs_store_relaxed(&has_thread, 0); /* relaxed: one thread */
	pfs_store_relaxed(&last_ns, 0);    /* relaxed: one thread */
	waiting = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
	look_at_lives = false;
	pfs_measure_child();
}
