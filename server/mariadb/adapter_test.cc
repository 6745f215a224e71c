// SPDX-License-Identifier: GPL-2.0-only
// adapter_test.cc - the container's interface, as the server uses it, for each policy.

#include "testing.h"

using namespace testing;

namespace
{

/* ---- records ---- */

template <class Of> void lives()
{
	pfs_dirty_state state;
	begin<Of>(-1);
	typename Of::record *record = Of::it().allocate(&state);
	PFS_CHECK(record != nullptr);
	PFS_CHECK_IS(state.m_version_state, pfs_lock::DIRTY);
	PFS_CHECK_IS(record->m_lock.m_version_state, pfs_lock::DIRTY);
	PFS_CHECK(Of::it().get(0) == nullptr);
	record->m_lock.dirty_to_allocated(&state);
	PFS_CHECK_IS(record->m_lock.m_version_state, pfs_lock::VERSION_ONE | pfs_lock::ALLOCATED);
	uint index = 99;
	PFS_CHECK(Of::it().iterate().scan_next(&index) == record);
	PFS_CHECK(Of::it().get(index) == record);
	record->m_lock.allocated_to_dirty(&state);
	PFS_CHECK(Of::it().get(index) == nullptr);
	record->m_lock.dirty_to_allocated(&state);
	Of::it().deallocate(record);
	PFS_CHECK_IS(record->m_lock.m_version_state, 2 * pfs_lock::VERSION_ONE);
	PFS_CHECK(Of::it().get(index) == nullptr);
	PFS_CHECK(Of::it().iterate().scan_next() == nullptr);
	PFS_CHECK_IS(Of::it().get_row_size(), sizeof(typename Of::record));
	PFS_CHECK_IS(Of::it().get_memory(), Of::page * sizeof(typename Of::record));
	end<Of>();
}

template <class Of> void full_and_lost()
{
	begin<Of>(5);
	auto records = fill<Of>(5);
	PFS_CHECK_IS(Of::it().m_lost, 0);
	PFS_CHECK(allocate(Of::it()) == nullptr);
	PFS_CHECK(allocate(Of::it()) == nullptr);
	PFS_CHECK_IS(Of::it().m_lost, 2);
	Of::it().deallocate(records[2]);
	PFS_CHECK(allocate(Of::it()) == records[2]);
	PFS_CHECK(allocate(Of::it()) == nullptr);
	PFS_CHECK_IS(Of::it().m_lost, 3);
	end<Of>();
	begin<Of>(5);
	PFS_CHECK_IS(Of::it().m_lost, 0);
	end<Of>();
}

template <class Of> void none()
{
	bool has_more = true;
	begin<Of>(0);
	PFS_CHECK(allocate(Of::it()) == nullptr);
	PFS_CHECK_IS(Of::it().m_lost, 1);
	PFS_CHECK_IS(Of::it().get_row_count(), 0);
	PFS_CHECK(Of::it().get(0, &has_more) == nullptr);
	PFS_CHECK(!has_more);
	PFS_CHECK(Of::it().iterate().scan_next() == nullptr);
	end<Of>();
}

/* Up to a limit; the last page may be short. */
template <class Of> void up_to(long max_size, uint count)
{
	begin<Of>(max_size);
	auto records = fill<Of>(count);
	for (uint i = 0; i < Of::all; i++)
		PFS_CHECK((records[i] != nullptr) == (i < count));
	PFS_CHECK(allocate(Of::it()) == nullptr);
	PFS_CHECK_IS(Of::it().get_row_count(), (count + Of::page - 1) / Of::page * Of::page);
	PFS_CHECK_IS(Of::it().m_lost, 1);
	empty<Of>(records);
	wait_for_pages<Of>(0);
	records = fill<Of>(count);
	PFS_CHECK(allocate(Of::it()) == nullptr);
	empty<Of>(records);
	end<Of>();
}

template <class Of> void limits()
{
	up_to<Of>(-1, Of::all);
	up_to<Of>(Of::page * 2 + 5, Of::page * 2 + 5);
	up_to<Of>(Of::page * 3, Of::page * 3);
	up_to<Of>(1, 1);
	up_to<Of>(Of::all * 10, Of::all);
}

/* ---- readers ---- */

template <class Of> void numbers()
{
	bool has_more = false;
	begin<Of>(-1);
	auto records = fill<Of>(Of::page + 3);
	for (uint i = 0; i < Of::all; i++) {
		PFS_CHECK(Of::it().get(i) == records[i]);
		PFS_CHECK(Of::it().get(i, &has_more) == records[i]);
		PFS_CHECK(has_more == (i < 2 * Of::page));
	}
	PFS_CHECK(Of::it().get(Of::all, &has_more) == nullptr);
	PFS_CHECK(!has_more);
	PFS_CHECK(Of::it().get(UINT32_MAX, &has_more) == nullptr);
	PFS_CHECK(!has_more);
	empty<Of>(records);
	end<Of>();
}

template <class Of> void iteration()
{
	uint index = 0;
	begin<Of>(-1);
	auto records = fill<Of>(Of::page * 2);
	for (uint i = 0; i < Of::page * 2; i += 3) {
		Of::it().deallocate(records[i]);
		records[i] = nullptr;
	}
	for (uint from = 0; from <= Of::all; from += 7) {
		auto iterator = Of::it().iterate(from);
		for (uint i = from; i < Of::all; i++) {
			if (records[i] == nullptr)
				continue;
			PFS_CHECK(iterator.scan_next(&index) == records[i]);
			PFS_CHECK_IS(index, i);
		}
		PFS_CHECK(iterator.scan_next(&index) == nullptr);
		PFS_CHECK(iterator.scan_next() == nullptr);
	}
	empty<Of>(records);
	end<Of>();
}

std::vector<void *> visited;

template <class Of> void visit(typename Of::record *record)
{
	visited.push_back(record);
}

template <class Of> struct Visitor : public PFS_buffer_processor<typename Of::record> {
	std::vector<void *> seen;
	void operator()(typename Of::record *record) override
	{
		seen.push_back(record);
	}
};

template <class Of> void application()
{
	begin<Of>(-1);
	auto records = fill<Of>(Of::page + 2);
	Of::it().deallocate(records[1]);
	records[1] = nullptr;
	visited.clear();
	Of::it().apply(visit<Of>);
	Visitor<Of> visitor;
	Of::it().apply(visitor);
	PFS_CHECK_IS(visited.size(), Of::page + 1);
	PFS_CHECK(visited == visitor.seen);
	for (size_t i = 0, at = 0; i < Of::page + 2; i++)
		PFS_CHECK(records[i] == nullptr || visited[at++] == records[i]);

	visited.clear();
	Of::it().apply_all(visit<Of>);
	Visitor<Of> all;
	Of::it().apply_all(all);
	PFS_CHECK_IS(visited.size(), 2 * Of::page); /* FREE ones, too */
	PFS_CHECK(visited == all.seen);
	empty<Of>(records);
	end<Of>();
}

template <class Of> void sanitation()
{
	typename Of::record elsewhere = {};
	begin<Of>(-1);
	PFS_CHECK(Of::it().sanitize(&elsewhere) == nullptr);
	auto records = fill<Of>(Of::page + 1);
	typename Of::record *record = records[Of::page / 2];
	auto at = [](void *of, size_t offset) {
		uintptr_t address = reinterpret_cast<uintptr_t>(of) + offset; /* any value */
		return reinterpret_cast<typename Of::record *>(address);
	};
	PFS_CHECK(Of::it().sanitize(record) == record);
	for (size_t i = 1; i < sizeof(*record); i++)
		PFS_CHECK(Of::it().sanitize(at(record, i)) == nullptr);
	PFS_CHECK(Of::it().sanitize(nullptr) == nullptr);
	PFS_CHECK(Of::it().sanitize(&elsewhere) == nullptr);
	PFS_CHECK(Of::it().sanitize(at(nullptr, UINTPTR_MAX)) == nullptr);
	Of::it().deallocate(record);
	PFS_CHECK(Of::it().sanitize(record) == record); /* FREE */
	records[Of::page / 2] = nullptr;
	empty<Of>(records);
	wait_for_pages<Of>(0);
	PFS_CHECK((Of::it().sanitize(record) == nullptr) == reclaims());
	end<Of>();
}

/* ---- partitions ---- */

void partitions()
{
	PFS_mutex_partitioned_container container(&mutex_allocator);
	PFS_CHECK_IS(container.init(3), 0);
	pfs_dirty_state state;
	PFS_mutex *mutexes[2][3];
	for (uint partition = 0; partition < 2; partition++) {
		for (PFS_mutex *&mutex : mutexes[partition]) {
			mutex = container.allocate(&state, partition);
			PFS_CHECK(mutex != nullptr);
			mutex->m_lock.dirty_to_allocated(&state);
		}
		PFS_CHECK(container.allocate(&state, partition) == nullptr);
		PFS_CHECK_IS(container.m_partitions[partition]->m_lost, 1);
	}
	for (uint partition = 0; partition < 2; partition++) {
		container.deallocate(mutexes[partition][1]);
		PFS_CHECK(container.allocate(&state, 1 - partition) == nullptr);
		PFS_CHECK(container.allocate(&state, partition) == mutexes[partition][1]);
		mutexes[partition][1]->m_lock.dirty_to_allocated(&state);
	}
	for (auto &partition : mutexes)
		for (PFS_mutex *mutex : partition)
			container.deallocate(mutex);
	container.cleanup();
	check_memory_is_back();
}

/* ---- start and end ---- */

template <class Of> void begin_and_end()
{
	Of::it().cleanup(); /* without init */
	for (int round = 0; round < 3; round++) {
		begin<Of>(-1);
		PFS_CHECK(pfslab::list_at(0).name != nullptr);
		PFS_CHECK(pfslab::list_at(1).name == nullptr);
		auto records = fill<Of>(Of::page + 1);
		if (round == 1) /* records may be in use at the end */
			empty<Of>(records);
		end<Of>();
		PFS_CHECK(pfslab::list_at(0).name == nullptr);
		Of::it().cleanup(); /* twice */
	}
}

} // namespace

#define EACH(name, function)                                          \
	list.add<function<Mutexes>>(std::string(name) + ", mutexes"); \
	list.add<function<Threads>>(std::string(name) + ", threads")

int main(int argc, char **argv)
{
	List list;
	EACH("a record's life", lives);
	EACH("full, and what is lost", full_and_lost);
	EACH("no records at all", none);
	EACH("limits", limits);
	EACH("by number", numbers);
	EACH("iterate", iteration);
	EACH("apply", application);
	EACH("sanitize", sanitation);
	list.add<partitions>("partitions");
	EACH("begin and end", begin_and_end);
	return list.run(argc, argv);
}
