// spinlock.cc - a lock of one flag, in C++: two threads of std::thread add to what it guards.
#include <atomic>
#include <thread>

#include <pfslab/check.h>

namespace {

class Spinlock {
public:
	void lock()
	{
		while (taken.exchange(true, std::memory_order_acquire)) {
			while (taken.load(std::memory_order_relaxed))
				std::this_thread::yield();
		}
	}
	void unlock() { taken.store(false, std::memory_order_release); }

private:
	std::atomic<bool> taken{false};
};

void test(void *)
{
	Spinlock lock;
	int counter = 0;
	auto add = [&] {
		lock.lock();
		counter++;
		lock.unlock();
	};
	std::thread other(add);
	add();
	other.join();
	pfs_check_assert(counter == 2);
}

} // namespace

PFS_CHECK_SCENARIO(spinlock)
{
	pfs_check_thread(test, nullptr);
}
