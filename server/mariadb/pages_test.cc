// SPDX-License-Identifier: GPL-2.0-only
// pages_test.cc - pages of the adapter that come and go, with their arrays, as one thread sees
// them.
#include "pfslab_memory.h"
#include "testing.h"

using namespace testing;

namespace
{

template <class Of> std::vector<uint32> words_of(const std::vector<typename Of::record *> &records)
{
	std::vector<uint32> words;
	for (typename Of::record *record : records)
		words.push_back(record->m_lock.m_version_state);
	return words;
}

/* A page in the middle goes: what is behind it is still found, and it comes back first. */
template <class Of> void a_hole()
{
	bool has_more = false;
	begin<Of>(-1);
	auto records = fill<Of>(Of::all);
	auto before = records;
	for (uint i = Of::page; i < 2 * Of::page; i++) {
		Of::it().deallocate(records[i]);
		records[i] = nullptr;
	}
	wait_for_pages<Of>(Of::pages - 1);
	for (uint i = 0; i < Of::all; i++) {
		PFS_CHECK(Of::it().get(i, &has_more) == records[i]);
		PFS_CHECK(has_more);
	}
	uint index = 0, found = 0;
	for (auto iterator = Of::it().iterate(); iterator.scan_next(&index) != nullptr; found++)
		PFS_CHECK(records[index] != nullptr);
	PFS_CHECK_IS(found, Of::all - Of::page);
	for (uint i = 0; i < Of::page; i++) {
		typename Of::record *record = allocate(Of::it());
		PFS_CHECK(record != nullptr);
		PFS_CHECK(record >= before[Of::page] && record <= before[2 * Of::page - 1]);
	}
	PFS_CHECK(allocate(Of::it()) == nullptr);
	end<Of>();
}

/* Each record returns at its address, FREE while it is gone, and with a later version. */
template <class Of> void versions_continue()
{
	begin<Of>(-1);
	auto records = fill<Of>(Of::all);
	for (int round = 0; round < 5; round++) {
		auto words = words_of<Of>(records);
		empty<Of>(records);
		wait_for_pages<Of>(0);
		for (typename Of::record *record : records)
			PFS_CHECK(record->m_lock.is_free());
		auto again = fill<Of>(Of::all);
		PFS_CHECK(again == records);
		for (uint i = 0; i < Of::all; i++)
			PFS_CHECK(records[i]->m_lock.m_version_state > words[i]);
	}
	empty<Of>(records);
	end<Of>();
}

void records_read_as_zeros()
{
	begin<Mutexes>(-1);
	auto records = fill<Mutexes>(Mutexes::all);
	for (PFS_mutex *mutex : records)
		memset(mutex->m_body, 'x', sizeof(mutex->m_body));
	empty<Mutexes>(records);
	wait_for_pages<Mutexes>(0);
	for (PFS_mutex *mutex : records) {
		PFS_CHECK_IS(mutex->m_lock.m_version_state, 0);
		PFS_CHECK_IS(mutex->m_stamp, 0);
		for (char byte : mutex->m_body)
			PFS_CHECK_IS(byte, 0);
	}
	end<Mutexes>();
}

/* ---- arrays ---- */

struct Wiring {
	std::atomic<uint64_t> *history;
	std::atomic<char> *text;
};

std::vector<Wiring> wiring_of(const std::vector<PFS_thread *> &records)
{
	std::vector<Wiring> result;
	for (PFS_thread *thread : records)
		result.push_back({ thread->m_history, thread->m_text });
	return result;
}

void check_wiring(const std::vector<PFS_thread *> &records, const std::vector<Wiring> &wiring)
{
	for (size_t i = 0; i < records.size(); i++) {
		PFS_CHECK(records[i]->m_history == wiring[i].history);
		PFS_CHECK(records[i]->m_text == wiring[i].text);
	}
}

void write_arrays(const std::vector<PFS_thread *> &records)
{
	for (PFS_thread *thread : records) {
		for (size_t i = 0; i < PFS_thread::history_count; i++)
			thread->m_history[i] = reinterpret_cast<uintptr_t>(thread) + i;
		for (size_t i = 0; i < PFS_thread::text_bytes; i++)
			thread->m_text[i] = 'x';
	}
	for (PFS_thread *thread : records)
		for (size_t i = 0; i < PFS_thread::history_count; i++)
			PFS_CHECK_IS(thread->m_history[i], reinterpret_cast<uintptr_t>(thread) + i);
}

void check_zeros(const std::vector<Wiring> &wiring)
{
	for (const Wiring &each : wiring) {
		for (size_t i = 0; i < PFS_thread::history_count; i++)
			PFS_CHECK_IS(each.history[i], 0);
		for (size_t i = 0; i < PFS_thread::text_bytes; i++)
			PFS_CHECK_IS(each.text[i], 0);
	}
}

void arrays_return()
{
	begin<Threads>(-1);
	auto records = fill<Threads>(Threads::all);
	auto wiring = wiring_of(records);
	check_zeros(wiring);
	for (int round = 0; round < 3; round++) {
		write_arrays(records);
		empty<Threads>(records);
		wait_for_pages<Threads>(0);
		if (reclaims())
			check_zeros(wiring);
		check_wiring(records, wiring); /* the records stay as they were */
		PFS_CHECK(fill<Threads>(Threads::all) == records);
		check_wiring(records, wiring);
		if (reclaims())
			check_zeros(wiring);
	}
	empty<Threads>(records);
	end<Threads>();
}

/* While pages are gone, so is the memory that is counted for them. */
void memory_is_counted()
{
	begin<Threads>(-1);
	check_memory_is_back();
	auto records = fill<Threads>(Threads::all);
	PFS_CHECK_IS(builtin_memory_scalable_buffer.m_blocks, Threads::pages);
	PFS_CHECK_IS(builtin_memory_thread.m_blocks, Threads::pages);
	PFS_CHECK_IS(builtin_memory_thread.m_bytes, Threads::all * sizeof(PFS_thread));
	PFS_CHECK_IS(builtin_memory_thread_history.m_bytes,
		     Threads::all * PFS_thread::history_count * sizeof(uint64_t));
	PFS_CHECK_IS(builtin_memory_thread_text.m_bytes, Threads::all * PFS_thread::text_bytes);
	empty<Threads>(records);
	wait_for_pages<Threads>(0);
	if (reclaims())
		check_memory_is_back();
	end<Threads>();
}

/* There is no memory for one of the arrays: the page does not come, now or later. */
void no_memory()
{
	for (int array = 1; array <= 3; array++) {
		begin<Threads>(-1);
		long headers = builtin_memory_scalable_buffer.m_blocks;
		for (int round = 0; round < 2; round++) {
			PFS_thread_allocator::s_fails_at = array;
			PFS_CHECK(allocate(Threads::it()) == nullptr);
			PFS_CHECK_IS(Threads::it().m_lost, round + 1);
			PFS_CHECK_IS(builtin_memory_thread.m_blocks, 0);
			PFS_CHECK_IS(builtin_memory_thread_history.m_blocks, 0);
			PFS_CHECK_IS(builtin_memory_scalable_buffer.m_blocks, headers);
			PFS_thread_allocator::s_fails_at = 0;
			if (!reclaims())
				break;
			PFS_thread *thread = allocate(Threads::it());
			PFS_CHECK(thread != nullptr);
			Threads::it().deallocate(thread);
			wait_for_pages<Threads>(0);
		}
		PFS_thread *thread = allocate(Threads::it());
		PFS_CHECK(thread != nullptr);
		thread->m_history[0] = 1;
		Threads::it().deallocate(thread);
		end<Threads>();
	}
}

/* ---- read scopes ---- */

/* Pages of records that were found in a scope stay until the outermost scope ends. */
template <class Of> void scopes_nest()
{
	begin<Of>(-1);
	auto records = fill<Of>(Of::page * 2);
	{
		pfslab::Read_scope outer;
		typename Of::record *record = Of::it().get(Of::page);
		PFS_CHECK(record == records[Of::page]);
		std::atomic<uint64_t> *array = Of::array_of(record);
		array->store(17);
		{
			pfslab::Read_scope inner;
			PFS_CHECK(Of::it().get(0) == records[0]);
		}
		empty<Of>(records);
		for (int ms = 0; ms < 50; ms++) {
			sleep_ms(1);
			PFS_CHECK_IS(record->m_stamp,
				     Of::array_of(record) == &record->m_stamp ? 17 : 1);
			PFS_CHECK_IS(array->load(), 17);
		}
	}
	wait_for_pages<Of>(0);
	{
		pfslab::Read_scope again;
		PFS_CHECK(Of::it().get(0) == nullptr);
		PFS_CHECK(Of::it().iterate().scan_next() == nullptr);
	}
	end<Of>();
}

/* A visitor that calls into the container, as cleaning does in the server. */
void free_visited(PFS_mutex *mutex)
{
	PFS_CHECK(Mutexes::it().sanitize(mutex) == mutex);
	Mutexes::it().deallocate(mutex);
}

void visitors_call_back()
{
	begin<Mutexes>(-1);
	for (int round = 0; round < 4; round++) {
		(void)fill<Mutexes>(Mutexes::all);
		if (round % 2 == 0) {
			Mutexes::it().apply(free_visited);
			continue;
		}
		pfslab::Read_scope scope;
		Mutexes::it().apply(free_visited);
		PFS_CHECK(Mutexes::it().iterate().scan_next() == nullptr);
	}
	wait_for_pages<Mutexes>(0);
	end<Mutexes>();
}

/* ---- the arena alone ---- */

void an_arena(const pfs_case *)
{
	char records[40];
	pfslab::Arena arena;
	char *memory[32], elsewhere;
	PFS_CHECK(pfslab::current_arena() == nullptr);
	for (size_t round = 0; round < 3; round++) {
		pfslab::Arena_scope scope(&arena);
		PFS_CHECK(pfslab::current_arena() == &arena);
		arena.begin(records, sizeof(records));
		PFS_CHECK(arena.take(sizeof(records)) == records);
		for (char *&block : memory) {
			char *taken = static_cast<char *>(arena.take(sizeof(records)));
			PFS_CHECK(taken != nullptr && taken != records && taken[39] == 0);
			PFS_CHECK(round == 0 || taken == block);
			block = taken;
			block[39] = 1;
		}
		PFS_CHECK(arena.take(sizeof(records)) == nullptr);
		for (char *block : memory) {
			PFS_CHECK(arena.give(block, sizeof(records)));
			PFS_CHECK_IS(block[39], 0);
		}
		PFS_CHECK(arena.give(records, sizeof(records)));
		PFS_CHECK(!arena.give(&elsewhere, 1));
	}
	PFS_CHECK(pfslab::current_arena() == nullptr);
}

/* A page gets more records, then fewer: the memory that it had can still be read. */
void a_page_of_another_size(const pfs_case *)
{
	char records[8];
	pfslab::Arena arena;
	char *memory[3];
	static const size_t sizes[] = { 5000, 9000, 5000 };
	for (size_t round = 0; round < 3; round++) {
		arena.begin(records, sizeof(records));
		memory[round] = static_cast<char *>(arena.take(sizes[round]));
		PFS_CHECK(memory[round] != nullptr);
		for (size_t i = 0; i < sizes[round]; i++)
			PFS_CHECK_IS(memory[round][i], 0);
		memset(memory[round], 'x', sizes[round]);
		PFS_CHECK(arena.give(memory[round], sizes[round]));
		PFS_CHECK_IS(memory[0][0], 0);
	}
	PFS_CHECK(memory[0] != memory[1]);
	PFS_CHECK(memory[2] == memory[1]);
}

} // namespace

#define EACH(name, function, needs)                                          \
	list.add<function<Mutexes>>(std::string(name) + ", mutexes", needs); \
	list.add<function<Threads>>(std::string(name) + ", threads", needs)

int main(int argc, char **argv)
{
	List list;
	EACH("a hole", a_hole, ANY);
	EACH("versions continue", versions_continue, ANY);
	list.add<records_read_as_zeros>("records read as zeros", RECLAIM);
	list.add<arrays_return>("arrays return");
	list.add<memory_is_counted>("memory is counted");
	list.add<no_memory>("no memory");
	EACH("scopes nest", scopes_nest, ANY);
	list.add<visitors_call_back>("visitors call back");
	list.add_one("an arena", an_arena);
	list.add_one("a page of another size", a_page_of_another_size);
	return list.run(argc, argv);
}
