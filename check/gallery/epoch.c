/*
 * epoch.c - reclamation by epochs (K. Fraser, 2004): readers say in which epoch they are, the epoch
 * goes on when all that read are in it, and what was taken away in one is freed two later. A reader
 * that enters twice, and a writer that replaces the object, and frees what it may.
 *
 * BUG 1: no seq fence between what the reader says and its reading.
 * BUG 2: no seq fence between taking away and looking at the readers.
 * BUG 3: freed one epoch later.
 * BUG 4: a reader leaves relaxed.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <pfslab/check.h>

#if BUG == 3
#define LATER 1u
#else
#define LATER 2u
#endif
#if BUG == 4
#define LEAVE memory_order_relaxed
#else
#define LEAVE memory_order_release
#endif
#define READS 1u /* added to twice the epoch of a reader */
#define COUNT 2

static _Atomic(int *) object;
static atomic_uint epoch, reader;
static struct {
	int *object;
	unsigned epoch;
} retired[COUNT];

static void enter(void)
{
	unsigned now = atomic_load_explicit(&epoch, memory_order_relaxed);
	atomic_store_explicit(&reader, now * 2 + READS, memory_order_release);
#if BUG != 1
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

static void leave(void)
{
	atomic_store_explicit(&reader, 0, LEAVE);
}

static void read_two(void *argument)
{
	int last = 0;
	(void)argument;
	for (int i = 0; i < 2; i++) {
		enter();
		int value = *atomic_load_explicit(&object, memory_order_acquire);
		pfs_check_assert(value >= last);
		last = value;
		leave();
	}
}

/* The epoch goes on, if no reader is in an earlier one. */
static void advance(void)
{
#if BUG != 2
	atomic_thread_fence(memory_order_seq_cst);
#endif
	unsigned now = atomic_load_explicit(&epoch, memory_order_relaxed);
	unsigned said = atomic_load_explicit(&reader, memory_order_acquire);
	if (said == 0 || said == now * 2 + READS)
		atomic_store_explicit(&epoch, now + 1, memory_order_release);
}

static void reclaim(void)
{
	unsigned now = atomic_load_explicit(&epoch, memory_order_relaxed);
	for (int i = 0; i < COUNT; i++) {
		if (retired[i].object != 0 && now - retired[i].epoch >= LATER) {
			free(retired[i].object);
			retired[i].object = 0;
		}
	}
}

static int *make(int value)
{
	int *made = malloc(sizeof(*made));
	*made = value;
	return made;
}

static void replace(void *argument)
{
	(void)argument;
	for (int i = 0; i < COUNT; i++) {
		retired[i].object = atomic_exchange_explicit(&object, make(i + 2),
							     memory_order_acq_rel);
		retired[i].epoch = atomic_load_explicit(&epoch, memory_order_relaxed);
		advance();
		reclaim();
	}
	advance();
	reclaim();
}

static void clear(void *argument)
{
	(void)argument;
	for (int i = 0; i < 2; i++)
		advance();
	reclaim();
	for (int i = 0; i < COUNT; i++)
		pfs_check_assert(retired[i].object == 0);
	free(atomic_load(&object));
}

PFS_CHECK_SCENARIO(epoch)
{
	atomic_store(&object, make(1));
	pfs_check_thread(read_two, 0);
	pfs_check_thread(replace, 0);
	pfs_check_at_rest(clear, 0);
}
