/*
 * background.h - a thread of the library's own, which the program does not notice: it receives no
 * signal, and it is gone before the program could be surprised by it.
 *
 * The program's last other thread ends it from its own last destructor, and waits until it is gone:
 * so when pthread_join of that thread returns, the process has one thread, and may unshare. The
 * thread also leaves by itself when it has nothing to do, and is started again. So a process whose
 * threads left without destructors (the system call exit) ends soon after them.
 *
 * States     NONE -> STARTING -> RUNS -> ENDING -> NONE  by pfs_background_end
 *                                RUNS -> LEFT            by the thread; the next start or end joins
 * Everything is under `lock`, which no call into the C library is made with. fork ignores it: a
 * child has no such thread, and pfs_background_child makes everything anew.
 * Progress   blocking: end waits for the thread's current step.
 */
#ifndef PFS_MALLOC_BACKGROUND_H
#define PFS_MALLOC_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "containers/atomic.h"

struct pfs_background {
	const char *name;  /* of the thread */
	void (*run)(void); /* returns soon after must_end, or after leave */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t state;   /* under lock, like thread and is_woken */
	pthread_t thread; /* in RUNS and LEFT */
	bool is_woken;
	_Atomic(uint32_t) must_end; /* written under lock */
	_Atomic(uint32_t) is_there; /* a hint: a start would do nothing */
};
#define PFS_BACKGROUND(thread_name, body)                                                \
	{                                                                                \
		.name = (thread_name), .run = (body), .lock = PTHREAD_MUTEX_INITIALIZER, \
		.changed = PTHREAD_COND_INITIALIZER                                      \
	}

/* In a library that interposes pthread_create: the C library's, which takes no lock of the program.
 * Weak: elsewhere there is none, and pthread_create is called. */
int pfs_background_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*body)(void *), void *context)
	__attribute__((weak, visibility("hidden")));

/* Start the thread, unless it is there. False: it was refused. Keeps errno. */
bool pfs_background_start(struct pfs_background *self);

/* End the thread and wait until it is gone. Not by the thread itself. */
void pfs_background_end(struct pfs_background *self);

/* Wake the thread if it waits. */
void pfs_background_wake(struct pfs_background *self);

/* In a child of fork. */
void pfs_background_child(struct pfs_background *self);

/* ---- by the thread itself ---- */

/* Wait until a time of CLOCK_MONOTONIC, or for a wake or an end. True: it was woken. */
bool pfs_background_wait(struct pfs_background *self, uint64_t until_ns);

/* The thread leaves: `run` must return now. From here on it can be started again. */
void pfs_background_leave(struct pfs_background *self);

static inline bool pfs_background_must_end(struct pfs_background *self)
{
	return pfs_load_relaxed(&self->must_end) != 0; /* relaxed: looked at again and again */
}

static inline bool pfs_background_is_there(struct pfs_background *self)
{
	return pfs_load_relaxed(&self->is_there) != 0; /* relaxed: a hint */
}

#endif
