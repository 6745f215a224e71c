// modern.cc - what C++ makes of threads: each must be modelled, and hold.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <pfslab/check.h>

namespace {

std::mutex guard;
std::condition_variable changed;
std::once_flag flag;
bool ready;
int sum;
thread_local int own;

int five()
{
	static int *const value = new int(5);
	return *value;
}

void add(const std::shared_ptr<int> &seven)
{
	std::unique_lock<std::mutex> lock(guard);
	changed.wait(lock, [] { return ready; });
	sum += five() + *seven;
	own++;
	pfs_check_assert(own == 1);
	std::call_once(flag, [] { sum++; });
	try {
		throw std::runtime_error("caught");
	} catch (const std::exception &) {
		sum++;
	}
}

void test(void *)
{
	std::vector<std::thread> threads;
	auto seven = std::make_shared<int>(7);
	for (int i = 0; i < 2; i++)
		threads.emplace_back([seven] { add(seven); });
	seven.reset();
	{
		std::lock_guard<std::mutex> lock(guard);
		ready = true;
	}
	changed.notify_all();
	for (auto &thread : threads)
		thread.join();
	pfs_check_assert(sum == 2 * (5 + 7 + 1) + 1);
}

} // namespace

PFS_CHECK_SCENARIO(modern)
{
	pfs_check_thread(test, nullptr);
}
