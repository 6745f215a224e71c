// state.cc - what a C++ program keeps: globals whose constructors allocate, libstdc++'s own data,
// and exceptions that pass through std::call_once. Scenarios that end in _race have one.
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <queue>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <pfslab/check.h>

namespace
{

std::mutex mutex;
std::vector<int> numbers{ 1, 2, 3 };

void push(void *)
{
	std::lock_guard<std::mutex> guard(mutex);
	numbers.push_back(numbers[0]++);
}

void pushed(void *)
{
	pfs_check_assert(numbers.size() == 5 && numbers[0] == 3 && numbers[3] + numbers[4] == 3);
}

PFS_CHECK_SCENARIO(global_vector)
{
	pfs_check_thread(push, nullptr);
	pfs_check_thread(push, nullptr);
	pfs_check_at_rest(pushed, nullptr);
}

struct Large {
	std::array<char, 600> bytes;
};
std::queue<Large> queue;

void pass(void *)
{
	std::lock_guard<std::mutex> guard(mutex);
	queue.push(Large{});
	queue.push(Large{});
	queue.pop();
}

void drain(void *)
{
	pfs_check_assert(queue.size() == 2);
}

PFS_CHECK_SCENARIO(global_queue)
{
	pfs_check_thread(pass, nullptr);
	pfs_check_thread(pass, nullptr);
	pfs_check_at_rest(drain, nullptr);
}

std::shared_ptr<int> shared = std::make_shared<int>(1);

void replace(void *)
{
	std::atomic_store(&shared, std::make_shared<int>(2));
}

void read(void *)
{
	const std::shared_ptr<int> found = std::atomic_load(&shared);
	pfs_check_assert(*found == 1 || *found == 2);
}

PFS_CHECK_SCENARIO(global_shared)
{
	pfs_check_thread(replace, nullptr);
	pfs_check_thread(read, nullptr);
}

std::once_flag once;
std::atomic<int> tries;

void try_once(void *)
{
	try {
		std::call_once(once, [] {
			if (tries++ == 0)
				throw std::runtime_error("the first one fails");
		});
	} catch (const std::runtime_error &error) {
		pfs_check_assert(error.what() == std::string("the first one fails"));
	}
}

void tried(void *)
{
	pfs_check_assert(tries == 2);
}

PFS_CHECK_SCENARIO(once_throws)
{
	pfs_check_thread(try_once, nullptr);
	pfs_check_thread(try_once, nullptr);
	pfs_check_at_rest(tried, nullptr);
}

// An exception orders nothing, whatever the run-time locks.
int data;
std::atomic<bool> thrown;

void throw_one()
{
	try {
		throw 1;
	} catch (int) {
	}
}

void write_and_throw(void *)
{
	data = 1;
	throw_one();
	thrown.store(true, std::memory_order_relaxed);
}

void throw_and_read(void *)
{
	if (!thrown.load(std::memory_order_relaxed))
		return;
	throw_one();
	pfs_check_assert(data == 1);
}

PFS_CHECK_SCENARIO(throw_race)
{
	pfs_check_thread(write_and_throw, nullptr);
	pfs_check_thread(throw_and_read, nullptr);
}

// The destructor joins a thread that waits for the routine which threw.
struct Joins {
	std::thread thread;
	~Joins()
	{
		thread.join();
	}
};
std::once_flag outer, inner;
int inner_count;

void try_nested(void *)
{
	try {
		const Joins joins{ std::thread(
			[] { std::call_once(inner, [] { inner_count++; }); }) };
		std::call_once(outer, [] {
			std::call_once(inner, [] { throw 1; });
			std::call_once(inner, [] { inner_count++; });
		});
	} catch (int) {
	}
}

void nested(void *)
{
	pfs_check_assert(inner_count == 1);
}

PFS_CHECK_SCENARIO(once_nested)
{
	pfs_check_thread(try_nested, nullptr);
	pfs_check_at_rest(nested, nullptr);
}

std::array<char, 16> bytes;

void fill(void *)
{
	bytes.fill(1);
}

PFS_CHECK_SCENARIO(fill_race)
{
	pfs_check_thread(fill, nullptr);
	pfs_check_thread(fill, nullptr);
}

std::string text;

void append(void *)
{
	text.push_back('a');
}

PFS_CHECK_SCENARIO(text_race)
{
	pfs_check_thread(append, nullptr);
	pfs_check_thread(append, nullptr);
}

// One yield, and then on without the lock.
std::atomic<bool> locked;
int count;

void lock_at_most_twice(void *)
{
	bool own = false;
	for (int i = 0; i < 2 && !own; i++) {
		own = !locked.exchange(true, std::memory_order_acquire);
		if (!own)
			std::this_thread::yield();
	}
	count++;
	if (own)
		locked.store(false, std::memory_order_release);
}

PFS_CHECK_SCENARIO(yield_race)
{
	pfs_check_thread(lock_at_most_twice, nullptr);
	pfs_check_thread(lock_at_most_twice, nullptr);
}

std::atomic<bool> told;
std::chrono::steady_clock::time_point then;

void read_clock(void *)
{
	for (int i = 0; i < 5; i++)
		then = std::chrono::steady_clock::now();
	told.store(true, std::memory_order_release);
}

void read_clock_after(void *)
{
	if (told.load(std::memory_order_acquire))
		pfs_check_assert(std::chrono::steady_clock::now() > then);
}

PFS_CHECK_SCENARIO(clocks)
{
	pfs_check_thread(read_clock, nullptr);
	pfs_check_thread(read_clock_after, nullptr);
}

} // namespace
