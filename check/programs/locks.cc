// locks.cc - what C++ makes of locks with a time limit, of shared ones and of clocks.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include <pfslab/check.h>

namespace {

std::shared_mutex shared;
std::timed_mutex timed;
std::shared_timed_mutex shared_timed;
std::mutex mutex;
std::condition_variable condition;
int value;

void write(void *)
{
	std::unique_lock<std::shared_mutex> lock(shared);
	value++;
}

void read(void *)
{
	std::shared_lock<std::shared_mutex> lock(shared);
	pfs_check_assert(value >= 0);
}

PFS_CHECK_SCENARIO(shared_mutex)
{
	pfs_check_thread(write, nullptr);
	pfs_check_thread(read, nullptr);
	pfs_check_thread(read, nullptr);
}

void write_without(void *)
{
	value++;
}

PFS_CHECK_SCENARIO(shared_mutex_fails)
{
	pfs_check_thread(write_without, nullptr);
	pfs_check_thread(read, nullptr);
}

void try_for(void *)
{
	if (timed.try_lock_for(std::chrono::seconds(1))) {
		value++;
		timed.unlock();
	}
	if (shared_timed.try_lock_shared_for(std::chrono::seconds(1)))
		shared_timed.unlock_shared();
}

PFS_CHECK_SCENARIO(timed_mutex)
{
	pfs_check_thread(try_for, nullptr);
	pfs_check_thread(try_for, nullptr);
}

void wait_for(void *)
{
	std::unique_lock<std::mutex> lock(mutex);
	while (value == 0 &&
	       condition.wait_for(lock, std::chrono::seconds(1)) == std::cv_status::no_timeout)
		continue;
}

void tell(void *)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(1));
	std::lock_guard<std::mutex> lock(mutex);
	value = 1;
	condition.notify_one();
}

PFS_CHECK_SCENARIO(wait_or_late)
{
	pfs_check_thread(wait_for, nullptr);
	pfs_check_thread(tell, nullptr);
}

void wait_for_sure(void *)
{
	std::unique_lock<std::mutex> lock(mutex);
	pfs_check_assert(condition.wait_for(lock, std::chrono::seconds(1), [] { return value; }));
}

PFS_CHECK_SCENARIO(wait_for_sure_fails)
{
	pfs_check_thread(wait_for_sure, nullptr);
	pfs_check_thread(tell, nullptr);
}

void reads_twice(void *)
{
	std::shared_lock<std::shared_mutex> lock(shared);
	std::shared_lock<std::shared_mutex> again(shared);
}

PFS_CHECK_SCENARIO(reads_twice)
{
	pfs_check_thread(reads_twice, nullptr);
}

template <typename Clock> void watch()
{
	auto first = Clock::now();
	std::this_thread::sleep_for(std::chrono::seconds(2));
	pfs_check_assert(Clock::now() - first >= std::chrono::seconds(2));
}

void watch_all(void *)
{
	watch<std::chrono::steady_clock>();
	watch<std::chrono::system_clock>();
	watch<std::chrono::high_resolution_clock>();
}

PFS_CHECK_SCENARIO(clocks)
{
	pfs_check_thread(watch_all, nullptr);
}

} // namespace
