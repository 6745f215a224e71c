/*
 * relacy.cc - the programs of this folder for Relacy's full search (Debian's relacy-dev), which
 * counts schedules: one in which each operation of a thread is a step, and so is its beginning.
 *
 *	g++ -w -fpermissive -DNAME=cinc -DN=2 relacy.cc -o cinc && ./cinc
 */
#include <relacy/relacy.hpp>

#include <cstdio>
#include <sstream>

struct lastzero : rl::test_suite<lastzero, N + 1> {
	rl::atomic<int> array[N + 1];

	void before()
	{
		for (int i = 0; i <= N; i++)
			array[i]($) = 0;
	}

	void thread(unsigned me)
	{
		if (me > 0) {
			array[me]($).store(array[me - 1]($).load(rl::mo_seq_cst) + 1,
					   rl::mo_seq_cst);
			return;
		}
		int i = N;
		while (array[i]($).load(rl::mo_seq_cst) != 0)
			i--;
	}
};

struct casrot : rl::test_suite<casrot, N> {
	rl::atomic<int> last;

	void before() { last($) = 0; }

	void thread(unsigned me)
	{
		int before = (int)me;
		last($).compare_exchange_strong(before, before + 1, rl::mo_relaxed, rl::mo_relaxed);
	}
};

struct readers : rl::test_suite<readers, N + 1> {
	rl::atomic<int> shared;

	void before() { shared($) = 0; }

	void thread(unsigned me)
	{
		if (me == 0)
			shared($).store(1, rl::mo_release);
		else
			shared($).load(rl::mo_acquire);
	}
};

struct cinc : rl::test_suite<cinc, N> {
	rl::atomic<int> counts[3];

	void before()
	{
		for (int i = 0; i < 3; i++)
			counts[i]($) = 0;
	}

	void thread(unsigned)
	{
		for (int i = 0; i < 3; i++)
			counts[i]($).fetch_add(1, rl::mo_relaxed);
	}
};

int main()
{
	std::ostringstream said;
	rl::test_params params;
	params.output_stream = &said;
	params.progress_stream = &said;
	params.search_type = rl::sched_full;
	params.iteration_count = 100000000;
	bool held = rl::simulate<NAME>(params);
	std::printf("%llu schedules, %s\n", (unsigned long long)params.stop_iteration,
		    held ? "all held" : "one failed");
	return held ? 0 : 1;
}
