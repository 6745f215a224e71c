/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfs_buffer_container.h - stand-in: the server's paged container, then the adapter's in its place.
 *
 * What it does, and what it does not (a hole ends a scan; page headers stay counted), is as in
 * MariaDB 10.11. The code is our own.
 */
#ifndef STANDIN_PFS_BUFFER_CONTAINER_H
#define STANDIN_PFS_BUFFER_CONTAINER_H

#include <mutex>

#include "pfs_buffer_page.h"

template <class T, int PFS_PAGE_SIZE, int PFS_PAGE_COUNT, class U, class V>
class PFS_buffer_scalable_container;

template <class T, int PFS_PAGE_SIZE, int PFS_PAGE_COUNT, class U, class V>
class PFS_buffer_scalable_iterator
{
      public:
	typedef PFS_buffer_scalable_container<T, PFS_PAGE_SIZE, PFS_PAGE_COUNT, U, V> container;

	PFS_buffer_scalable_iterator(container *of, uint index) : m_container(of), m_index(index) {}
	T *scan_next(uint *found_index)
	{
		return m_container->scan_next(m_index, found_index);
	}

      private:
	container *m_container;
	uint m_index;
};

template <class T, int PFS_PAGE_SIZE, int PFS_PAGE_COUNT, class U = PFS_buffer_default_array<T>,
	  class V = PFS_buffer_default_allocator<T>>
class PFS_buffer_scalable_container
{
      public:
	typedef PFS_buffer_scalable_iterator<T, PFS_PAGE_SIZE, PFS_PAGE_COUNT, U, V> iterator_type;
	typedef PFS_buffer_processor<T> processor_type;
	typedef void (*function_type)(T *);

	static const size_t MAX_SIZE = PFS_PAGE_SIZE * PFS_PAGE_COUNT;

	explicit PFS_buffer_scalable_container(V *allocator) : m_allocator(allocator) {}

	int init(long max_size)
	{
		size_t size = max_size < 0 ? MAX_SIZE : static_cast<size_t>(max_size);
		if (size > MAX_SIZE)
			size = MAX_SIZE;
		m_lost = 0;
		m_monotonic = 0;
		m_page_limit = 0;
		m_page_max = (size + PFS_PAGE_SIZE - 1) / PFS_PAGE_SIZE;
		m_last_page_size = size % PFS_PAGE_SIZE == 0 ? PFS_PAGE_SIZE : size % PFS_PAGE_SIZE;
		m_full = size == 0;
		m_initialized = true;
		return 0;
	}

	void cleanup()
	{
		std::lock_guard<std::mutex> guard(m_critical_section);
		for (size_t i = 0; m_initialized && i < PFS_PAGE_COUNT; i++) {
			U *page = m_pages[i].exchange(nullptr);
			if (page == nullptr)
				continue;
			m_allocator->free_array(page);
			delete page;
		}
		m_initialized = false;
	}

	ulong get_row_count()
	{
		return m_page_limit.load() * PFS_PAGE_SIZE;
	}

	T *allocate(pfs_dirty_state *dirty_state)
	{
		T *record = m_full ? nullptr : allocate_existing(dirty_state);
		for (size_t i = m_page_limit; !m_full && record == nullptr && i < m_page_max; i++) {
			U *page = get_or_add(i);
			if (page == nullptr) {
				m_lost++;
				return nullptr;
			}
			record = allocate_in(page, dirty_state);
		}
		if (record == nullptr) {
			m_full = true;
			m_lost++;
		}
		return record;
	}

	void deallocate(T *record)
	{
		reinterpret_cast<U *>(record->m_page)->deallocate(record);
		m_full = false;
	}

	static void static_deallocate(T *record)
	{
		U *page = reinterpret_cast<U *>(record->m_page);
		reinterpret_cast<PFS_buffer_scalable_container *>(page->m_container)
			->deallocate(record);
	}

	iterator_type iterate(uint index)
	{
		return iterator_type(this, index);
	}

	void apply(function_type function)
	{
		each(false, function);
	}
	void apply_all(function_type function)
	{
		each(true, function);
	}
	void apply(processor_type &processor)
	{
		each(false, processor);
	}
	void apply_all(processor_type &processor)
	{
		each(true, processor);
	}

	T *get(uint index)
	{
		bool unused;
		return index < MAX_SIZE ? get(index, &unused) : nullptr;
	}

	T *get(uint index, bool *has_more)
	{
		U *page = index < MAX_SIZE ? m_pages[index / PFS_PAGE_SIZE].load() : nullptr;
		*has_more = page != nullptr && index % PFS_PAGE_SIZE < page->m_max;
		if (!*has_more)
			return nullptr;
		T *record = page->m_ptr + index % PFS_PAGE_SIZE;
		return record->m_lock.is_populated() ? record : nullptr;
	}

	T *sanitize(T *unsafe)
	{
		uintptr_t at = reinterpret_cast<uintptr_t>(unsafe);
		for (std::atomic<U *> &link : m_pages) {
			U *page = link;
			if (page == nullptr)
				continue;
			uintptr_t first = reinterpret_cast<uintptr_t>(page->get_first());
			uintptr_t last = reinterpret_cast<uintptr_t>(page->get_last());
			if (at >= first && at < last)
				return (at - first) % sizeof(T) == 0 ? unsafe : nullptr;
		}
		return nullptr;
	}

	std::atomic<ulong> m_lost{ 0 };

      private:
	friend iterator_type;

	T *scan_next(uint &index, uint *found_index)
	{
		bool has_more = true;
		for (; has_more; index++) {
			T *record = get(index, &has_more);
			if (record != nullptr) {
				*found_index = index++;
				return record;
			}
		}
		return nullptr;
	}

	/* The pages that exist, from the cursor of the last success on. */
	T *allocate_existing(pfs_dirty_state *dirty_state)
	{
		uint32 count = m_page_limit;
		uint32 at = m_monotonic;
		for (uint32 last = at + count; at < last; at = m_monotonic.fetch_add(1)) {
			U *page = m_pages[at % count];
			T *record = page != nullptr ? allocate_in(page, dirty_state) : nullptr;
			if (record != nullptr)
				return record;
		}
		return nullptr;
	}

	T *allocate_in(U *page, pfs_dirty_state *dirty_state)
	{
		T *record = page->allocate(dirty_state);
		if (record != nullptr)
			record->m_page = reinterpret_cast<PFS_opaque_container_page *>(page);
		return record;
	}

	/* One thread at a time adds a page. */
	U *get_or_add(size_t index)
	{
		U *page = m_pages[index];
		if (page != nullptr)
			return page;
		std::lock_guard<std::mutex> guard(m_critical_section);
		page = m_pages[index];
		if (page != nullptr)
			return page;
		page = new U();
		builtin_memory_scalable_buffer.count_alloc(sizeof(U));
		page->m_max = index + 1 == m_page_max ? m_last_page_size : PFS_PAGE_SIZE;
		page->m_container = reinterpret_cast<PFS_opaque_container *>(this);
		if (m_allocator->alloc_array(page) != 0) {
			m_allocator->free_array(page);
			builtin_memory_scalable_buffer.count_free(sizeof(U));
			delete page;
			return nullptr;
		}
		m_pages[index] = page;
		m_page_limit++;
		return page;
	}

	template <class F> void each(bool all, F &function)
	{
		for (std::atomic<U *> &link : m_pages) {
			U *page = link;
			if (page == nullptr)
				continue;
			for (T *record = page->get_first(); record < page->get_last(); record++)
				if (all || record->m_lock.is_populated())
					function(record);
		}
	}

	bool m_initialized = false;
	std::atomic<bool> m_full{ true };
	size_t m_page_max = 0, m_last_page_size = 0;
	std::atomic<uint32> m_monotonic{ 0 }, m_page_limit{ 0 };
	std::atomic<U *> m_pages[PFS_PAGE_COUNT] = {};
	V *m_allocator;
	std::mutex m_critical_section;
};

/* Containers beside each other. The user of a record knows its partition, and freeing needs none.
 */
template <class B, int PFS_PARTITION_COUNT> class PFS_partitioned_buffer_scalable_container
{
      public:
	typedef typename B::value_type value_type;

	explicit PFS_partitioned_buffer_scalable_container(typename B::allocator_type *allocator)
	{
		for (B *&partition : m_partitions)
			partition = new B(allocator);
	}

	~PFS_partitioned_buffer_scalable_container()
	{
		for (B *partition : m_partitions)
			delete partition;
	}

	int init(long max_size)
	{
		int result = 0;
		for (B *partition : m_partitions)
			result |= partition->init(max_size);
		return result;
	}

	void cleanup()
	{
		for (B *partition : m_partitions)
			partition->cleanup();
	}

	value_type *allocate(pfs_dirty_state *dirty_state, uint partition)
	{
		return m_partitions[partition]->allocate(dirty_state);
	}

	void deallocate(value_type *record)
	{
		B::static_deallocate(record);
	}

	B *m_partitions[PFS_PARTITION_COUNT];
};

#include "server/mariadb/pfslab_container.h"

#endif
