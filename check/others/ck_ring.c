/*
 * ck_ring.c - Concurrency Kit's ring.
 *
 * PACKAGE libck-dev 0.7.1, /usr/include/ck_ring.h
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -include ck_pr_c11.h
 * RUN spsc: complete
 * RUN two_consumers: complete
 * RUN two_that_try: complete
 * RUN two_producers: found (ck_ring.h:374); thread 2 reads
 * RUN late_consumer: found (ck_ring.h:464); thread 0 writes
 * RUN late_consumer --memory tso --no-races: complete
 * RUN misused: found data race on ring+64
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -DPORT_DEPENDENCIES -include ck_pr_c11.h
 * RUN two_producers: complete
 *
 * two_producers: a producer waits until the one before it has published (line 380), relaxed and
 * without a fence, and publishes itself: a consumer acquires the last one's slot, and not the
 * first one's. ARMv8 keeps it, by the condition before the store and since all processors see a
 * store at once; C11, and machines that are not like that, do not.
 * late_consumer: a consumer copies a slot that a producer fills again, and throws the copy away. A
 * race of C11 by its design: the exchange behind it fails.
 */
#include <ck_ring.h>
#include <pfslab/check.h>

#define SLOTS 4 /* one stays empty */
static ck_ring_t ring;
static ck_ring_buffer_t buffer[SLOTS];
static int values[4];
static int sums[2];

/* Pushes its values. */
#define PRODUCER(name, push, count)                                          \
	static void produce_##name(void *first)                              \
	{                                                                    \
		for (int *at = first; at < (int *)first + (count); at++) {   \
			*at = (int)(at - values) + 1;                        \
			while (!push(&ring, buffer, at))                     \
				ck_pr_stall();                               \
		}                                                            \
	}
PRODUCER(spsc, ck_ring_enqueue_spsc, 2)
PRODUCER(mpmc, ck_ring_enqueue_mpmc, 2)
PRODUCER(three, ck_ring_enqueue_mpmc, 3)
PRODUCER(one, ck_ring_enqueue_mpmc, 1)

/* Pops so often, and adds what it got. */
#define CONSUMER(name, pop, count)                                 \
	static void consume_##name(void *sum)                      \
	{                                                          \
		int *value;                                        \
		for (int got = 0; got < (count);) {                \
			if (!pop(&ring, buffer, &value)) {         \
				ck_pr_stall();                     \
				continue;                          \
			}                                          \
			*(int *)sum += *value;                     \
			got++;                                     \
		}                                                  \
	}
CONSUMER(spsc, ck_ring_dequeue_spsc, 2)
CONSUMER(mpmc, ck_ring_dequeue_mpmc, 1)
CONSUMER(twice, ck_ring_dequeue_mpmc, 2)
CONSUMER(try, ck_ring_trydequeue_mpmc, 1)

static void check_two(void *argument)
{
	pfs_check_assert(sums[0] + sums[1] == 1 + 2);
}

static void check_three(void *argument)
{
	pfs_check_assert(sums[0] + sums[1] == 1 + 2 + 3);
}

PFS_CHECK_SCENARIO(spsc)
{
	ck_ring_init(&ring, 2);
	pfs_check_thread(produce_spsc, &values[0]);
	pfs_check_thread(consume_spsc, &sums[0]);
	pfs_check_at_rest(check_two, 0);
}

PFS_CHECK_SCENARIO(two_producers)
{
	ck_ring_init(&ring, SLOTS);
	pfs_check_thread(produce_one, &values[0]);
	pfs_check_thread(produce_one, &values[1]);
	pfs_check_thread(consume_spsc, &sums[0]);
	pfs_check_at_rest(check_two, 0);
}

PFS_CHECK_SCENARIO(two_consumers)
{
	ck_ring_init(&ring, SLOTS);
	pfs_check_thread(produce_mpmc, &values[0]);
	pfs_check_thread(consume_mpmc, &sums[0]);
	pfs_check_thread(consume_mpmc, &sums[1]);
	pfs_check_at_rest(check_two, 0);
}

/* The slot that a late one looks at is filled again. */
PFS_CHECK_SCENARIO(late_consumer)
{
	ck_ring_init(&ring, 2);
	pfs_check_thread(produce_three, &values[0]);
	pfs_check_thread(consume_mpmc, &sums[0]);
	pfs_check_thread(consume_twice, &sums[1]);
	pfs_check_at_rest(check_three, 0);
}

PFS_CHECK_SCENARIO(two_that_try)
{
	ck_ring_init(&ring, 2);
	pfs_check_thread(produce_mpmc, &values[0]);
	pfs_check_thread(consume_try, &sums[0]);
	pfs_check_thread(consume_try, &sums[1]);
	pfs_check_at_rest(check_two, 0);
}

/* Wrong: only one may push so. */
PFS_CHECK_SCENARIO(misused)
{
	ck_ring_init(&ring, 2 * SLOTS);
	pfs_check_thread(produce_spsc, &values[0]);
	pfs_check_thread(produce_spsc, &values[2]);
}
