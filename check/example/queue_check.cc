// queue_check.cc - scenarios for queue.h. With -DEMPTIED=std::memory_order_relaxed a producer may
// overwrite a value that a consumer still reads: pfs-check shows it.
#include "queue.h"

#include <pfslab/check.h>

Queue<int, 1> queue; // so small that the second push waits
Queue<int, 2> wide;
int popped[2];

PFS_CHECK_SCENARIO(in_order)
{
	auto produce = [](void *) {
		queue.push(1);
		queue.push(2);
	};
	auto consume = [](void *) {
		popped[0] = queue.pop();
		popped[1] = queue.pop();
	};
	pfs_check_thread(produce, nullptr);
	pfs_check_thread(consume, nullptr);
	pfs_check_at_rest([](void *) { pfs_check_assert(popped[0] == 1 && popped[1] == 2); },
			  nullptr);
}

PFS_CHECK_SCENARIO(two_producers)
{
	auto produce = [](void *) { wide.push(1); };
	pfs_check_thread(produce, nullptr);
	pfs_check_thread(produce, nullptr);
	pfs_check_at_rest([](void *) { pfs_check_assert(wide.pop() + wide.pop() == 2); }, nullptr);
}
