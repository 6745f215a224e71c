/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfs_records.h - stand-in: a record without arrays, one that points into arrays of its page, and
 * their containers.
 */
#ifndef STANDIN_PFS_RECORDS_H
#define STANDIN_PFS_RECORDS_H

#include "pfs_buffer_container.h"

/* m_stamp is written by a record's owner only. It is atomic, because readers look at it meanwhile.
 */
struct PFS_mutex {
	pfs_lock m_lock;
	PFS_opaque_container_page *m_page;
	std::atomic<uint64_t> m_stamp;
	char m_body[40];
};

struct PFS_thread {
	std::atomic<uint64_t> m_stamp;
	uint32 m_small;
	pfs_lock m_lock;
	PFS_opaque_container_page *m_page;
	std::atomic<uint64_t> *m_history; /* history_count of them */
	std::atomic<char> *m_text;        /* text_bytes */

	static const size_t history_count = 100;
	static const size_t text_bytes = 64;
};

class PFS_thread_array : public PFS_buffer_default_array<PFS_thread>
{
      public:
	std::atomic<uint64_t> *m_history_array;
	std::atomic<char> *m_text_array;
};

class PFS_thread_allocator
{
      public:
	int alloc_array(PFS_thread_array *array);
	void free_array(PFS_thread_array *array);

	/* Which of the arrays there is no memory for: 1 the records, 2 histories, 3 texts. */
	static int s_fails_at;
};

static const int mutex_page_size = 32, mutex_page_count = 6;
static const int thread_page_size = 16, thread_page_count = 6;

typedef PFS_buffer_scalable_container<PFS_mutex, mutex_page_size, mutex_page_count>
	PFS_mutex_container;
typedef PFS_partitioned_buffer_scalable_container<PFS_mutex_container, 2>
	PFS_mutex_partitioned_container;
typedef PFS_buffer_scalable_container<PFS_thread, thread_page_size, thread_page_count,
				      PFS_thread_array, PFS_thread_allocator>
	PFS_thread_container;

#endif
