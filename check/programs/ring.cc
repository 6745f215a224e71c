// ring.cc - the ring of ring.c in C++, with std::atomic, and threads of std::thread. With
// -DPUBLISH=std::memory_order_relaxed the producer publishes what the consumer may not see yet.
#include <atomic>
#include <memory>
#include <thread>

#include <pfslab/check.h>

#ifndef PUBLISH
#define PUBLISH std::memory_order_release
#endif

namespace {

template <typename T, unsigned Room> class Ring {
public:
	bool push(T value)
	{
		unsigned at = tail.load(std::memory_order_relaxed);
		if (at - head.load(std::memory_order_acquire) == Room)
			return false;
		slots[at % Room] = value;
		tail.store(at + 1, PUBLISH);
		return true;
	}
	bool pop(T &value)
	{
		unsigned at = head.load(std::memory_order_relaxed);
		if (at == tail.load(std::memory_order_acquire))
			return false;
		value = slots[at % Room];
		head.store(at + 1, std::memory_order_release);
		return true;
	}

private:
	std::atomic<unsigned> head{0}, tail{0};
	T slots[Room] = {};
};

void test(void *)
{
	auto ring = std::make_unique<Ring<int, 2>>();
	std::thread producer([&ring] {
		for (int value = 1; value <= 2; value++) {
			while (!ring->push(value))
				std::this_thread::yield();
		}
	});
	int sum = 0;
	for (int popped = 0, value; popped < 2;) {
		if (!ring->pop(value)) {
			std::this_thread::yield();
			continue;
		}
		sum += value;
		popped++;
	}
	producer.join();
	pfs_check_assert(sum == 3);
}

} // namespace

PFS_CHECK_SCENARIO(ring)
{
	pfs_check_thread(test, nullptr);
}
