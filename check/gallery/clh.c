/*
 * clh.c - the queue lock of T. S. Craig, 1993, and of A. Landin and E. Hagersten, 1994: each waits
 * at the flag of who came before, and leaves with that one's link for the next time. Two threads,
 * of which one enters twice.
 *
 * BUG 1: the lock is handed on relaxed.
 * BUG 2: who leaves keeps its own link: entering again, it lowers the flag that says the lock is
 *        free before the other has seen it, and each waits for the other.
 */
#include <stdatomic.h>

#include <pfslab/check.h>

#if BUG == 1
#define HAND_ON memory_order_relaxed
#else
#define HAND_ON memory_order_release
#endif

struct link {
	atomic_int waits;
};
struct place {
	struct link *own, *before;
	int times;
};
static struct link links[3]; /* one for each thread, and the first before all */
static _Atomic(struct link *) last = &links[2];
static struct place places[2] = {{&links[0], 0, 2}, {&links[1], 0, 1}};
static int entries;

static void enter(struct place *place)
{
	atomic_store_explicit(&place->own->waits, 1, memory_order_relaxed);
	place->before = atomic_exchange_explicit(&last, place->own, memory_order_acq_rel);
	while (atomic_load_explicit(&place->before->waits, memory_order_acquire))
		pfs_check_yield();
}

static void leave(struct place *place)
{
	struct link *own = place->own;
#if BUG != 2
	place->own = place->before; /* nobody looks at it any more */
#endif
	atomic_store_explicit(&own->waits, 0, HAND_ON);
}

static void body(void *argument)
{
	struct place *place = argument;
	for (int i = 0; i < place->times; i++) {
		enter(place);
		entries++;
		leave(place);
	}
}

static void check(void *argument)
{
	(void)argument;
	pfs_check_assert(entries == 3);
}

PFS_CHECK_SCENARIO(clh)
{
	pfs_check_thread(body, &places[0]);
	pfs_check_thread(body, &places[1]);
	pfs_check_at_rest(check, 0);
}
