/*
 * boost_lockfree.cc - Boost's ring, queue and stack, of a fixed size, with std::atomic.
 *
 * PACKAGE libboost-dev 1.74.0, /usr/include/boost/lockfree/queue.hpp
 * BUILD -DBOOST_LOCKFREE_FORCE_STD_ATOMIC
 * RUN spsc: complete
 * RUN misused: found (spsc_queue.hpp:113); thread 1 writes
 * RUN queue_push: found thread 1 reads
 * RUN queue_pop: found (freelist.hpp:301); thread 1 reads (atomic)
 * RUN queue_pop --no-races: complete
 * RUN stack_push: found (freelist.hpp:296); nothing orders
 * RUN stack_push --no-races: complete
 * RUN stack_pop: found (stack.hpp:531); nothing orders
 * RUN stack_pop --no-races: complete
 *
 * queue, stack: who pops reads the link of a node, plainly, that another one may have popped
 * meanwhile, given back, and linked anew. The tag of what is exchanged then differs, and the value
 * is thrown away: races of C11 by their design.
 */
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <boost/lockfree/stack.hpp>
#include <new>

#include <pfslab/check.h>

using namespace boost::lockfree;

using ring_type = spsc_queue<int, capacity<2>>;
using queue_type = queue<int, fixed_sized<true>, capacity<4>>;
using stack_type = stack<int, fixed_sized<true>, capacity<4>>;

template <class T> struct place {
	alignas(64) unsigned char bytes[sizeof(T)];
	T &operator*() { return *reinterpret_cast<T *>(bytes); }
	void make() { new (bytes) T; }
	void destroy() { (**this).~T(); }
};
static place<ring_type> ring;
static place<queue_type> fifo;
static place<stack_type> lifo;
static int values[3];
static int sums[2];

/* Plain memory goes along with what is pushed. */
template <class T> static void push(T &to, int value)
{
	values[value - 1] = value;
	while (!to.push(value))
		pfs_check_yield();
}

template <class T> static void pop(T &from, void *sum)
{
	int value;
	if (from.pop(value))
		*static_cast<int *>(sum) += values[value - 1];
}

static void produce(void *)
{
	push(*ring, 1);
	push(*ring, 2);
	push(*ring, 3);
}

static void consume(void *sum)
{
	for (int i = 0; i < 3; i++) {
		int value;
		while (!(*ring).pop(value))
			pfs_check_yield();
		*static_cast<int *>(sum) += values[value - 1];
	}
}

static void check_ring(void *)
{
	pfs_check_assert(sums[0] == 6);
	ring.destroy();
}

PFS_CHECK_SCENARIO(spsc)
{
	ring.make();
	pfs_check_thread(produce, nullptr);
	pfs_check_thread(consume, &sums[0]);
	pfs_check_at_rest(check_ring, nullptr);
}

static void push_one(void *) { push(*ring, 1); }
static void push_two(void *) { push(*ring, 2); }

/* Wrong: two producers. */
PFS_CHECK_SCENARIO(misused)
{
	ring.make();
	pfs_check_thread(push_one, nullptr);
	pfs_check_thread(push_two, nullptr);
	pfs_check_at_rest([](void *) { ring.destroy(); }, nullptr);
}

template <class T, place<T> &at> struct shared {
	static void push_one(void *) { push(*at, 2); }
	static void push_two(void *) { push(*at, 3); }
	static void pop_one(void *sum) { pop(*at, sum); }
	static void check(void *)
	{
		int sum = sums[0] + sums[1], value;
		while ((*at).pop(value))
			sum += value;
		pfs_check_assert(sum == 6);
		at.destroy();
	}
	static void begin(bool pushers)
	{
		at.make();
		push(*at, 1);
		if (pushers) {
			pfs_check_thread(push_one, nullptr);
			pfs_check_thread(push_two, nullptr);
		} else {
			push(*at, 2);
			push(*at, 3);
			pfs_check_thread(pop_one, &sums[1]);
		}
		pfs_check_thread(pop_one, &sums[0]);
		pfs_check_at_rest(check, nullptr);
	}
};

PFS_CHECK_SCENARIO(queue_push)
{
	shared<queue_type, fifo>::begin(true);
}

PFS_CHECK_SCENARIO(queue_pop)
{
	shared<queue_type, fifo>::begin(false);
}

PFS_CHECK_SCENARIO(stack_push)
{
	shared<stack_type, lifo>::begin(true);
}

PFS_CHECK_SCENARIO(stack_pop)
{
	shared<stack_type, lifo>::begin(false);
}
