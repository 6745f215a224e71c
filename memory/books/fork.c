/*
 * fork.c - the books of a forked child: a copy of its parent's, made before the fork, and a box
 * with the first call that needs the desk; or, without memory for a copy, books that count nothing.
 *
 * A process that is alone (containers/alone.h) takes no lock and closes no gate: the signal whose
 * handler forks may have interrupted a call that is inside. The copy and the child's memory are of
 * one moment all the same. Signals wait until the fork is over: each fork has one copy.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "containers/alone.h"
#include "containers/message.h"
#include "containers/thread_signals.h"
#include "memory/books/books.h"
#include "memory/profile/profile.h"

static struct {
	pthread_mutex_t lock;
	struct pfs_books *first;
	bool has_handlers;
	struct pfs_alone_fork alone;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Other threads may add cells to the list after it, which the copy may not show as finished. */
static void copy_box(struct pfs_books *self)
{
	self->fork_tid = (uint32_t)gettid();
	/* relaxed: the list is folded only under the desk. */
	self->fork_finished = pfs_load_relaxed(&self->finished);
	(void)pfs_box_copy(&self->box);
}

/* The forking thread adopts the desk's handles, so that its child has them. Under the desk. */
static void copy_for_child(struct pfs_books *self)
{
	for (uint32_t shelf = 0; shelf < PFS_SHELVES; shelf++)
		if (self->shelves[shelf].handle != NULL)
			pfs_thread_adopt(self->shelves[shelf].handle);
	if (self->profile != NULL)
		pfs_gate_close(&self->profile->gate);
	copy_box(self);
}

static void prepare(void)
{
	if (pfs_alone_begin(&all.alone)) {
		for (struct pfs_books *self = all.first; self != NULL; self = self->next)
			if (!self->is_uncounted)
				copy_box(self);
		return;
	}
	(void)pthread_mutex_lock(&all.lock);
	all.alone.is_on = false;
	for (struct pfs_books *self = all.first; self != NULL; self = self->next) {
		(void)pthread_mutex_lock(&self->tick_lock);
		pfs_mutex_lock(&self->limits_lock);
		pfs_mutex_lock(&self->desk);
		if (!self->is_uncounted)
			copy_for_child(self);
	}
}

static void in_parent(void)
{
	for (struct pfs_books *self = all.first; self != NULL; self = self->next) {
		pfs_box_drop_copy(&self->box);
		if (all.alone.is_on)
			continue;
		if (self->profile != NULL && !self->is_uncounted)
			pfs_gate_open(&self->profile->gate);
		pfs_mutex_unlock(&self->desk);
		pfs_mutex_unlock(&self->limits_lock);
		(void)pthread_mutex_unlock(&self->tick_lock);
	}
	if (!all.alone.is_on)
		(void)pthread_mutex_unlock(&all.lock);
	pfs_alone_end(&all.alone);
}

/* Marks the lives that belong to the child's thread; the others have no thread in the child. */
static void number_lives(struct pfs_books *self)
{
	for (struct pfs_memory_thread *thread = self->threads; thread != NULL;
	     thread = thread->next) {
		uint32_t *tid = &thread->record->os_tid;
		*tid = *tid == self->fork_tid ? self->fork_pid : 0;
	}
}

/* ---- in the child ---- */

/* A signal handler that forks meanwhile would leave two processes with one box. */
static bool refile(struct pfs_books *self, struct pfs_message *message)
{
	sigset_t before;
	pfs_thread_signals_block(&before);
	bool is_done = pfs_box_refile(&self->box, message);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return is_done;
}

/* Gives the child's box a file, once the calling thread is the process's first and alone: other
 * threads could count while the box moves. Under the desk. */
static void give_file(struct pfs_books *self)
{
	struct pfs_message message = { "" };
	bool is_alone = (uint32_t)gettid() == (uint32_t)getpid() &&
			(self->threads == NULL || self->threads->next == NULL);
	if (!is_alone && !self->has_waited) {
		self->has_waited = true;
		if (self->complain != NULL)
			self->complain("this process has no box yet: its first call came from "
				       "another thread than its first; it gets one when that "
				       "thread is alone");
	}
	if (!is_alone)
		return;
	self->settle = NULL;
	if (refile(self, &message)) {
		if (self->config.tick_ms != 0)
			pfs_ticker_start(self);
	} else if (self->complain != NULL)
		self->complain(message.text);
}

/* In a forked child, under the desk: ends the lives of the parent's other threads. A new life of
 * the child begins under the desk, so after this. */
static void settle(struct pfs_books *self)
{
	self->settle = self->box.path[0] != '\0' ? give_file : NULL;
	struct pfs_memory_thread *next;
	for (struct pfs_memory_thread *thread = self->threads; thread != NULL; thread = next) {
		next = thread->next;
		if (thread->record->os_tid != 0)
			continue;
		/* Its handles were detached by their containers, and may be reused already. */
		free(thread->profile);
		thread->profile = NULL;
		pfs_life_end(thread);
		free(thread);
	}
	if (self->settle != NULL)
		self->settle(self);
}

/*
 * There was no memory for the copy. The child counts nothing from here on, and no store of it may
 * reach its parent's box: no thread has a cell, no free is credited, and calls that need the desk
 * return at once. Should the system grant the addresses again, they are also private.
 */
static void stop_counting(struct pfs_books *self)
{
	int flags = MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
	self->is_uncounted = true;
	self->rule = &pfs_rule_none;
	self->settle = NULL;
	pfs_store_relaxed(&self->finished, 0); /* relaxed: one thread */
	for (struct pfs_memory_thread *thread = self->threads; thread != NULL;
	     thread = thread->next) {
		size_t keys = 2 * ((size_t)self->instruments_max + 1);
		thread->is_instrumented = false;
		thread->is_limited = false;
		memset(thread->cells, 0, keys * sizeof(struct pfs_cell *));
	}
	if (self->note != NULL)
		self->note(self, "no memory for its copy of its parent's accounts");
	if (mmap(self->box.base, self->box.bytes, PROT_READ | PROT_WRITE, flags | MAP_PRIVATE, -1,
		 0) == MAP_FAILED)
		(void)mmap(self->box.base, self->box.bytes, PROT_READ | PROT_WRITE,
			   flags | MAP_SHARED, -1, 0);
}

/* Detach its memory first: no store of the child may reach its parent's box. */
static void in_child(void)
{
	for (struct pfs_books *self = all.first; self != NULL; self = self->next) {
		self->fork_pid = (uint32_t)getpid();
		self->has_ticker = self->has_waited = false;
		if (!self->is_uncounted && pfs_box_detach(&self->box)) {
			/* relaxed: one thread */
			pfs_store_relaxed(&self->finished, self->fork_finished);
			/* The region has no memory here. relaxed: one thread. */
			pfs_store_relaxed(&self->control->switches, 0);
			self->settle = settle;
			number_lives(self);
		} else if (!self->is_uncounted)
			stop_counting(self);
		if (all.alone.is_on)
			continue;
		if (self->profile != NULL)
			pfs_gate_begin(&self->profile->gate);
		pfs_mutex_init(&self->desk);
		pfs_mutex_init(&self->limits_lock);
		if (!self->is_uncounted)
			pfs_limits_child(self);
		(void)pthread_mutex_init(&self->tick_lock, NULL);
		(void)pthread_cond_init(&self->end_tick, NULL);
	}
	if (!all.alone.is_on)
		(void)pthread_mutex_init(&all.lock, NULL);
	pfs_alone_end(&all.alone);
}

/* ---- all books of the process ---- */

void pfs_books_enlist(struct pfs_books *self)
{
	(void)pthread_mutex_lock(&all.lock);
	if (!all.has_handlers)
		all.has_handlers = pthread_atfork(prepare, in_parent, in_child) == 0;
	self->next = all.first;
	all.first = self;
	(void)pthread_mutex_unlock(&all.lock);
}

void pfs_books_unlist(struct pfs_books *self)
{
	(void)pthread_mutex_lock(&all.lock);
	struct pfs_books **link = &all.first;
	while (*link != NULL && *link != self)
		link = &(*link)->next;
	if (*link != NULL)
		*link = self->next;
	(void)pthread_mutex_unlock(&all.lock);
}
