/*
 * messages.cc - what reports must name: functions whose long names differ in the middle, variables
 * of templates, places in a program whose globals have atomic constructors, mutexes in objects,
 * exceptions that nothing catches.
 */
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>
#include <pfslab/check.h>

/* Its constructor stores before main, and before pfs-check knows the program. */
struct early {
	std::atomic<int> value;
	early()
	{
		value.store(1, std::memory_order_release);
	}
};
static early before;

template <typename T> struct box {
	static int content;
};
template <typename T> int box<T>::content;

using one = std::map<std::string, std::vector<std::pair<std::string, int>>>;
using other = std::map<std::string, std::vector<std::pair<std::string, long>>>;

template <typename T> __attribute__((noinline)) static void fill(T *, int *content)
{
	*content = 1;
}

static void first(void *)
{
	(void)before.value.load(std::memory_order_relaxed);
	fill(static_cast<one *>(nullptr), &box<one>::content);
}

static void second(void *)
{
	fill(static_cast<other *>(nullptr), &box<one>::content);
}

PFS_CHECK_SCENARIO(alike)
{
	pfs_check_thread(first, nullptr);
	pfs_check_thread(second, nullptr);
}

struct account {
	long balance;
	std::mutex mutex;
};
static account *left, *right;

static void leftwards(void *)
{
	std::lock_guard<std::mutex> held(right->mutex);
	left->mutex.lock();
	left->mutex.unlock();
}

static void rightwards(void *)
{
	std::lock_guard<std::mutex> held(left->mutex);
	right->mutex.lock();
	right->mutex.unlock();
}

PFS_CHECK_SCENARIO(accounts)
{
	left = new account();
	right = new account();
	pfs_check_thread(leftwards, nullptr);
	pfs_check_thread(rightwards, nullptr);
}

/* All of it is on one stack. */
static void locals(void *)
{
	std::mutex inner, outer;
	std::thread thread([&] {
		std::lock_guard<std::mutex> held(inner);
		outer.lock();
		outer.unlock();
	});
	outer.lock();
	inner.lock();
	inner.unlock();
	outer.unlock();
	thread.join();
}

PFS_CHECK_SCENARIO(on_stack)
{
	pfs_check_thread(locals, nullptr);
}

__attribute__((noinline)) static void raise()
{
	throw 1;
}

static void throws(void *)
{
	std::thread thread([] { raise(); });
	thread.join();
}

PFS_CHECK_SCENARIO(uncaught)
{
	pfs_check_thread(throws, nullptr);
}

static void forgets(void *)
{
	try {
		raise();
	} catch (int) {
	}
	std::thread thread([] {});
}

PFS_CHECK_SCENARIO(not_joined)
{
	pfs_check_thread(forgets, nullptr);
}
