/*
 * xenium.cc - M. Poeter's xenium: D. Vyukov's ring, Chase and Lev's deque, a sequence lock.
 *
 * PACKAGE libxenium-dev 0.0.2, /usr/include/xenium/vyukov_bounded_queue.hpp
 * RUN vyukov: complete
 * RUN vyukov_pops: complete
 * RUN seqlock: complete
 * RUN chase_lev: found b == t - 1
 * RUN chase_lev_twice: found nobody takes a task twice
 * RUN chase_lev --memory tso: complete
 * RUN chase_lev_two_thieves --memory tso: complete
 * RUN misused: found plain access to a bad address
 *
 * chase_lev: a defect where memory is weaker than x86's. A thief loads `top` relaxed and then
 * `bottom` (lines 133 and 137), which nothing orders: by a new top and an old bottom it steals a
 * task that its owner has popped, so that it runs twice. ARMv8 may perform a relaxed load behind
 * an acquiring one that follows it. N. M. Le and others (2013) acquire the top, and have a fence
 * between the two.
 */
#include <xenium/chase_work_stealing_deque.hpp>
#include <xenium/left_right.hpp>
#include <xenium/seqlock.hpp>
#include <xenium/vyukov_bounded_queue.hpp>
#include <memory>

#include <pfslab/check.h>

static int values[3];
static int sums[3];

using ring_type = xenium::vyukov_bounded_queue<int *>;
static ring_type *ring;

static void push_one(void *own)
{
	int *at = static_cast<int *>(own);
	*at = static_cast<int>(at - values) + 1;
	while (!ring->try_push_strong(at))
		pfs_check_yield();
}

static void pop_one(void *sum)
{
	int *value;
	while (!ring->try_pop_strong(value))
		pfs_check_yield();
	*static_cast<int *>(sum) += *value;
}

static void check_ring(void *)
{
	pfs_check_assert(sums[0] + sums[1] == 1 + 2);
	delete ring;
}

PFS_CHECK_SCENARIO(vyukov)
{
	ring = new ring_type(2);
	pfs_check_thread(push_one, &values[0]);
	pfs_check_thread(push_one, &values[1]);
	pfs_check_thread(pop_one, &sums[0]);
	pfs_check_at_rest([](void *) { pop_one(&sums[1]); check_ring(nullptr); }, nullptr);
}

PFS_CHECK_SCENARIO(vyukov_pops)
{
	ring = new ring_type(2);
	push_one(&values[1]);
	pfs_check_thread(push_one, &values[0]);
	pfs_check_thread(pop_one, &sums[0]);
	pfs_check_thread(pop_one, &sums[1]);
	pfs_check_at_rest(check_ring, nullptr);
}

using deque_type = xenium::chase_work_stealing_deque<int>;
static deque_type *tasks;

static void own(void *)
{
	int *task;
	for (int i = 0; i < 2; i++) {
		values[i] = i + 1;
		pfs_check_assert(tasks->try_push(&values[i]));
	}
	for (int i = 0; i < 2; i++) {
		if (tasks->try_pop(task))
			sums[0] += *task;
	}
}

static void steal(void *sum)
{
	int *task;
	if (tasks->try_steal(task))
		*static_cast<int *>(sum) += *task;
}

static void check_tasks(void *)
{
	int *task;
	while (tasks->try_pop(task))
		sums[0] += *task;
	pfs_check_assert(sums[0] + sums[1] + sums[2] == 1 + 2);
	delete tasks;
}

PFS_CHECK_SCENARIO(chase_lev)
{
	tasks = new deque_type;
	pfs_check_thread(own, nullptr);
	pfs_check_thread(steal, &sums[1]);
	pfs_check_at_rest(check_tasks, nullptr);
}

static void check_twice(void *)
{
	pfs_check_assert(sums[0] + sums[1] <= 1 + 2 && "nobody takes a task twice");
	delete tasks;
}

PFS_CHECK_SCENARIO(chase_lev_twice)
{
	tasks = new deque_type;
	pfs_check_thread(own, nullptr);
	pfs_check_thread(steal, &sums[1]);
	pfs_check_at_rest(check_twice, nullptr);
}

PFS_CHECK_SCENARIO(chase_lev_two_thieves)
{
	tasks = new deque_type;
	pfs_check_thread(own, nullptr);
	pfs_check_thread(steal, &sums[1]);
	pfs_check_thread(steal, &sums[2]);
	pfs_check_at_rest(check_tasks, nullptr);
}

/* Wrong: who does not own it pops. */
static void pop_of_others(void *sum)
{
	int *task;
	if (tasks->try_pop(task))
		*static_cast<int *>(sum) += *task;
}

PFS_CHECK_SCENARIO(misused)
{
	tasks = new deque_type;
	pfs_check_thread(own, nullptr);
	pfs_check_thread(pop_of_others, &sums[1]);
	pfs_check_at_rest(check_tasks, nullptr);
}

struct both {
	long a, b;
};
static xenium::seqlock<both> *locked;

PFS_CHECK_SCENARIO(seqlock)
{
	locked = new xenium::seqlock<both>(both{ 0, 0 });
	pfs_check_thread([](void *) { locked->store(both{ 1, 1 }); }, nullptr);
	pfs_check_thread([](void *) {
		both seen = locked->load();
		pfs_check_assert(seen.a == seen.b);
	}, nullptr);
	pfs_check_at_rest([](void *) { delete locked; }, nullptr);
}
