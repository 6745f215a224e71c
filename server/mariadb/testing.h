/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * testing.h - what the adapter's tests share: containers as the server has them, and a test for
 * each policy.
 *
 * A test's function runs in a process of its own, with the policy chosen and no container yet.
 * Pages that are empty go within milliseconds, if the policy gives pages back.
 */
#ifndef PFSLAB_TESTING_H
#define PFSLAB_TESTING_H

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "standin/pfs_records.h"
#include "pfslab_server.h"
#include "stress/harness/harness.h"

namespace testing
{

inline constexpr const char *policies[] = { "stock",      "original", "local_scan", "random_start",
					    "reclaiming", "exact",    "magazine" };

inline PFS_buffer_default_allocator<PFS_mutex> mutex_allocator(&builtin_memory_mutex);
inline PFS_thread_allocator thread_allocator;

/* The two containers: of records without arrays, and with arrays. */
struct Mutexes {
	typedef PFS_mutex_container type;
	typedef PFS_mutex record;
	static constexpr uint page = mutex_page_size, pages = mutex_page_count, all = page * pages;
	static type &it()
	{
		static type container(&mutex_allocator);
		return container;
	}
	static std::atomic<uint64_t> *array_of(PFS_mutex *mutex)
	{
		return &mutex->m_stamp;
	}
};

struct Threads {
	typedef PFS_thread_container type;
	typedef PFS_thread record;
	static constexpr uint page = thread_page_size, pages = thread_page_count,
			      all = page * pages;
	static type &it()
	{
		static type container(&thread_allocator);
		return container;
	}
	static std::atomic<uint64_t> *array_of(PFS_thread *thread)
	{
		return thread->m_history;
	}
};

inline const pfs_variant *variant()
{
	return pfs_variant_find(pfslab::policy_name);
}

inline bool is_stock()
{
	return variant() == nullptr;
}

inline bool reclaims()
{
	return !is_stock() && (pfs_variant_traits(variant()) & PFS_TRAIT_RECLAIM) != 0;
}

/* Refuses only if at some moment each record was in use. The others miss free records when several
 * threads look for them. */
inline bool is_strict()
{
	return !is_stock() &&
	       (pfs_variant_traits(variant()) & (PFS_TRAIT_STRICT | PFS_TRAIT_EXACT)) != 0;
}

inline void sleep_ms(long ms)
{
	timespec time = { ms / 1000, ms % 1000 * 1000000 };
	(void)nanosleep(&time, nullptr);
}

/* A published record; NULL: refused. No owner writes a 0. */
template <class Container> typename Container::value_type *allocate(Container &container)
{
	pfs_dirty_state state;
	typename Container::value_type *record = container.allocate(&state);
	if (record == nullptr)
		return nullptr;
	PFS_CHECK_IS(record->m_lock.m_version_state & pfs_lock::STATES, pfs_lock::DIRTY);
	PFS_CHECK_IS(record->m_lock.m_version_state, state.m_version_state);
	record->m_stamp = 1;
	record->m_lock.dirty_to_allocated(&state);
	return record;
}

/* Fill a container; its records by number. */
template <class Of> std::vector<typename Of::record *> fill(uint count)
{
	std::vector<typename Of::record *> records(Of::all);
	for (uint i = 0; i < count; i++)
		PFS_CHECK(allocate(Of::it()) != nullptr);
	auto iterator = Of::it().iterate();
	uint index = 0, found = 0;
	for (typename Of::record *record; (record = iterator.scan_next(&index)) != nullptr;
	     found++) {
		PFS_CHECK(index < Of::all && records[index] == nullptr);
		records[index] = record;
	}
	PFS_CHECK_IS(found, count);
	return records;
}

template <class Of> void empty(const std::vector<typename Of::record *> &records)
{
	for (typename Of::record *record : records)
		if (record != nullptr)
			Of::it().deallocate(record);
}

/* Of the only container. Waits for a pass that gives pages back. */
inline pfslab::Counts counts()
{
	pfslab::Listed entry = pfslab::list_at(0);
	PFS_CHECK(entry.name != nullptr && pfslab::list_at(1).name == nullptr);
	return entry.counts(entry.context);
}

/* Wait until so many pages are left, and the memory of the others is gone, if the policy gives
 * pages back. */
template <class Of> void wait_for_pages(uint count)
{
	if (!reclaims())
		return;
	for (int ms = 0; Of::it().get_row_count() > count * Of::page; ms++) {
		PFS_CHECK(ms < 20000); /* pages must go */
		sleep_ms(1);
	}
	PFS_CHECK_IS(counts().pages, count);
}

inline void check_memory_is_back()
{
	PFS_CHECK_IS(builtin_memory_mutex.m_blocks, 0);
	PFS_CHECK_IS(builtin_memory_mutex.m_bytes, 0);
	PFS_CHECK_IS(builtin_memory_thread.m_blocks, 0);
	PFS_CHECK_IS(builtin_memory_thread.m_bytes, 0);
	PFS_CHECK_IS(builtin_memory_thread_history.m_blocks, 0);
	PFS_CHECK_IS(builtin_memory_thread_history.m_bytes, 0);
	PFS_CHECK_IS(builtin_memory_thread_text.m_blocks, 0);
	PFS_CHECK_IS(builtin_memory_thread_text.m_bytes, 0);
	if (!is_stock()) /* which never counts its page headers down at the end */
		PFS_CHECK_IS(builtin_memory_scalable_buffer.m_blocks, 0);
}

template <class Of> void begin(long max_size)
{
	PFS_CHECK_IS(Of::it().init(max_size), 0);
}

template <class Of> void end()
{
	Of::it().cleanup();
	check_memory_is_back();
}

/* ---- the list of tests ---- */

enum Needs { ANY = 0, RECLAIM = 1, STARTS_THREADS = 2 };

class List
{
      public:
	/* A test that chooses its policy itself. */
	void add_one(const char *name, void (*function)(const pfs_case *))
	{
		names_.push_back(name);
		pfs_test test = {};
		test.name = names_.back().c_str();
		test.run = function;
		tests_.push_back(test);
	}

	template <void (*body)()> void add(const std::string &name, unsigned needs = ANY)
	{
		add_all<body>(name, needs, std::make_index_sequence<std::size(policies)>());
	}

	int run(int argc, char **argv)
	{
		return pfs_tests_main(argc, argv, tests_.data(), tests_.size());
	}

      private:
	template <size_t policy, void (*body)()> static void under(const pfs_case *)
	{
		pfslab::policy_name = policies[policy];
		(void)setenv("PFSLAB_PERIOD_MS", "1", 1);
		(void)setenv("PFSLAB_HEADROOM_PERCENT", "0", 1);
		(void)setenv("PFSLAB_DECAY_PASSES", "0", 1);
		body();
	}

	template <void (*body)(), size_t... policy>
	void add_all(const std::string &name, unsigned needs, std::index_sequence<policy...>)
	{
		(add_for(name, needs, policies[policy], under<policy, body>), ...);
	}

	void add_for(const std::string &name, unsigned needs, const char *policy,
		     void (*function)(const pfs_case *))
	{
		const pfs_variant *found = pfs_variant_find(policy);
		uint32_t traits = PFS_TRAIT_C11; /* of the server's own code */
		if (found != nullptr)
			traits = pfs_variant_traits(found);
		if ((needs & RECLAIM) != 0 && (traits & PFS_TRAIT_RECLAIM) == 0)
			return;
		if (PFS_UNDER_TSAN && (needs & STARTS_THREADS) != 0 &&
		    (traits & PFS_TRAIT_C11) == 0)
			return; /* ThreadSanitizer cannot see all its accesses */
		add_one((name + "[" + policy + "]").c_str(), function);
	}

	std::deque<std::string> names_;
	std::vector<pfs_test> tests_;
};

} // namespace testing

#endif
