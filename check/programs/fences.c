/*
 * fences.c - what fences order and what not, orders of failure, and operations that litmus tests of
 * pfs-sim do not have. A scenario that ends in _fails must fail with --memory views, the others
 * must not.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

static atomic_int x, y;
static int r[4], data;

static void write_x(void *argument)
{
	atomic_store_explicit(&x, 1, memory_order_relaxed);
}

static void write_y(void *argument)
{
	atomic_store_explicit(&y, 1, memory_order_relaxed);
}

/* ---- store buffering ---- */

#define CROSSED(name, fence)                                             \
	static void name##_one(void *argument)                           \
	{                                                                \
		atomic_store_explicit(&x, 1, memory_order_relaxed);      \
		atomic_thread_fence(fence);                              \
		r[0] = atomic_load_explicit(&y, memory_order_relaxed);   \
	}                                                                \
	static void name##_other(void *argument)                         \
	{                                                                \
		atomic_store_explicit(&y, 1, memory_order_relaxed);      \
		atomic_thread_fence(fence);                              \
		r[1] = atomic_load_explicit(&x, memory_order_relaxed);   \
	}                                                                \
	PFS_CHECK_SCENARIO(name)                                         \
	{                                                                \
		pfs_check_thread(name##_one, 0);                         \
		pfs_check_thread(name##_other, 0);                       \
		pfs_check_at_rest(not_both_old, 0);                      \
	}

static void not_both_old(void *argument)
{
	pfs_check_assert(r[0] == 1 || r[1] == 1);
}

CROSSED(crossed, memory_order_seq_cst)
CROSSED(crossed_acq_rel_fails, memory_order_acq_rel)

/* ---- two readers of two writers ---- */

#define READERS(name, fence)                                             \
	static void name##_one(void *argument)                           \
	{                                                                \
		r[0] = atomic_load_explicit(&x, memory_order_relaxed);   \
		atomic_thread_fence(fence);                              \
		r[1] = atomic_load_explicit(&y, memory_order_relaxed);   \
	}                                                                \
	static void name##_other(void *argument)                         \
	{                                                                \
		r[2] = atomic_load_explicit(&y, memory_order_relaxed);   \
		atomic_thread_fence(fence);                              \
		r[3] = atomic_load_explicit(&x, memory_order_relaxed);   \
	}                                                                \
	PFS_CHECK_SCENARIO(name)                                         \
	{                                                                \
		pfs_check_thread(write_x, 0);                            \
		pfs_check_thread(write_y, 0);                            \
		pfs_check_thread(name##_one, 0);                         \
		pfs_check_thread(name##_other, 0);                       \
		pfs_check_at_rest(one_order, 0);                         \
	}

static void one_order(void *argument)
{
	pfs_check_assert(!(r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0));
}

READERS(readers, memory_order_seq_cst)
READERS(readers_acquire_fails, memory_order_acquire)

/* ---- plain data behind a flag ---- */

#define MESSAGE(name, release, acquire)                                  \
	static void name##_from(void *argument)                          \
	{                                                                \
		data = 42;                                               \
		release;                                                 \
		atomic_store_explicit(&x, 1, memory_order_relaxed);      \
	}                                                                \
	static void name##_to(void *argument)                            \
	{                                                                \
		if (atomic_load_explicit(&x, memory_order_relaxed) == 0) \
			return;                                          \
		acquire;                                                 \
		pfs_check_assert(data == 42);                            \
	}                                                                \
	PFS_CHECK_SCENARIO(name)                                         \
	{                                                                \
		pfs_check_thread(name##_from, 0);                        \
		pfs_check_thread(name##_to, 0);                          \
	}

MESSAGE(message, atomic_thread_fence(memory_order_release),
	atomic_thread_fence(memory_order_acquire))
MESSAGE(message_seq, atomic_thread_fence(memory_order_seq_cst),
	atomic_thread_fence(memory_order_seq_cst))
MESSAGE(message_no_release_fails, (void)0, atomic_thread_fence(memory_order_acquire))
MESSAGE(message_no_acquire_fails, atomic_thread_fence(memory_order_release), (void)0)
MESSAGE(message_signal_fails, atomic_signal_fence(memory_order_seq_cst),
	atomic_signal_fence(memory_order_seq_cst))

/* ---- a compare-and-swap that fails has an order, too ---- */

#define FAILURE(name, order)                                                           \
	static void name##_to(void *argument)                                          \
	{                                                                              \
		int seen = 0;                                                          \
		if (!atomic_compare_exchange_strong_explicit(&x, &seen, 0,             \
							     memory_order_acquire, order)) \
			pfs_check_assert(data == 42);                                  \
	}                                                                              \
	PFS_CHECK_SCENARIO(name)                                                       \
	{                                                                              \
		pfs_check_thread(message_from, 0);                                     \
		pfs_check_thread(name##_to, 0);                                        \
	}

FAILURE(failure, memory_order_acquire)
FAILURE(failure_relaxed_fails, memory_order_relaxed)

/* ---- all operations, and sizes ---- */

static atomic_uchar byte;
static atomic_ushort half;
static atomic_uint word;
static atomic_ulong large;

#define CHANGES(object, type, ones)                               \
	do {                                                      \
		pfs_check_assert(atomic_fetch_add(&(object), 3) == 0); \
		pfs_check_assert(atomic_fetch_sub(&(object), 4) == 3); \
		pfs_check_assert(atomic_load(&(object)) == (ones));    \
		atomic_fetch_and(&(object), 12);                       \
		atomic_fetch_or(&(object), 3);                         \
		atomic_fetch_xor(&(object), 5);                        \
		pfs_check_assert(atomic_exchange(&(object), 6) == 10); \
		__atomic_fetch_nand((type *)&(object), 3, __ATOMIC_SEQ_CST); \
		pfs_check_assert(atomic_load(&(object)) == ((ones) & ~2ul));  \
	} while (0)

static void change_all(void *argument)
{
	CHANGES(byte, unsigned char, 0xFFul);
	CHANGES(half, unsigned short, 0xFFFFul);
	CHANGES(word, unsigned, 0xFFFFFFFFul);
	CHANGES(large, unsigned long, ~0ul);
}

PFS_CHECK_SCENARIO(operations)
{
	pfs_check_thread(change_all, 0);
}

/* Plain accesses of a thread see what it stored atomically, also with a store buffer. */
static int own;

static void store_own(void *argument)
{
	__atomic_store_n(&own, 1, __ATOMIC_RELAXED);
	pfs_check_assert(own == 1);
	own = 2;
	pfs_check_assert(__atomic_load_n(&own, __ATOMIC_RELAXED) == 2);
}

static void check_own(void *argument)
{
	pfs_check_assert(own == 2);
}

PFS_CHECK_SCENARIO(own_store)
{
	pfs_check_thread(store_own, 0);
	pfs_check_thread(write_x, 0);
	pfs_check_at_rest(check_own, 0);
}

/* ThreadSanitizer would take this for an order. */
void AnnotateHappensBefore(const char *file, int line, void *address);
void AnnotateHappensAfter(const char *file, int line, void *address);

static void write_annotated(void *argument)
{
	data = 1;
	AnnotateHappensBefore(__FILE__, __LINE__, &x);
	write_x(argument);
}

static void read_annotated(void *argument)
{
	if (atomic_load_explicit(&x, memory_order_relaxed) == 0)
		return;
	AnnotateHappensAfter(__FILE__, __LINE__, &x);
	r[0] = data;
}

PFS_CHECK_SCENARIO(annotated_fails)
{
	pfs_check_thread(write_annotated, 0);
	pfs_check_thread(read_annotated, 0);
}
