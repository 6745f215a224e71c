/*
 * child.c - a forked child: does it count? fork's handlers have given it a copy of the accounts;
 * it gets a box with its first call of malloc or free, so that a child that soon calls exec costs
 * nothing. _Fork and the system call clone run no handlers: its memory then shows its parent's box,
 * which is the parent's alone. Such a child does not count, and leaves a note in the box's folder.
 *
 * Ordering:  [PL13] standing: store, release  <->  [PL14] standing: load, acquire
 *            carries: the guard
 */
#define _GNU_SOURCE
#include <pfslab/malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "containers/mutex.h"
#include "counter.h"
#include "tag.h"

/* What a process does whose guard is 0. */
enum standing {
	STRANGER,  /* it got a copy of the memory, but fork's handlers did not run */
	FORKING,   /* they run */
	CHILD,     /* they are done */
	UNCOUNTED, /* it was decided that the process does not count */
};

static _Atomic(uint32_t) standing; /* of the next process that is made, and of this one if its
				      guard is 0 */
static char note_path[PFS_BOX_PATH_BYTES]; /* empty: no note */
static uint32_t note_pid;
static const char *reason; /* why it does not count */

/* Most programs have one thread; if not, they have many. */
#define QUICK_BYTES ((sizeof(struct pfs_quick) + PFS_LINE - 1) / PFS_LINE * PFS_LINE)
#define FIRST_ROOM_BYTES ((size_t)2 * PFS_OS_PAGE)
#define ROOM_BYTES ((size_t)64 << 10)
static struct {
	struct pfs_mutex lock;
	struct pfs_counter *left_over; /* of ended threads */
	char *room;                    /* for further ones */
	size_t left;                   /* how many fit */
	size_t room_bytes;             /* of the last room; 0: there is none yet */
} counters;

/* The pages become a mapping of their own. Without the advice (Linux before 4.14) only fork's
 * children are noticed. */
void pfs_child_start(void)
{
	(void)syscall(SYS_mmap, &pfs_nobodys, sizeof(pfs_nobodys), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	(void)madvise(&pfs_nobodys, sizeof(pfs_nobodys), MADV_WIPEONFORK);
	pfs_nobodys.guard = 1;
	pfs_mutex_init(&counters.lock);
}

/* ---- counters ---- */

/* Cut the next one from a room, which is never returned. Under the lock. */
static struct pfs_quick *quick_new(void)
{
	if (counters.left == 0) {
		size_t bytes = counters.room_bytes == 0 ? FIRST_ROOM_BYTES : ROOM_BYTES;
		char *room = pfs_memalign(PFS_OS_PAGE, bytes);
		if (room == NULL)
			return NULL;
		pfs_count_inner(pfs_malloc_usable_size(room), 0);
		(void)madvise(room, bytes, MADV_WIPEONFORK);
		counters.room = room;
		counters.room_bytes = bytes;
		counters.left = bytes / QUICK_BYTES;
	}
	counters.left--;
	void *quick = counters.room + (size_t)counters.left * QUICK_BYTES;
	return memset(quick, 0, sizeof(struct pfs_quick));
}

struct pfs_counter *pfs_child_counter(void)
{
	pfs_mutex_lock(&counters.lock);
	struct pfs_counter *counter = counters.left_over;
	if (counter != NULL) {
		counters.left_over = counter->next;
	} else {
		counter = pfs_malloc(sizeof(*counter));
		if (counter != NULL) {
			pfs_count_inner(pfs_malloc_usable_size(counter), 0);
			counter->quick = quick_new();
		}
	}
	pfs_mutex_unlock(&counters.lock);
	if (counter == NULL)
		return NULL;
	*counter = (struct pfs_counter){ .quick = counter->quick };
	if (counter->quick != NULL)
		return counter;
	pfs_count_inner(0, pfs_malloc_usable_size(counter));
	pfs_block_free(counter);
	return NULL;
}

void pfs_child_drop(struct pfs_counter *counter)
{
	pfs_mutex_lock(&counters.lock);
	counter->next = counters.left_over;
	counters.left_over = counter;
	pfs_mutex_unlock(&counters.lock);
}

/* ---- around a fork ---- */

void pfs_child_lock(void)
{
	pfs_mutex_lock(&counters.lock);
}

void pfs_child_unlock(void)
{
	pfs_mutex_unlock(&counters.lock);
}

void pfs_child_prepare(void)
{
	if (pfs_load_relaxed(&standing) != UNCOUNTED)  /* relaxed: of this thread's process */
		pfs_store_relaxed(&standing, FORKING); /* relaxed: read by the child alone */
}

void pfs_child_in_parent(void)
{
	if (pfs_load_relaxed(&standing) == FORKING)     /* relaxed: its own store */
		pfs_store_relaxed(&standing, STRANGER); /* relaxed: as above */
}

void pfs_child_in_child(void)
{
	pfs_nobodys.guard = 0;                       /* also where the kernel does not do it */
	pfs_own.quick = &pfs_nobodys.quick;          /* likewise */
	if (pfs_load_relaxed(&standing) == FORKING)  /* relaxed: one thread */
		pfs_store_relaxed(&standing, CHILD); /* relaxed: one thread */
	else if (note_pid != (uint32_t)getpid())     /* the child of one that does not count */
		pfs_child_note(pfs_program.books, reason);
}

bool pfs_child_decide(void)
{
	if (!pfs_program_is_on())
		return true; /* the books are not open */
	/* [PL14] acquire, pairs with [PL13]: a second thread may be the first to call, too. */
	uint32_t now = pfs_load_acquire(&standing);
	if (now == CHILD) {
		pfs_nobodys.guard = 1;
		pfs_store_release(&standing, STRANGER); /* [PL13] release, pairs with [PL14] */
	} else if (now == STRANGER && pfs_nobodys.guard == 0)
		pfs_child_note(pfs_program.books, "made by _Fork or clone, not by fork");
	return pfs_nobodys.guard != 0;
}

void pfs_child_note(struct pfs_books *books, const char *why)
{
	pfs_store_relaxed(&standing, UNCOUNTED); /* relaxed: one thread */
	note_pid = (uint32_t)getpid();
	reason = why;
	if (!pfs_box_note(&books->box, why, note_path, sizeof(note_path))) {
		char text[160];
		note_path[0] = '\0';
		(void)snprintf(text, sizeof(text),
			       "%s: the process is not counted, and its folder of boxes has no "
			       "room for a note of that",
			       why);
		if (books->complain != NULL)
			books->complain(text);
	}
}

bool pfs_child_leave(void)
{
	if (pfs_load_relaxed(&standing) != UNCOUNTED) /* relaxed: never changes back */
		return false;
	if (note_path[0] != '\0' && note_pid == (uint32_t)syscall(SYS_getpid))
		(void)unlink(note_path);
	return true;
}
