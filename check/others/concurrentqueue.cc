/*
 * concurrentqueue.cc - C. Desrochers's queue of many producers, each with a token, and consumers.
 *
 * PACKAGE libconcurrentqueue-dev 1.0.3, /usr/include/concurrentqueue/concurrentqueue.h
 * RUN two_producers: complete
 * RUN two_consumers: complete
 * RUN misused: found (concurrentqueue.h:1896); thread 1 reads
 */
#include <concurrentqueue/concurrentqueue.h>

#include <pfslab/check.h>

struct traits : moodycamel::ConcurrentQueueDefaultTraits {
	static const size_t BLOCK_SIZE = 2;
	static const size_t INITIAL_IMPLICIT_PRODUCER_HASH_SIZE = 0;
	static const size_t EXPLICIT_INITIAL_INDEX_SIZE = 2;
};
using queue_type = moodycamel::ConcurrentQueue<int *, traits>;
static queue_type *queue;
static moodycamel::ProducerToken *tokens[2];
static int values[3];
static int sums[2];

static void enqueue(void *own)
{
	int *at = static_cast<int *>(own);
	*at = static_cast<int>(at - values) + 1;
	queue->enqueue(*tokens[at - values], at);
}

static void dequeue(void *sum)
{
	int *value;
	if (queue->try_dequeue(value))
		*static_cast<int *>(sum) += *value;
}

static void check(void *)
{
	int *value;
	int sum = sums[0] + sums[1];
	while (queue->try_dequeue(value))
		sum += *value;
	pfs_check_assert(sum == 1 + 2);
	delete tokens[0];
	delete tokens[1];
	delete queue;
}

PFS_CHECK_SCENARIO(two_producers)
{
	queue = new queue_type(4);
	for (auto &token : tokens)
		token = new moodycamel::ProducerToken(*queue);
	pfs_check_thread(enqueue, &values[0]);
	pfs_check_thread(enqueue, &values[1]);
	pfs_check_thread(dequeue, &sums[0]);
	pfs_check_at_rest(check, nullptr);
}

PFS_CHECK_SCENARIO(two_consumers)
{
	queue = new queue_type(4);
	for (auto &token : tokens)
		token = new moodycamel::ProducerToken(*queue);
	enqueue(&values[1]);
	pfs_check_thread(enqueue, &values[0]);
	pfs_check_thread(dequeue, &sums[0]);
	pfs_check_thread(dequeue, &sums[1]);
	pfs_check_at_rest(check, nullptr);
}

/* Wrong: one token for two threads. */
PFS_CHECK_SCENARIO(misused)
{
	queue = new queue_type(4);
	for (auto &token : tokens)
		token = new moodycamel::ProducerToken(*queue);
	pfs_check_thread(enqueue, &values[0]);
	pfs_check_thread([](void *) { queue->enqueue(*tokens[0], &values[1]); }, nullptr);
}
