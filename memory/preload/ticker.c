/*
 * ticker.c - make the ticks of the books. A thread does it (memory/malloc/background.h), which
 * starts when the program starts its second thread: a single-threaded program needs none that the
 * kernel would count. Before that slow calls make ticks when they are due.
 *
 * From then on it ticks as long as the process lives, also while the program is idle or has one
 * thread again: the box's history has no gaps, and an idle process is woken up for each tick. It
 * pauses for calls of unshare and setns, which a process with two threads is refused
 * (namespaces.c). It ends with the last counted life. Threads that leave by the system call exit
 * end none: when the main thread has left too, and no other is there, the thread leaves, so that
 * the process ends.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "counter.h"
#include "mapped.h"
#include "base/now.h"
#include "memory/malloc/background.h"

#define NS_PER_MS UINT64_C(1000000)

static void tick_on(void);

static struct pfs_background ticker = PFS_BACKGROUND("pfsmem", tick_on);
static _Atomic(uint64_t) last_ns; /* last tick made by a slow call */

/* Under the desk, so that a thread that begins now is either seen, or starts the ticker again. */
static bool has_no_life(void)
{
	struct pfs_books *books = pfs_program.books;
	pfs_desk_open(books);
	bool has_none = books->threads == NULL;
	pfs_desk_close(books);
	return has_none;
}

/* Is the main thread a zombie, and this one the only other? Both are in /proc/self/stat: after the
 * name in parentheses the main thread's state, and 17 fields later the number of threads. */
static bool is_abandoned(void)
{
	char text[512] = "";
	int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	if (file < 0 || read(file, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	if (file >= 0)
		(void)close(file);
	char *at = strrchr(text, ')');
	if (at == NULL || strncmp(at, ") Z ", 4) != 0)
		return false;
	at += 2;
	for (uint32_t fields = 0; fields < 17 && at != NULL; fields++)
		at = strchr(at + 1, ' ');
	return at != NULL && strncmp(at, " 2 ", 3) == 0;
}

static void tick_on(void)
{
	pfs_counter_never();
	pfs_mapped_stack();
	uint64_t tick_ns = pfs_program.tick_ms * NS_PER_MS;
	uint64_t due_ns = pfs_now_ns(CLOCK_MONOTONIC) + tick_ns;
	for (;;) {
		(void)pfs_background_wait(&ticker, due_ns);
		if (pfs_background_must_end(&ticker))
			return;
		if (pfs_now_ns(CLOCK_MONOTONIC) < due_ns)
			continue;
		due_ns += tick_ns;
		pfs_measure();
		pfs_memory_tick(pfs_program.books);
		pfs_walk_if_asked();
		/* Make each thread check its name at its next slow call. */
		pfs_box_announce(pfs_program.books->control);
		if (is_abandoned())
			break;
	}
	pfs_background_leave(&ticker);
}

void pfs_ticker_wish(void)
{
	if (pfs_program.tick_ms != 0)
		(void)pfs_background_start(&ticker);
}

void pfs_ticker_if_time(void)
{
	if (pfs_program.tick_ms == 0 || pfs_background_is_there(&ticker))
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

void pfs_ticker_life_ended(void)
{
	if (pfs_background_is_there(&ticker) && has_no_life())
		pfs_background_end(&ticker);
}

bool pfs_ticker_pause(void)
{
	bool was_there = pfs_background_is_there(&ticker);
	if (was_there)
		pfs_background_end(&ticker);
	return was_there;
}

void pfs_ticker_resume(bool was_there)
{
	int errno_before = errno;
	if (was_there)
		pfs_ticker_wish();
	errno = errno_before;
}

void pfs_ticker_child(void)
{
	pfs_background_child(&ticker);
	pfs_store_relaxed(&last_ns, 0); /* relaxed: one thread */
	pfs_measure_child();
}
