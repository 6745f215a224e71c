/*
 * hazard.c - hazard pointers (M. M. Michael, 2004): a reader says what it is about to read, and
 * looks again whether it is still there; who takes it away frees it only if no reader says so. A
 * reader that reads twice, and a writer that replaces the object twice.
 *
 * BUG 1: no seq fence between what the reader says and its second look.
 * BUG 2: no second look.
 * BUG 3: no seq fence between taking away and looking at what readers say.
 * BUG 4: the reader takes its word back relaxed.
 * BUG 5: it says so relaxed: a writer that sees the next word does not know that the reader is done
 *        with what it said before. With C11's release sequences, which C++20 has shortened, it did.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <pfslab/check.h>

#if BUG == 4
#define TAKE_BACK memory_order_relaxed
#else
#define TAKE_BACK memory_order_release
#endif
#if BUG == 5
#define SAY memory_order_relaxed
#else
#define SAY memory_order_release
#endif
#define COUNT 2

static _Atomic(int *) object, hazard;
static int *retired[COUNT];

static int *protect(void)
{
	int *seen = atomic_load_explicit(&object, memory_order_acquire), *said;
	do {
		said = seen;
		atomic_store_explicit(&hazard, said, SAY);
#if BUG != 1
		atomic_thread_fence(memory_order_seq_cst);
#endif
#if BUG != 2
		seen = atomic_load_explicit(&object, memory_order_acquire);
#endif
	} while (seen != said);
	return seen;
}

static void read_two(void *argument)
{
	int last = 0;
	(void)argument;
	for (int i = 0; i < 2; i++) {
		int *seen = protect(), value = *seen;
		pfs_check_assert(value >= last);
		last = value;
		atomic_store_explicit(&hazard, 0, TAKE_BACK);
	}
}

static int *make(int value)
{
	int *made = malloc(sizeof(*made));
	*made = value;
	return made;
}

/* Frees of the retired ones what no reader says. */
static void reclaim(void)
{
#if BUG != 3
	atomic_thread_fence(memory_order_seq_cst);
#endif
	int *said = atomic_load_explicit(&hazard, memory_order_acquire);
	for (int i = 0; i < COUNT; i++) {
		if (retired[i] != 0 && retired[i] != said) {
			free(retired[i]);
			retired[i] = 0;
		}
	}
}

static void replace(void *argument)
{
	(void)argument;
	for (int i = 0; i < COUNT; i++) {
		retired[i] = atomic_exchange_explicit(&object, make(i + 2), memory_order_acq_rel);
		reclaim();
	}
}

static void clear(void *argument)
{
	(void)argument;
	reclaim();
	for (int i = 0; i < COUNT; i++)
		pfs_check_assert(retired[i] == 0);
	free(atomic_load(&object));
}

PFS_CHECK_SCENARIO(hazard)
{
	atomic_store(&object, make(1));
	pfs_check_thread(read_two, 0);
	pfs_check_thread(replace, 0);
	pfs_check_at_rest(clear, 0);
}
