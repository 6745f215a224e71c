/*
 * counter.c - a thread begins to count at its first slow call, and ends by a thread-specific
 * destructor. A thread's account is its pool: the thread's name without its number.
 */
#define _GNU_SOURCE
#include "counter.h"

#include <pfslab/malloc.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "mapped.h"
#include "memory/malloc/last.h"
#include "pools.h"

#define POOL_HOST "localhost"
#define END_ROUNDS 2u /* other destructors may still allocate in the first rounds */

static pthread_key_t key;
static bool has_key; /* once */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- lives ---- */

static bool is_numbering(char letter)
{
	return (letter >= '0' && letter <= '9') || strchr("-_ #:", letter) != NULL;
}

/* A name without the digits at its end and the separators before them. */
static void pool_of(char *pool, const char *name)
{
	size_t length = strlen(name);
	while (length > 0 && is_numbering(name[length - 1]))
		length--;
	if (length == 0)
		length = strlen(name);
	memcpy(pool, name, length);
	pool[length] = '\0';
}

static void read_name(char name[16])
{
	memset(name, 0, 16);
	if (prctl(PR_GET_NAME, name) != 0)
		name[0] = '\0';
}

static void begin_life(struct pfs_counter *counter, const char *name)
{
	const char *user = counter->is_main ? pfs_program.name : counter->pool;
	if (!counter->is_main)
		pfs_pools_join(counter->pool);
	counter->thread = pfs_memory_thread_begin(pfs_program.books, name, user, POOL_HOST, true);
	counter->reference = PFS_NOBODY;
	if (counter->thread != NULL && pfs_program.is_exact)
		counter->reference = counter->thread->reference;
	memset(counter->quick, 0, sizeof(*counter->quick));
}

/* A thread may be renamed after it has begun; then it joins another pool. */
static void look_at_name(struct pfs_counter *counter)
{
	char name[16], pool[16];
	read_name(name);
	pool_of(pool, name);
	if (strcmp(pool, counter->pool) == 0)
		return;
	pfs_memory_thread_end(counter->thread);
	memcpy(counter->pool, pool, sizeof(pool));
	begin_life(counter, name);
}

void pfs_counter_look(struct pfs_counter *counter)
{
	/* relaxed: used as a clock here. */
	uint32_t generation = pfs_load_relaxed(pfs_counting.generation);
	if (generation != counter->generation) {
		counter->generation = generation;
		/* A library may have been unloaded, and another one loaded at its addresses. */
		memset(counter->quick->sites, 0, sizeof(counter->quick->sites));
		if (!counter->is_main)
			look_at_name(counter);
	}
	if (++counter->slow_calls % 16 == 0)
		pfs_ticker_if_time();
}

/* ---- enter and leave ---- */

static struct pfs_counter *counter_new(bool *is_lost)
{
	char name[16];
	struct pfs_counter *counter = pfs_child_counter();
	if (counter == NULL)
		return NULL;
	counter->is_main = getpid() == gettid();
	read_name(name);
	pool_of(counter->pool, name);
	begin_life(counter, name);
	if (counter->thread == NULL) { /* counted as lost */
		pfs_child_drop(counter);
		*is_lost = true;
		return NULL;
	}
	if (has_key)
		(void)pthread_setspecific(key, counter);
	if (!counter->is_main) {
		pfs_mapped_stack();
		pfs_ticker_wish();
	}
	return counter;
}

static void end(void *value);

static void make_key(void)
{
	has_key = pthread_key_create(&key, end) == 0;
}

static struct pfs_counter *begin(void)
{
	bool later = false, is_lost = false;
	pfs_counter_state = PFS_COUNTER_INSIDE;
	struct pfs_counter *counter = NULL;
	if (pfs_program_start(&later) && !pfs_box_is_cut(&pfs_program.books->box)) {
		(void)pthread_once(&once, make_key);
		counter = counter_new(&is_lost);
	}
	if (counter == NULL)
		pfs_counter_state = later     ? PFS_COUNTER_NEW
				    : is_lost ? PFS_COUNTER_LOST
					      : PFS_COUNTER_ENDED;
	return counter;
}

struct pfs_counter *pfs_counter_enter(void)
{
	if (pfs_is_last() || !pfs_child_may_count())
		return NULL;
	if (pfs_counter_state == PFS_COUNTER_NEW)
		return begin();
	if (pfs_counter_state != PFS_COUNTER_RUNNING || pfs_box_is_cut(&pfs_program.books->box))
		return NULL;
	struct pfs_counter *counter = pfs_own.counter;
	pfs_counter_state = PFS_COUNTER_INSIDE;
	pfs_own.counter = &pfs_counter_none;
	pfs_own.quick = &pfs_nobodys.quick;
	counter->quick->last_tag = 0;
	if (!pfs_likely(pfs_program.books->settle == NULL))
		pfs_books_settle(pfs_program.books);
	return counter;
}

bool pfs_child_enter(void)
{
	int errno_before = errno;
	struct pfs_counter *counter = pfs_counter_enter();
	if (counter != NULL)
		pfs_counter_leave(counter);
	errno = errno_before;
	return pfs_nobodys.guard != 0;
}

void pfs_counter_lose(uint64_t bytes)
{
	if (pfs_counter_state == PFS_COUNTER_LOST)
		(void)pfs_fetch_add_relaxed(
			&pfs_program.books->box.head->lost[PFS_LOST_THREAD_BYTES],
			bytes); /* relaxed: a count */
}

void pfs_counter_leave(struct pfs_counter *counter)
{
	pfs_own.counter = counter;
	pfs_own.quick = counter->quick;
	counter->quick->reference = ~counter->reference;
	pfs_counter_state = PFS_COUNTER_RUNNING;
}

/* Ends the thread's counting. Later allocations are not counted, frees are credited as usual. */
static void end(void *value)
{
	struct pfs_counter *counter = value;
	if (counter->end_rounds++ < END_ROUNDS) {
		(void)pthread_setspecific(key, counter);
		return;
	}
	if (pfs_counter_enter() == NULL)
		return;
	pfs_memory_thread_end(counter->thread);
	pfs_counter_state = PFS_COUNTER_ENDED;
	pfs_child_drop(counter);
	pfs_ticker_life_ended();
}

__attribute__((constructor(102))) static void at_begin(void)
{
	struct pfs_counter *counter = pfs_counter_enter();
	if (counter != NULL)
		pfs_counter_leave(counter);
}

__attribute__((destructor(102))) static void at_end(void)
{
	struct pfs_counter *counter = pfs_counter_enter();
	if (counter != NULL) {
		if (pfs_program.books->config.keep) /* the last chance to measure */
			pfs_measure();
		pfs_memory_tick(pfs_program.books);
		pfs_counter_leave(counter);
	}
	pfs_program_leave();
}
