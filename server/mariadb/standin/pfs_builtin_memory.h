/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfs_builtin_memory.h - stand-in: memory of the performance schema itself, counted by class.
 */
#ifndef STANDIN_PFS_BUILTIN_MEMORY_H
#define STANDIN_PFS_BUILTIN_MEMORY_H

#include <atomic>

#include "my_global.h"

#define MY_ZEROFILL 32

struct PFS_builtin_memory_class {
	std::atomic<long> m_blocks, m_bytes;

	void count_alloc(size_t size)
	{
		m_blocks++;
		m_bytes += static_cast<long>(size);
	}

	void count_free(size_t size)
	{
		m_blocks--;
		m_bytes -= static_cast<long>(size);
	}
};

extern PFS_builtin_memory_class builtin_memory_scalable_buffer;
extern PFS_builtin_memory_class builtin_memory_mutex;
extern PFS_builtin_memory_class builtin_memory_thread;
extern PFS_builtin_memory_class builtin_memory_thread_history;
extern PFS_builtin_memory_class builtin_memory_thread_text;

void *pfs_malloc(PFS_builtin_memory_class *klass, size_t size, myf flags);
void pfs_free(PFS_builtin_memory_class *klass, size_t size, void *memory);

template <class T> T *pfs_malloc_array(PFS_builtin_memory_class *klass, size_t count)
{
	return static_cast<T *>(pfs_malloc(klass, count * sizeof(T), MY_ZEROFILL));
}

template <class T> void pfs_free_array(PFS_builtin_memory_class *klass, size_t count, T *&array)
{
	pfs_free(klass, count * sizeof(T), static_cast<void *>(array));
	array = nullptr;
}

#endif
