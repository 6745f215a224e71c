/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * accounts_standin.h - functions that behave like the server's, with the hooks of the accounts.
 *
 * They have the server's early returns, its word in each block's header, and its threads.
 */
#ifndef PFSLAB_ACCOUNTS_STANDIN_H
#define PFSLAB_ACCOUNTS_STANDIN_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pfslab_accounts.h"

#define CHECK(condition)                                                              \
	do {                                                                          \
		if (!(condition)) {                                                   \
			(void)fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			exit(1);                                                      \
		}                                                                     \
	} while (0)

namespace
{

struct Thread_class {
	char m_name[64];
	unsigned m_name_length;
};

struct alignas(64) Thread {
	Thread_class *m_class;
	pfs_memory_thread *m_pfslab_life;
	char m_username[32], m_hostname[64];
	unsigned m_username_length, m_hostname_length;
};

struct Info {
	unsigned *m_key;
	const char *m_name;
	int m_flags;
};

constexpr int flag_global = 1;
struct Opaque; /* the server's type of an owner that its callers see */

thread_local Thread *current;
bool pfs_initialized = true;
bool is_enabled = true; /* the instruments, in the server */

Thread *my_thread_get_THR_PFS()
{
	return current;
}

void register_memory(const char *category, Info *info, int count)
{
	pfslab::Registration<Info> hook(category, info, count, flag_global);
	static unsigned last_key;
	for (; count > 0; count--, info++)
		*info->m_key = ++last_key;
}

unsigned memory_alloc(unsigned key, size_t size, Opaque **owner)
{
	pfslab::Allocation<Thread, Opaque> hook(PFSLAB_THREAD, key, size, owner);
	if (!is_enabled) {
		*owner = nullptr;
		return 0;
	}
	*owner = reinterpret_cast<Opaque *>(current);
	return key;
}

unsigned memory_realloc(unsigned key, size_t before, size_t after, Opaque **owner)
{
	pfslab::Transfer<Thread, Opaque> hook(PFSLAB_THREAD, key, before, after, owner);
	if (!is_enabled) {
		*owner = nullptr;
		return 0;
	}
	*owner = reinterpret_cast<Opaque *>(current);
	return key;
}

/* Returns the owner before, as the server's code sees it. */
Thread *memory_claim(unsigned key, size_t size, Opaque **owner)
{
	pfslab::Transfer<Thread, Opaque> hook(PFSLAB_THREAD, key, size, size, owner);
	Thread *before = reinterpret_cast<Thread *>(*owner);
	*owner = reinterpret_cast<Opaque *>(current);
	return before;
}

Thread *memory_free(size_t size, Opaque *owner)
{
	pfslab::freed(PFSLAB_THREAD, size, owner);
	return reinterpret_cast<Thread *>(owner);
}

void copy(char *to, unsigned *length, const char *from)
{
	*length = static_cast<unsigned>(strlen(from));
	memcpy(to, from, *length);
}

void set_account(const char *user, const char *host)
{
	pfslab::Account_change<Thread> hook(PFSLAB_THREAD);
	copy(current->m_username, &current->m_username_length, user);
	copy(current->m_hostname, &current->m_hostname_length, host);
}

void delete_thread(Thread *thread)
{
	pfslab::life_end(thread);
	if (thread == current)
		current = nullptr;
	free(thread);
}

Thread_class connection_class = { "thread/sql/one_connection", 25 };

Thread *new_thread()
{
	void *memory = aligned_alloc(alignof(Thread), sizeof(Thread));
	CHECK(memory != nullptr);
	memset(memory, 0, sizeof(Thread));
	Thread *thread = static_cast<Thread *>(memory);
	thread->m_class = &connection_class;
	return thread;
}

} // namespace

#endif
