// waits.cc - what C++20 makes of std::atomic's wait: each right, and some with a bug.
#include <atomic>
#include <barrier>
#include <future>
#include <latch>
#include <semaphore>
#include <stop_token>
#include <thread>

#include <pfslab/check.h>

namespace
{

std::atomic<int> word;
std::atomic<long long> wide;
std::atomic_flag flag;
std::binary_semaphore turn{ 0 };
int data;

void await_word(void *)
{
	word.wait(0, std::memory_order_acquire);
	pfs_check_assert(data == 1);
}

void tell_word(void *argument)
{
	data = 1;
	word = 1;
	if (argument == nullptr)
		word.notify_all();
	else if (argument == &data)
		word.notify_one();
}

void tell_by_release(void *)
{
	data = 1;
	word.store(1, std::memory_order_release);
	word.notify_one();
}

void await_wide(void *)
{
	wide.wait(0);
	flag.wait(false);
	pfs_check_assert(data == 1);
}

void tell_wide(void *)
{
	data = 1;
	wide = 1;
	wide.notify_one();
	flag.test_and_set();
	flag.notify_one();
}

void take_turn(void *)
{
	turn.acquire();
	data++;
	turn.release();
}

void hold_turn(void *)
{
	data++;
	turn.release();
}

void arrive(void *opaque)
{
	static_cast<std::latch *>(opaque)->arrive_and_wait();
	pfs_check_assert(data == 0);
}

} // namespace

PFS_CHECK_SCENARIO(told)
{
	pfs_check_thread(await_word, nullptr);
	pfs_check_thread(tell_word, nullptr);
}

// libstdc++'s notify looks for waiters, by a load that may come before the store.
PFS_CHECK_SCENARIO(told_by_release)
{
	pfs_check_thread(await_word, nullptr);
	pfs_check_thread(tell_by_release, nullptr);
}

PFS_CHECK_SCENARIO(untold)
{
	pfs_check_thread(await_word, nullptr);
	pfs_check_thread(tell_word, &word);
}

PFS_CHECK_SCENARIO(one_too_few)
{
	pfs_check_thread(await_word, nullptr);
	pfs_check_thread(await_word, nullptr);
	pfs_check_thread(tell_word, &data);
}

PFS_CHECK_SCENARIO(by_a_proxy)
{
	pfs_check_thread(await_wide, nullptr);
	pfs_check_thread(tell_wide, nullptr);
}

PFS_CHECK_SCENARIO(semaphore)
{
	pfs_check_thread(take_turn, nullptr);
	pfs_check_thread(hold_turn, nullptr);
}

// libstdc++ 12 sleeps on a value from before its last look, which may be that of now again.
static std::counting_semaphore<1> room{ 1 };

static void enter_and_leave(void *)
{
	room.acquire();
	room.release();
}

PFS_CHECK_SCENARIO(semaphore_shared)
{
	pfs_check_thread(enter_and_leave, nullptr);
	pfs_check_thread(enter_and_leave, nullptr);
}

PFS_CHECK_SCENARIO(semaphore_missing)
{
	pfs_check_thread(take_turn, nullptr);
}

// libstdc++'s counts down by a release, which C++ lets come behind its look for waiters, too.
PFS_CHECK_SCENARIO(latch)
{
	static std::latch both{ 2 };
	pfs_check_thread(arrive, &both);
	pfs_check_thread(arrive, &both);
}

PFS_CHECK_SCENARIO(latch_of_three)
{
	static std::latch three{ 3 };
	pfs_check_thread(arrive, &three);
	pfs_check_thread(arrive, &three);
}

PFS_CHECK_SCENARIO(future)
{
	pfs_check_thread(
		[](void *) {
			std::promise<int> promise;
			auto future = promise.get_future();
			std::thread other([&promise] { promise.set_value(7); });
			pfs_check_assert(future.get() == 7);
			other.join();
		},
		nullptr);
}

PFS_CHECK_SCENARIO(stop)
{
	pfs_check_thread(
		[](void *) {
			std::jthread other([](std::stop_token token) {
				while (!token.stop_requested())
					std::this_thread::yield();
			});
		},
		nullptr);
}
