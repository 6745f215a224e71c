/*
 * ck_fifo.c - Concurrency Kit's queue of one producer and one consumer.
 *
 * PACKAGE libck-dev 0.7.1, /usr/include/ck_fifo.h
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -include ck_pr_c11.h
 * RUN spsc: found (ck_fifo.h:129); thread 1 reads
 * RUN misused: found (ck_fifo.h:169)
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -DPORT_DEPENDENCIES -include ck_pr_c11.h
 * RUN spsc: complete
 * RUN locked: complete
 *
 * spsc: the consumer reads an entry behind the load that found it, without a fence. Machines keep
 * the order of an address that was loaded and of what is loaded by it; C11 does not.
 */
#include <ck_fifo.h>
#include <pfslab/check.h>

static ck_fifo_spsc_t fifo;
static ck_fifo_spsc_entry_t links[5];
static int values[4];
static int sum;

static void produce(void *first)
{
	for (int *at = first; at < (int *)first + 2; at++) {
		ck_fifo_spsc_entry_t *link = ck_fifo_spsc_recycle(&fifo);
		*at = (int)(at - values) + 1;
		ck_fifo_spsc_enqueue(&fifo, link != NULL ? link : &links[at - values], at);
	}
}

static void consume(void *argument)
{
	int *value;
	for (int got = 0; got < 2;) {
		if (!ck_fifo_spsc_dequeue(&fifo, &value)) {
			ck_pr_stall();
			continue;
		}
		sum += *value;
		got++;
	}
}

static void produce_locked(void *own)
{
	int *at = own;
	*at = (int)(at - values) + 1;
	ck_fifo_spsc_enqueue_lock(&fifo);
	ck_fifo_spsc_enqueue(&fifo, &links[at - values], at);
	ck_fifo_spsc_enqueue_unlock(&fifo);
}

static void check(void *argument)
{
	pfs_check_assert(sum == 3);
}

PFS_CHECK_SCENARIO(spsc)
{
	ck_fifo_spsc_init(&fifo, &links[4]);
	pfs_check_thread(produce, &values[0]);
	pfs_check_thread(consume, 0);
	pfs_check_at_rest(check, 0);
}

PFS_CHECK_SCENARIO(locked)
{
	ck_fifo_spsc_init(&fifo, &links[4]);
	pfs_check_thread(produce_locked, &values[0]);
	pfs_check_thread(produce_locked, &values[1]);
	pfs_check_thread(consume, 0);
	pfs_check_at_rest(check, 0);
}

/* Wrong: two that do not lock. */
PFS_CHECK_SCENARIO(misused)
{
	ck_fifo_spsc_init(&fifo, &links[4]);
	pfs_check_thread(produce, &values[0]);
	pfs_check_thread(produce, &values[2]);
}
