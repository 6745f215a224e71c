// SPDX-License-Identifier: GPL-2.0-only
// threads_test.cc - threads that allocate and free, beside readers in read scopes and outside.

#include <mutex>

#include <sched.h>

#include "testing.h"

using namespace testing;

namespace
{

constexpr uint owner_count = 3, reader_count = 2, held = 12;
constexpr uint rounds = PFS_UNDER_TSAN ? 60 : 200, rounds_most = 50 * rounds;
constexpr uint pages_least = 5; /* go while owners allocate */

/* What owners tell readers outside of scopes: records and arrays that there were. */
template <class Of> struct Seen {
	std::atomic<typename Of::record *> record;
	std::atomic<std::atomic<uint64_t> *> array;
};

/* And what a reader knows of them. */
struct Known {
	void *record;
	uint32 newest;
};

template <class Of> struct Shared {
	std::atomic<uint> owners{ owner_count };
	Seen<Of> seen[owner_count * held] = {};
	bool in_scopes = false;
};

/* A slow machine, or delays, let no page go for long. */
bool is_too_early()
{
	return reclaims() && counts().given_back < pages_least;
}

/* Waits at times, so that pages have time to go. */
template <class Of> void own(Shared<Of> &shared, uint index)
{
	typename Of::record *records[held];
	for (uint round = 0; round < rounds || (is_too_early() && round < rounds_most); round++) {
		uint count = 0;
		while (count < 1 + (round + index) % held) {
			pfs_dirty_state state;
			typename Of::record *record = Of::it().allocate(&state);
			if (record == nullptr)
				break;
			record->m_stamp = round + 1;
			*Of::array_of(record) = round + 1;
			record->m_lock.dirty_to_allocated(&state);
			Seen<Of> &seen = shared.seen[index * held + count];
			seen.record = record;
			seen.array = Of::array_of(record);
			records[count++] = record;
		}
		while (count-- > 0)
			Of::type::static_deallocate(records[count]);
		if (round % 4 == 0)
			sleep_ms(3);
	}
	shared.owners--;
}

/* A record that was found in a scope keeps its word, its bytes and its arrays. */
template <class Of> void look(typename Of::record *record)
{
	uint32 version = record->m_lock.get_version();
	std::atomic<uint64_t> *array = Of::array_of(record);
	for (int i = 0; i < 3; i++) {
		PFS_CHECK(record->m_stamp != 0);
		PFS_CHECK(array->load() != 0);
		PFS_CHECK(record->m_lock.get_version() >= version);
		typename Of::record *sane = Of::it().sanitize(record);
		PFS_CHECK(sane == record || sane == nullptr); /* its page is on its way out */
		if (i == 0)
			(void)sched_yield();
	}
}

template <class Of> void read_in_scope(uint round)
{
	pfslab::Read_scope scope;
	typename Of::record *first = nullptr;
	uint index = 0;
	auto iterator = Of::it().iterate();
	for (typename Of::record *record; (record = iterator.scan_next(&index)) != nullptr;) {
		first = first != nullptr ? first : record;
		look<Of>(record);
		typename Of::record *same = Of::it().get(index);
		/* Another page may have the index of one that is on its way out. */
		PFS_CHECK(same == nullptr || same == record ||
			  Of::it().sanitize(record) == nullptr);
	}
	if (round % 4 == 0)
		sleep_ms(5);
	if (first != nullptr)
		look<Of>(first); /* until the scope ends */
}

/* Nothing faults, whatever is there, and no live version falls that was seen at one address. */
template <class Of> void read_outside(Shared<Of> &shared, Known *known)
{
	uint index = 0;
	for (uint i = 0; i < owner_count * held; i++) {
		typename Of::record *record = shared.seen[i].record;
		std::atomic<uint64_t> *array = shared.seen[i].array;
		if (record == nullptr || array == nullptr)
			continue;
		(void)array->load();
		(void)record->m_stamp.load();
		if (record != known[i].record)
			known[i] = { record, 0 };
		typename Of::record *sane = Of::it().sanitize(record);
		PFS_CHECK(sane == nullptr || sane == record);
		uint32 word = record->m_lock.m_version_state;
		PFS_CHECK((word & pfs_lock::STATES) != pfs_lock::STATES);
		if ((word & pfs_lock::STATES) != pfs_lock::ALLOCATED)
			continue;
		PFS_CHECK(word >= known[i].newest);
		known[i].newest = word;
	}
	for (auto iterator = Of::it().iterate(); iterator.scan_next(&index) != nullptr;)
		(void)Of::it().get(index);
}

template <class Of> void take_part(void *context, uint32_t index)
{
	Shared<Of> &shared = *static_cast<Shared<Of> *>(context);
	Known known[owner_count * held] = {};
	if (index < owner_count) {
		own(shared, index);
		return;
	}
	for (uint round = 0; shared.owners != 0; round++) {
		if (shared.in_scopes)
			read_in_scope<Of>(round);
		else
			read_outside(shared, known);
	}
}

template <class Of> void beside_readers(bool in_scopes)
{
	static Shared<Of> shared;
	shared.in_scopes = in_scopes;
	begin<Of>(-1);
	pfs_run_threads(owner_count + reader_count, take_part<Of>, &shared);
	PFS_CHECK_IS(counts().live, 0);
	PFS_CHECK(!is_strict() || Of::it().m_lost == 0);
	wait_for_pages<Of>(0);
	if (reclaims())
		PFS_CHECK(counts().given_back >= pages_least); /* pages went meanwhile */
	end<Of>();
}

template <class Of> void readers_in_scopes()
{
	beside_readers<Of>(true);
}

template <class Of> void readers_outside()
{
	beside_readers<Of>(false);
}

/* ---- more threads than a pool has handles ---- */

constexpr uint crowd = 140;
std::atomic<uint> arrived;
std::mutex allocating;

void all_are_here(uint times)
{
	arrived++;
	while (arrived < times * crowd)
		sleep_ms(1);
}

/* Each thread holds a handle in its scope, and borrows another for each call that writes. */
void take_place(void *, uint32_t index)
{
	pfslab::Read_scope scope;
	(void)Mutexes::it().get(index);
	all_are_here(1);
	std::unique_lock<std::mutex> one_at_a_time(allocating, std::defer_lock);
	if (!is_strict())
		one_at_a_time.lock();
	PFS_mutex *mutex = allocate(Mutexes::it());
	if (!is_strict())
		one_at_a_time.unlock();
	PFS_CHECK(mutex != nullptr);
	mutex->m_stamp = index;
	all_are_here(2);
	PFS_CHECK_IS(mutex->m_stamp, index);
	Mutexes::it().deallocate(mutex);
}

void a_crowd()
{
	static_assert(crowd > 2 * 64 && crowd < Mutexes::all, "three pools, and a record for each");
	begin<Mutexes>(-1);
	pfs_run_threads(crowd, take_place, nullptr);
	PFS_CHECK_IS(Mutexes::it().m_lost, 0);
	PFS_CHECK_IS(counts().live, 0);
	wait_for_pages<Mutexes>(0);
	end<Mutexes>();
}

} // namespace

#define EACH(name, function)                                                          \
	list.add<function<Mutexes>>(std::string(name) + ", mutexes", STARTS_THREADS); \
	list.add<function<Threads>>(std::string(name) + ", threads", STARTS_THREADS)

int main(int argc, char **argv)
{
	List list;
	EACH("readers in scopes", readers_in_scopes);
	EACH("readers outside", readers_outside);
	list.add<a_crowd>("a crowd", STARTS_THREADS);
	return list.run(argc, argv);
}
