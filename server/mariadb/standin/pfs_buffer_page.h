/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfs_buffer_page.h - stand-in: a page of records, its default allocator, visitors of records.
 */
#ifndef STANDIN_PFS_BUFFER_PAGE_H
#define STANDIN_PFS_BUFFER_PAGE_H

#include <atomic>

#include "pfs_builtin_memory.h"
#include "pfs_lock.h"

class PFS_opaque_container_page;
class PFS_opaque_container;

template <class T> class PFS_buffer_const_iterator;

template <class T> class PFS_buffer_processor
{
      public:
	virtual ~PFS_buffer_processor() = default;
	virtual void operator()(T *record) = 0;
};

/* The full flags and the container's counter are atomic, so that ThreadSanitizer reports only what
 * is the adapter's. */
template <class T> class PFS_buffer_default_array
{
      public:
	typedef T value_type;

	/* One round of the cursor that all threads share. */
	T *allocate(pfs_dirty_state *dirty_state)
	{
		if (m_full)
			return nullptr;
		uint32 first = m_monotonic.fetch_add(1);
		for (uint32 at = first; at < first + m_max; at = m_monotonic.fetch_add(1)) {
			T *record = &m_ptr[at % m_max];
			if (record->m_lock.free_to_dirty(dirty_state))
				return record;
		}
		m_full = true;
		return nullptr;
	}

	void deallocate(T *record)
	{
		record->m_lock.allocated_to_free();
		m_full = false;
	}

	T *get_first()
	{
		return m_ptr;
	}
	T *get_last()
	{
		return m_ptr + m_max;
	}

	std::atomic<bool> m_full;
	std::atomic<uint32> m_monotonic;
	T *m_ptr;
	size_t m_max;
	PFS_opaque_container *m_container;
};

template <class T> class PFS_buffer_default_allocator
{
      public:
	typedef PFS_buffer_default_array<T> array_type;

	explicit PFS_buffer_default_allocator(PFS_builtin_memory_class *klass)
	    : m_builtin_class(klass)
	{
	}

	int alloc_array(array_type *array)
	{
		array->m_full = true;
		array->m_monotonic = 0;
		array->m_ptr = pfs_malloc_array<T>(m_builtin_class, array->m_max);
		if (array->m_ptr == nullptr)
			return 1;
		array->m_full = false;
		return 0;
	}

	void free_array(array_type *array)
	{
		pfs_free_array(m_builtin_class, array->m_max, array->m_ptr);
	}

      private:
	PFS_builtin_memory_class *m_builtin_class;
};

#endif
