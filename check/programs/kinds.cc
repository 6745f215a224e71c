// kinds.cc - atomics of each kind of type: pairs, floating point, pointers, small integers,
// std::atomic_ref, and gcc's older __sync functions.
#include <atomic>
#include <cstdint>

#include <pfslab/check.h>

namespace
{

struct alignas(8) Pair {
	int up, down;
};
std::atomic<Pair> pair;
std::atomic<double> large;
std::atomic<float> single;
int items[4];
std::atomic<int *> item{ items };
std::atomic<int8_t> byte;
std::atomic<int16_t> bits;
std::atomic<bool> met;
alignas(8) long referred, old_style;

void change(void *argument)
{
	Pair seen = pair.load();
	while (!pair.compare_exchange_strong(seen, Pair{ seen.up + 1, seen.down - 1 }))
		;
	large.fetch_add(1.5);
	single.fetch_add(.5f);
	item.fetch_add(1);
	byte.fetch_sub(1);
	bits.fetch_or(argument != nullptr ? 1 : 2);
	met.store(true);
}

void changed(void *)
{
	const Pair found = pair.load();
	pfs_check_assert(found.up == 2 && found.down == -2);
	pfs_check_assert(large.load() == 3.0 && single.load() == 1.0f);
	pfs_check_assert(item.load() == items + 2 && byte.load() == -2 && bits.load() == 3);
	pfs_check_assert(met.load());
}

PFS_CHECK_SCENARIO(kinds)
{
	pfs_check_thread(change, nullptr);
	pfs_check_thread(change, items);
	pfs_check_at_rest(changed, nullptr);
}

void add(void *)
{
	std::atomic_ref<long>(referred).fetch_add(1);
	__sync_fetch_and_add(&old_style, 1);
}

void added(void *)
{
	pfs_check_assert(referred == 2 && old_style == 2);
}

PFS_CHECK_SCENARIO(others)
{
	pfs_check_thread(add, nullptr);
	pfs_check_thread(add, nullptr);
	pfs_check_at_rest(added, nullptr);
}

// Two steps are not one.
void add_in_two_steps(void *)
{
	large.store(large.load() + 1);
}

void sum_fails(void *)
{
	pfs_check_assert(large.load() == 2.0);
}

PFS_CHECK_SCENARIO(double_fails)
{
	pfs_check_thread(add_in_two_steps, nullptr);
	pfs_check_thread(add_in_two_steps, nullptr);
	pfs_check_at_rest(sum_fails, nullptr);
}

} // namespace
