/*
 * atomic_queue.cc - M. Egorushkin's atomic_queue: of pointers, and of anything.
 *
 * PACKAGE libatomic-queue-dev 0.0+git20220518, /usr/include/atomic_queue/atomic_queue.h
 * RUN plain_one_producer: complete
 * RUN atomic_one_producer: found data race on values
 * RUN atomic_two_producers: found data race on values
 * RUN atomic_one_producer --memory tso --no-races: complete
 * RUN atomic_two_producers --memory tso --no-races: complete
 * RUN misused: found livelock
 *
 * atomic: a defect where memory is weaker than x86's. Elements of AtomicQueue are taken by a
 * relaxed load (line 161), or an exchange that only releases (line 172): who takes one has not
 * acquired what its producer did before. What is read by its address machines keep in order; all
 * else not. Later versions acquire in both places.
 */
#include <atomic_queue/atomic_queue.h>
#include <new>

#include <pfslab/check.h>

using namespace atomic_queue;

/* Elements that are atomic, and others; with one producer and one consumer, or any. */
static constexpr bool one = true;
using atomic_any = AtomicQueue<int *, 2, nullptr, false, true, false, !one>;
using atomic_one = AtomicQueue<int *, 2, nullptr, false, true, false, one>;
using plain_any = AtomicQueue2<int *, 2, false, true, false, !one>;
using plain_one = AtomicQueue2<int *, 2, false, true, false, one>;

static int values[3];
static int sums[2];
static union place {
	atomic_any a;
	atomic_one b;
	plain_any c;
	plain_one d;
	place() {}
	~place() {}
} place;

template <class T> static T &queue()
{
	return reinterpret_cast<T &>(place);
}

template <class T> static void produce(void *first)
{
	for (int *at = static_cast<int *>(first); at < static_cast<int *>(first) + 2; at++) {
		*at = static_cast<int>(at - values) + 1;
		while (!queue<T>().try_push(at))
			pfs_check_yield();
	}
}

template <class T> static void produce_one(void *own)
{
	int *at = static_cast<int *>(own);
	*at = static_cast<int>(at - values) + 1;
	queue<T>().push(at);
}

template <class T, int count> static void consume(void *sum)
{
	for (int got = 0; got < count;) {
		int *value;
		if (!queue<T>().try_pop(value)) {
			pfs_check_yield();
			continue;
		}
		*static_cast<int *>(sum) += *value;
		got++;
	}
}

static void check(void *)
{
	pfs_check_assert(sums[0] + sums[1] == 1 + 2);
}

template <class T> static void between_two()
{
	new (&place) T;
	pfs_check_thread(produce<T>, &values[0]);
	pfs_check_thread(consume<T, 2>, &sums[0]);
	pfs_check_at_rest(check, nullptr);
}

template <class T> static void between_three()
{
	new (&place) T;
	pfs_check_thread(produce_one<T>, &values[0]);
	pfs_check_thread(produce_one<T>, &values[1]);
	pfs_check_thread(consume<T, 2>, &sums[0]);
	pfs_check_at_rest(check, nullptr);
}

PFS_CHECK_SCENARIO(atomic_one_producer) { between_two<atomic_one>(); }
PFS_CHECK_SCENARIO(atomic_two_producers) { between_three<atomic_any>(); }
PFS_CHECK_SCENARIO(plain_one_producer) { between_two<plain_one>(); }
PFS_CHECK_SCENARIO(plain_two_producers) { between_three<plain_any>(); }
PFS_CHECK_SCENARIO(misused) { between_three<plain_one>(); }
