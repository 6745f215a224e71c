/*
 * random.c - programs drawn at random, with loops that wait, give up, or count in other places, and
 * with state that is thread-local, static, libc's, or allocated by a constructor:
 * random_loops_test.py compares what an exhaustive search finds with what the naive search finds,
 * which prunes nothing. PFS_RANDOM_SEED: of the first program; there are 1,000.
 *
 * Only thread 0 writes `gate`, and opens it at its end; only other threads wait for it without end.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pfslab/check.h>

#ifndef PFS_RANDOM_SEED
#define PFS_RANDOM_SEED 1
#endif

#define THREADS_MAX 3
#define OPS_MAX 6
#define OPEN 9

enum kind {
	LOAD,
	STORE,
	ADD,
	EXCHANGE,
	SWAP,
	YIELD,
	NOTHING,
	SECTION,
	LOCAL,
	LOCAL_ATOMIC,
	STATIC,
	ERROR,
	KEPT,
	LIST,
	WAIT,
	WAIT_YIELD,
	WAIT_SECTION,
	WAIT_CHANGES_NOTHING,
	WAIT_TWO,
	WAIT_FLIP,
	WAIT_LOCAL,
	TRY,
	TRY_YIELD,
	TRY_UNSEEN,
	TRY_THREAD_LOCAL,
	TRY_GLOBAL,
	TRY_POINTER,
	TRY_LOCAL_ATOMIC,
	TRY_STATIC,
	TRY_ERROR,
	TRY_KEPT,
	TRY_BACK,
	TRY_CLOCK,
	TRY_CHAIN,
	TRY_SWAP,
	KINDS,
	MEET = KINDS
};

static struct op {
	enum kind kind;
	unsigned at, value, most;
} ops[THREADS_MAX][OPS_MAX];
static unsigned op_count[THREADS_MAX], threads;

static atomic_uint words[2], gate;
static atomic_uint chain[] = { 1, 2, 3, 4 }; /* each is followed to the next */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static unsigned guarded;             /* by the mutex */
static unsigned counts[THREADS_MAX]; /* each of one thread */
static unsigned met[THREADS_MAX];    /* a hash of what the thread has seen */
static _Thread_local unsigned own_count, own_sum = 7;
static _Thread_local atomic_uint own_atomic = 3;

/* What a constructor allocates, and threads change: */
static struct kept {
	unsigned count, letters;
	char *text;
} *kept[THREADS_MAX];       /* each of one thread */
static struct node {
	struct node *next;
} *list;                    /* by the mutex */
static atomic_uint appended; /* to the list, in this execution */

static __attribute__((constructor)) void keep(void)
{
	list = calloc(1, sizeof(*list));
	for (unsigned t = 0; t < THREADS_MAX; t++) {
		kept[t] = calloc(1, sizeof(*kept[t]));
		kept[t]->text = strdup("kept");
	}
}

static unsigned length_of_list(void)
{
	unsigned length = 0;
	for (const struct node *at = list; at != NULL; at = at->next)
		length++;
	return length;
}

static unsigned draw(unsigned *state, unsigned below)
{
	*state = *state * 1103515245u + 12345u;
	return (*state >> 16) % below;
}

static unsigned look(const struct op *op)
{
	return op->at < 2 ? atomic_load(&words[op->at]) : atomic_load(&gate);
}

/* How often the thread has called it; first: anew. */
static __attribute__((noinline)) unsigned calls_of(unsigned own, int first)
{
	static unsigned calls[THREADS_MAX];
	calls[own] = first ? 0 : calls[own] + 1;
	return calls[own];
}

static __attribute__((noinline)) int next_error(void)
{
	return ++errno;
}

static __attribute__((noinline)) int counts_down(unsigned *left)
{
	return (*left)-- != 0;
}

static unsigned wait_in(const struct op *op, unsigned own)
{
	unsigned seen = 0, other = 0, flip = 0;
	switch (op->kind) {
	case WAIT:
		while ((seen = atomic_load(&gate)) < op->value)
			;
		break;
	case WAIT_YIELD:
		while ((seen = atomic_load(&gate)) < op->value)
			sched_yield();
		break;
	case WAIT_SECTION:
		while (seen != OPEN) {
			pthread_mutex_lock(&mutex);
			seen = guarded;
			pthread_mutex_unlock(&mutex);
			sched_yield();
		}
		break;
	case WAIT_CHANGES_NOTHING:
		while ((seen = atomic_fetch_or(&gate, 0)) < op->value)
			;
		break;
	case WAIT_TWO:
		while ((seen = atomic_load(&gate)) < op->value &&
		       (other = atomic_load(&words[0])) == 0)
			sched_yield();
		break;
	case WAIT_FLIP:
		while ((seen = flip ? atomic_load(&words[0]) : atomic_load(&gate)) < OPEN)
			flip = !flip;
		break;
	default:
		/* It counts up to two, and then no more. */
		while ((seen = atomic_load(&gate)) < op->value)
			other += other < 2;
		break;
	}
	return seen * 4 + other + own;
}

/* It knows by other means than a count of its own where it is. */
static unsigned find_in(const struct op *op, unsigned own)
{
	unsigned tries = 0, seen = 0;
	switch (op->kind) {
	case TRY_CLOCK:
		for (clock_t end = clock() + op->most; clock() < end && seen != op->value;)
			seen = look(op);
		break;
	case TRY_CHAIN:
		do
			tries = atomic_load(&chain[tries]);
		while (tries < op->most);
		seen = look(op);
		break;
	default:
		/* What it expects is where others could read it. */
		counts[own] = OPEN;
		while (!atomic_compare_exchange_strong(&words[op->at % 2], &counts[own], op->value))
			tries = tries * 3 + counts[own];
		break;
	}
	return seen * 8 + tries;
}

static unsigned try_in(const struct op *op, unsigned own)
{
	unsigned tries = 0, seen = 0, left = op->most;
	unsigned *pointer = &left;
	switch (op->kind) {
	case TRY:
		while (tries < op->most && (seen = look(op)) != op->value)
			tries++;
		break;
	case TRY_YIELD:
		while (tries < op->most && (seen = look(op)) != op->value) {
			tries++;
			sched_yield();
		}
		break;
	case TRY_UNSEEN:
		for (unsigned i = 0; i < op->most && (seen = look(op)) != op->value; i++)
			;
		break;
	case TRY_THREAD_LOCAL:
		own_count = 0;
		while ((seen = look(op)) != op->value && ++own_count < op->most)
			;
		tries = own_count;
		break;
	case TRY_GLOBAL:
		counts[own] = 0;
		while ((seen = look(op)) != op->value && ++counts[own] < op->most)
			sched_yield();
		tries = counts[own];
		break;
	case TRY_POINTER:
		while ((seen = look(op)) != op->value && counts_down(pointer))
			;
		tries = left;
		break;
	case TRY_LOCAL_ATOMIC:
		atomic_store(&own_atomic, 0);
		while ((seen = look(op)) != op->value &&
		       atomic_fetch_add(&own_atomic, 1) + 1 < op->most)
			;
		tries = atomic_load(&own_atomic);
		break;
	case TRY_STATIC:
		tries = calls_of(own, 1);
		while ((seen = look(op)) != op->value && (tries = calls_of(own, 0)) < op->most)
			;
		break;
	case TRY_ERROR:
		errno = 0;
		while ((seen = look(op)) != op->value && next_error() < (int)op->most)
			sched_yield();
		tries = (unsigned)errno;
		break;
	case TRY_KEPT:
		kept[own]->count = 0;
		while ((seen = look(op)) != op->value && ++kept[own]->count < op->most)
			;
		tries = kept[own]->count;
		break;
	default:
		/* It gives up when it has looked at one word, and at the other again. */
		for (unsigned i = 0; i < 2 * op->most && seen != op->value; i++)
			seen = i % 2 != 0 ? atomic_load(&gate) : look(op);
		break;
	}
	return seen * 8 + tries;
}

/* State that is not atomic memory, or that outlives the execution if nothing restores it. */
static unsigned keep_in(const struct op *op, unsigned own)
{
	struct kept *mine = kept[own];
	unsigned seen = 0;
	switch (op->kind) {
	case LOCAL: own_sum = own_sum * 3 + look(op); return own_sum;
	case LOCAL_ATOMIC:
		seen = atomic_fetch_add(&own_atomic, op->value);
		return seen * 8 + look(op) + atomic_load(&own_atomic);
	case STATIC: return look(op) * 4 + calls_of(own, 0);
	case ERROR:
		seen = (unsigned)errno;
		errno = (int)(4 * own + op->value);
		seen = seen * 16 + look(op);
		return seen * 16 + (unsigned)errno;
	case KEPT:
		mine->letters = (unsigned)strlen(mine->text);
		seen = look(op);
		mine->text = realloc(mine->text, mine->letters + 2);
		mine->text[mine->letters] = (char)('a' + seen);
		mine->text[mine->letters + 1] = '\0';
		return mine->letters * 8 + seen;
	default:
		pthread_mutex_lock(&mutex);
		struct node *node = malloc(sizeof(*node));
		node->next = list;
		list = node;
		seen = length_of_list();
		pthread_mutex_unlock(&mutex);
		atomic_fetch_add(&appended, 1);
		return seen;
	}
}

static unsigned run(const struct op *drawn, unsigned own)
{
	const struct op copy = *drawn, *op = &copy;
	atomic_uint *word = &words[op->at % 2];
	unsigned seen = op->value / 2;
	switch (op->kind) {
	case LOAD: return look(op);
	case STORE: atomic_store(word, op->value); return 0;
	case ADD: return atomic_fetch_add(word, 1);
	case EXCHANGE: return atomic_exchange(word, op->value);
	case SWAP: atomic_compare_exchange_strong(word, &seen, op->value); return seen;
	case YIELD: sched_yield(); return 0;
	case NOTHING: return atomic_fetch_add(word, 0);
	case SECTION:
		pthread_mutex_lock(&mutex);
		seen = guarded;
		guarded += guarded < 3;
		pthread_mutex_unlock(&mutex);
		return seen;
	case MEET:
		if (op->value != 1)
			return pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
		pthread_barrier_wait(&barrier);
		return 0;
	default:
		return op->kind < WAIT ? keep_in(op, own)
		       : op->kind < TRY ? wait_in(op, own)
		       : op->kind < TRY_CLOCK ? try_in(op, own)
					      : find_in(op, own);
	}
}

static void body(void *argument)
{
	unsigned own = (unsigned)(uintptr_t)argument;
	for (unsigned i = 0; i < op_count[own]; i++)
		met[own] = met[own] * 31 + run(&ops[own][i], own) + 1;
	if (own != 0)
		return;
	atomic_store(&gate, 1);
	pthread_mutex_lock(&mutex);
	guarded = OPEN;
	pthread_mutex_unlock(&mutex);
	atomic_store(&gate, OPEN);
}

static void at_rest(void *argument)
{
	pfs_check_assert(length_of_list() == 1 + atomic_load(&appended));
	pfs_check_outcome("%u %u %u  %x %x %x", atomic_load(&words[0]), atomic_load(&words[1]),
			  guarded, met[0], met[1], met[2]);
}

/* Before the first loop that waits for thread 0. */
static void add_meeting(unsigned *state, unsigned thread)
{
	unsigned last = 0, looks = 1 + draw(state, 2);
	while (last < op_count[thread] &&
	       (ops[thread][last].kind < WAIT || ops[thread][last].kind >= TRY))
		last++;
	unsigned at = draw(state, last + 1);
	memmove(&ops[thread][at + 1], &ops[thread][at],
		(op_count[thread]++ - at) * sizeof(ops[thread][0]));
	ops[thread][at] = (struct op){ .kind = MEET, .value = looks };
}

/* Some threads meet once or twice, in one program of four. */
static void add_meetings(unsigned *state)
{
	unsigned first = draw(state, 2), most = threads - first, rounds = 1 + draw(state, 2);
	if (draw(state, 4) != 0)
		return;
	pthread_barrier_init(&barrier, NULL, most);
	for (unsigned t = first; t < threads; t++) {
		for (unsigned i = 0; i < rounds; i++)
			add_meeting(state, t);
	}
}

static void begin(unsigned number)
{
	unsigned state = number * 2654435761u + 1;
	/* All is as the constructor left it, whatever other executions did. */
	pfs_check_assert(length_of_list() == 1 && errno == 0 && own_sum == 7 && own_atomic == 3);
	for (unsigned t = 0; t < THREADS_MAX; t++)
		pfs_check_assert(strcmp(kept[t]->text, "kept") == 0 && kept[t]->count == 0 &&
				 met[t] == 0 && calls_of(t, 0) == 1 && calls_of(t, 1) == 0);
	threads = 2 + (draw(&state, 4) == 0);
	for (unsigned t = 0; t < threads; t++) {
		op_count[t] = 1 + draw(&state, t != 0 && threads == 2 ? 3 : 2);
		for (unsigned i = 0; i < op_count[t]; i++) {
			struct op *op = &ops[t][i];
			op->kind = (enum kind)draw(&state, KINDS);
			if (t == 0 && op->kind >= WAIT)
				op->kind = (enum kind)draw(&state, WAIT);
			op->at = draw(&state, t == 0 ? 2 : 3);
			op->value = 1 + draw(&state, 2);
			op->most = 1 + draw(&state, 3);
		}
		pfs_check_thread(body, (void *)(uintptr_t)t);
	}
	add_meetings(&state);
	pfs_check_at_rest(at_rest, 0);
}

#define ONE(n)                                        \
	PFS_CHECK_SCENARIO(p##n)                      \
	{                                             \
		begin(PFS_RANDOM_SEED + 1##n - 1000); \
	}
#define TEN(n)    \
	ONE(n##0) \
	ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define HUNDRED(n) \
	TEN(n##0)  \
	TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
HUNDRED(0)
HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)
