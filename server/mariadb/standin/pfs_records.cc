/* SPDX-License-Identifier: GPL-2.0-only */
/* pfs_records.cc - see pfs_records.h. */
#include "pfs_records.h"

#include <cstdlib>
#include <cstring>

#include "server/mariadb/pfslab_memory.h"

PFS_builtin_memory_class builtin_memory_scalable_buffer;
PFS_builtin_memory_class builtin_memory_mutex;
PFS_builtin_memory_class builtin_memory_thread;
PFS_builtin_memory_class builtin_memory_thread_history;
PFS_builtin_memory_class builtin_memory_thread_text;

void *pfs_malloc(PFS_builtin_memory_class *klass, size_t size, myf flags)
{
	PFSLAB_MALLOC(klass, size);
	void *memory = malloc(size);
	if (memory == nullptr)
		return nullptr;
	klass->count_alloc(size);
	if ((flags & MY_ZEROFILL) != 0)
		memset(memory, 0, size);
	return memory;
}

void pfs_free(PFS_builtin_memory_class *klass, size_t size, void *memory)
{
	PFSLAB_FREE(klass, size, memory);
	if (memory == nullptr)
		return;
	free(memory);
	klass->count_free(size);
}

int PFS_thread_allocator::s_fails_at = 0;

int PFS_thread_allocator::alloc_array(PFS_thread_array *array)
{
	size_t count = array->m_max;
	array->m_ptr = nullptr;
	array->m_history_array = nullptr;
	array->m_text_array = nullptr;
	array->m_full = true;
	array->m_monotonic = 0;

	if (s_fails_at == 1)
		return 1;
	array->m_ptr = pfs_malloc_array<PFS_thread>(&builtin_memory_thread, count);
	if (array->m_ptr == nullptr || s_fails_at == 2)
		return 1;
	array->m_history_array = pfs_malloc_array<std::atomic<uint64_t>>(
		&builtin_memory_thread_history, count * PFS_thread::history_count);
	if (array->m_history_array == nullptr || s_fails_at == 3)
		return 1;
	array->m_text_array = pfs_malloc_array<std::atomic<char>>(&builtin_memory_thread_text,
								  count * PFS_thread::text_bytes);
	if (array->m_text_array == nullptr)
		return 1;

	for (size_t i = 0; i < count; i++) {
		array->m_ptr[i].m_history = array->m_history_array + i * PFS_thread::history_count;
		array->m_ptr[i].m_text = array->m_text_array + i * PFS_thread::text_bytes;
	}
	array->m_full = false;
	return 0;
}

void PFS_thread_allocator::free_array(PFS_thread_array *array)
{
	size_t count = array->m_max;
	pfs_free_array(&builtin_memory_thread, count, array->m_ptr);
	pfs_free_array(&builtin_memory_thread_history, count * PFS_thread::history_count,
		       array->m_history_array);
	pfs_free_array(&builtin_memory_thread_text, count * PFS_thread::text_bytes,
		       array->m_text_array);
}

/* All members, in the server's C++11. */
template class PFSLAB_buffer_scalable_container<PFS_mutex, mutex_page_size, mutex_page_count>;
template class PFSLAB_buffer_scalable_container<PFS_thread, thread_page_size, thread_page_count,
						PFS_thread_array, PFS_thread_allocator>;
template class PFS_partitioned_buffer_scalable_container<PFS_mutex_container, 2>;
