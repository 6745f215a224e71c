/*
 * moodycamel.cc - C. Desrochers's queue of one reader and one writer.
 *
 * PACKAGE libreaderwriterqueue-dev 1.0.6, /usr/include/readerwriterqueue/readerwriterqueue.h
 * RUN spsc: complete
 * RUN spsc_grows: complete
 * RUN waits --executions 5000: bounded
 * RUN misused: found Concurrent (or re-entrant) enqueue
 *
 * spsc, spsc_grows: the consumer tries once more than there are values.
 * waits: it tries until it has all of them. A try has an effect, even if it fails: try_dequeue sets
 * a flag of its own (unless NDEBUG is defined), and keeps the tail that it has seen. So the loop
 * branches until --steps, and not all executions are searched.
 * misused: it has an assertion of its own for that.
 */
#include <readerwriterqueue/readerwriterqueue.h>
#include <new>

#include <pfslab/check.h>

using queue_type = moodycamel::ReaderWriterQueue<int *, 4>;

static union place {
	queue_type queue;
	place() {}
	~place() {}
} place;
static int values[6];
static int sums[2];

template <int count> static void produce(void *first)
{
	for (int *at = static_cast<int *>(first); at < static_cast<int *>(first) + count; at++) {
		*at = static_cast<int>(at - values) + 1;
		pfs_check_assert(place.queue.enqueue(at));
	}
}

template <int count> static void consume(void *sum)
{
	for (int tries = 0; tries < count + 1; tries++) {
		int *value;
		if (place.queue.try_dequeue(value))
			*static_cast<int *>(sum) += *value;
	}
}

template <int count> static void wait_for(void *sum)
{
	for (int got = 0; got < count;) {
		int *value;
		if (!place.queue.try_dequeue(value)) {
			pfs_check_yield();
			continue;
		}
		*static_cast<int *>(sum) += *value;
		got++;
	}
}

static void check(void *wanted)
{
	pfs_check_assert(sums[0] == *static_cast<int *>(wanted));
	place.queue.~queue_type();
}

static void drain(void *wanted)
{
	for (int *value; place.queue.try_dequeue(value);)
		sums[0] += *value;
	check(wanted);
}

PFS_CHECK_SCENARIO(spsc)
{
	static int wanted = 1 + 2;
	new (&place.queue) queue_type(3);
	pfs_check_thread(produce<2>, &values[0]);
	pfs_check_thread(consume<2>, &sums[0]);
	pfs_check_at_rest(drain, &wanted);
}

/* More than a block has: a second one is allocated. */
PFS_CHECK_SCENARIO(spsc_grows)
{
	static int wanted = 1 + 2 + 3 + 4 + 5;
	new (&place.queue) queue_type(1);
	pfs_check_thread(produce<5>, &values[0]);
	pfs_check_thread(consume<5>, &sums[0]);
	pfs_check_at_rest(drain, &wanted);
}

PFS_CHECK_SCENARIO(waits)
{
	static int wanted = 1 + 2;
	new (&place.queue) queue_type(3);
	pfs_check_thread(produce<2>, &values[0]);
	pfs_check_thread(wait_for<2>, &sums[0]);
	pfs_check_at_rest(drain, &wanted);
}

/* Wrong: two producers. */
PFS_CHECK_SCENARIO(misused)
{
	static int wanted = 0;
	new (&place.queue) queue_type(7);
	pfs_check_thread(produce<1>, &values[0]);
	pfs_check_thread(produce<1>, &values[1]);
	pfs_check_at_rest(check, &wanted);
}
