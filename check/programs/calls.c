/*
 * calls.c - structures against their specifications: pfs_check_specification. Those whose names end
 * in _fails are not linearizable; those in _misused have no calls as they should be.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

#define NONE (-1)
#define ROOM 4

/* ---- a register of two words ---- */

enum { WRITE, READ };

static atomic_int high, low;

static int64_t register_step(void *state, int operation, int64_t argument, int64_t result)
{
	int64_t *value = state;
	if (operation == READ)
		return *value;
	*value = argument;
	return 0;
}

/* The words are written one after the other, and read one after the other. */
static int write_both(int value)
{
	atomic_store(&high, value);
	atomic_store(&low, value);
	return 0;
}

static int read_torn(void)
{
	return atomic_load(&high) * 10 + atomic_load(&low);
}

static void write_one(void *argument)
{
	(void)pfs_check_op(WRITE, 11, write_both(1));
}

static void read_twice_torn(void *argument)
{
	(void)pfs_check_op(READ, 0, read_torn());
	(void)pfs_check_op(READ, 0, read_torn());
}

PFS_CHECK_SCENARIO(torn_fails)
{
	const int64_t none = 0;
	pfs_check_specification(&none, sizeof(none), register_step);
	pfs_check_thread(write_one, 0);
	pfs_check_thread(read_twice_torn, 0);
}

/* ---- a register of one word, as weak as may be ---- */

static void store_relaxed(void *argument)
{
	int value = *(int *)argument;
	pfs_check_call(WRITE, value);
	atomic_store_explicit(&high, value, memory_order_relaxed);
	pfs_check_return(0);
}

static void load_twice(void *argument)
{
	(void)pfs_check_op(READ, 0, atomic_load_explicit(&high, memory_order_relaxed));
	(void)pfs_check_op(READ, 0, atomic_load_explicit(&high, memory_order_relaxed));
}

PFS_CHECK_SCENARIO(word)
{
	static int words[] = { 1, 2 };
	const int64_t none = 0;
	pfs_check_specification(&none, sizeof(none), register_step);
	pfs_check_thread(store_relaxed, &words[0]);
	pfs_check_thread(store_relaxed, &words[1]);
	pfs_check_thread(load_twice, 0);
}

/* To know that a call has begun is not to know that it has ended. */
static void tell_and_store(void *argument)
{
	pfs_check_call(WRITE, 1);
	atomic_store_explicit(&low, 1, memory_order_release);
	atomic_store_explicit(&high, 1, memory_order_relaxed);
	pfs_check_return(0);
}

static void be_told_and_load(void *argument)
{
	(void)atomic_load_explicit(&low, memory_order_acquire);
	(void)pfs_check_op(READ, 0, atomic_load_explicit(&high, memory_order_relaxed));
}

PFS_CHECK_SCENARIO(told)
{
	const int64_t none = 0;
	pfs_check_specification(&none, sizeof(none), register_step);
	pfs_check_thread(tell_and_store, 0);
	pfs_check_thread(be_told_and_load, 0);
}

/* ---- two words: each thread stores one and loads the other ---- */

static int64_t words_step(void *state, int operation, int64_t argument, int64_t result)
{
	int64_t *values = state;
	if (operation == READ)
		return values[argument];
	values[argument] = 1;
	return 0;
}

static void store_and_load(void *argument)
{
	atomic_int *own = argument, *other = own == &high ? &low : &high;
	pfs_check_call(WRITE, own == &low);
	atomic_store_explicit(own, 1, memory_order_release);
	pfs_check_return(0);
	(void)pfs_check_op(READ, other == &low,
			   atomic_load_explicit(other, memory_order_acquire));
}

/* By the clock, a call that begins later must see the store of a call that has ended. */
PFS_CHECK_SCENARIO(buffering)
{
	const int64_t none[2] = { 0, 0 };
	pfs_check_specification(none, sizeof(none), words_step);
	pfs_check_thread(store_and_load, &high);
	pfs_check_thread(store_and_load, &low);
}

/* ---- a queue as that of M. Herlihy and J. Wing, 1990: no step of a call is where it takes effect,
 * and for one taker "none" is right, too ---- */

enum { ADD, TAKE };

static atomic_int slots[ROOM], tail;

struct queue {
	int32_t count, values[ROOM];
};

static int64_t queue_step(void *state, int operation, int64_t argument, int64_t result)
{
	struct queue *queue = state;
	if (operation == ADD) {
		queue->values[queue->count++] = (int32_t)argument;
		return 0;
	}
	if (queue->count == 0)
		return NONE;
	int32_t first = queue->values[0];
	for (int i = 1; i < queue->count; i++)
		queue->values[i - 1] = queue->values[i];
	queue->values[--queue->count] = 0; /* states are compared byte by byte */
	return first;
}

static int add(int value)
{
	int at = atomic_fetch_add(&tail, 1);
	atomic_store(&slots[at], value);
	return 0;
}

/* Looks at the tail and again reserves it: two may have the same place. */
static int add_apart(int value)
{
	int at = atomic_load(&tail);
	atomic_store(&slots[at], value);
	atomic_store(&tail, at + 1);
	return 0;
}

static int take(void)
{
	int count = atomic_load(&tail);
	for (int at = 0; at < count; at++) {
		int value = atomic_exchange(&slots[at], 0);
		if (value != 0)
			return value;
	}
	return NONE;
}

static void add_one(void *argument)
{
	int value = *(int *)argument;
	(void)pfs_check_op(ADD, value, add(value));
}

static void add_one_apart(void *argument)
{
	int value = *(int *)argument;
	(void)pfs_check_op(ADD, value, add_apart(value));
}

static void take_one(void *argument)
{
	(void)pfs_check_op(TAKE, 0, take());
}

static void take_all(void *argument)
{
	for (int64_t value = 0; value != NONE;)
		value = pfs_check_op(TAKE, 0, take());
}

static int values[] = { 1, 3 };

static void begin_queue(void (*adder)(void *))
{
	const struct queue none = { 0, { 0 } };
	pfs_check_specification(&none, sizeof(none), queue_step);
	pfs_check_thread(adder, &values[0]);
	pfs_check_thread(take_one, 0);
	pfs_check_at_rest(take_all, 0);
}

PFS_CHECK_SCENARIO(queue)
{
	begin_queue(add_one);
	pfs_check_thread(add_one, &values[1]);
}

PFS_CHECK_SCENARIO(apart_fails)
{
	begin_queue(add_one_apart);
	pfs_check_thread(add_one, &values[1]);
}

/* A second taker: "none", but there was one all the while. */
PFS_CHECK_SCENARIO(none_fails)
{
	begin_queue(add_one);
	add_one(&values[1]);
	pfs_check_thread(take_one, 0);
}

/* ---- a set of numbers below 8, in a word ---- */

enum { INSERT, REMOVE, HAS };

static atomic_uint set;

static int64_t set_step(void *state, int operation, int64_t argument, int64_t result)
{
	uint32_t *bits = state, bit = 1u << argument, had = *bits & bit;
	if (operation == INSERT)
		*bits |= bit;
	if (operation == REMOVE)
		*bits &= ~bit;
	return operation == HAS ? had != 0 : (had != 0) == (operation == REMOVE);
}

static void insert_and_remove(void *argument)
{
	(void)pfs_check_op(INSERT, 1, (atomic_fetch_or(&set, 2) & 2) == 0);
	(void)pfs_check_op(REMOVE, 1, (atomic_fetch_and(&set, ~2u) & 2) != 0);
}

static void look(void *argument)
{
	(void)pfs_check_op(HAS, 1, (atomic_load(&set) & 2) != 0);
}

/* Two that both inserted it. */
static void insert_by_looking(void *argument)
{
	pfs_check_call(INSERT, 1);
	unsigned seen = atomic_load(&set);
	if ((seen & 2) == 0)
		atomic_fetch_or(&set, 2);
	pfs_check_return((seen & 2) == 0);
}

PFS_CHECK_SCENARIO(set)
{
	const uint32_t none = 0;
	pfs_check_specification(&none, sizeof(none), set_step);
	pfs_check_thread(insert_and_remove, 0);
	pfs_check_thread(insert_and_remove, 0);
	pfs_check_thread(look, 0);
}

PFS_CHECK_SCENARIO(inserted_fails)
{
	const uint32_t none = 0;
	pfs_check_specification(&none, sizeof(none), set_step);
	pfs_check_thread(insert_by_looking, 0);
	pfs_check_thread(insert_by_looking, 0);
}

/* ---- calls that do not return, and wrong use ---- */

/* It may have taken effect, or not: the other finds one or the other. */
static void insert_and_stop(void *argument)
{
	pfs_check_call(INSERT, 1);
	atomic_fetch_or(&set, 2);
}

PFS_CHECK_SCENARIO(not_returned)
{
	const uint32_t none = 0;
	pfs_check_specification(&none, sizeof(none), set_step);
	pfs_check_thread(insert_and_stop, 0);
	pfs_check_thread(look, 0);
}

static void insert_not(void *argument)
{
	pfs_check_call(INSERT, 1);
}

PFS_CHECK_SCENARIO(not_begun)
{
	const uint32_t none = 0;
	pfs_check_specification(&none, sizeof(none), set_step);
	pfs_check_thread(insert_not, 0);
	pfs_check_at_rest(look, 0);
}

PFS_CHECK_SCENARIO(unsaid_misused)
{
	pfs_check_thread(look, 0);
}

static void twice(void *argument)
{
	pfs_check_call(HAS, 1);
	pfs_check_call(INSERT, 1);
}

PFS_CHECK_SCENARIO(nested_misused)
{
	const uint32_t none = 0;
	pfs_check_specification(&none, sizeof(none), set_step);
	pfs_check_thread(twice, 0);
}

static void many(void *argument)
{
	for (int i = 0; i <= 64; i++)
		look(0);
}

PFS_CHECK_SCENARIO(many_misused)
{
	const uint32_t none = 0;
	pfs_check_specification(&none, sizeof(none), set_step);
	pfs_check_thread(many, 0);
}

PFS_CHECK_SCENARIO(large_misused)
{
	static char large[4097];
	pfs_check_specification(large, sizeof(large), set_step);
	pfs_check_thread(look, 0);
}
