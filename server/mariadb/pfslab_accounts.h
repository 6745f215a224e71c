/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfslab_accounts.h - the server's memory instruments, users and hosts, in a pfslab box.
 *
 * With --pfslab-accounts=ON the server's calls for memory, threads and accounts also go to the
 * accounts library (pfslab/memory.h). Its box is a file, which pfs-mem reads while the server runs
 * and after it was killed.
 *
 * The note of a block. The library needs 4 bytes per block, which say who was charged. The server
 * keeps in each block's header a pointer to the owning thread. It is aligned to 64 bytes and has
 * 48 bits, so the note fits into the same word. Each hook takes the note out before the server's
 * code runs, and puts it back afterwards.
 *
 * What is exact: a free is credited to the row that was charged for the allocation, whichever
 * thread frees the block, and with whatever settings. So no row falls below zero, and rows add up.
 *
 *	who allocates                                     who is charged
 *	a thread of the Performance Schema                its life, which moves to the account of
 *							  a login with all that it holds
 *	under an instrument with the flag global          the life "server"
 *	a thread without instrumentation                  the life "server"
 *	the Performance Schema, for its own memory        the life "server"
 *
 * What differs from the server's tables: instruments and threads that are disabled there count
 * here (setup_instruments of the box is another switch). A block that was not counted counts from
 * its next realloc on. A limit set with pfs-mem cannot refuse the server's blocks: a block above it
 * is not counted. Blocks of the Performance Schema itself have no header; after a switch of their
 * instrument in the box, only as much is credited as was charged.
 *
 * THREAD in the templates is the server's PFS_thread; the tests have another one.
 */
#ifndef PFSLAB_ACCOUNTS_H
#define PFSLAB_ACCOUNTS_H

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pfslab/memory.h>

/* The calling thread's, in a file of the server; NULL after the end of the Performance Schema. */
#define PFSLAB_THREAD (pfs_initialized ? my_thread_get_THR_PFS() : nullptr)

namespace pfslab
{

extern char accounts_on;                        /* the server's option, a my_bool */
extern std::atomic<pfs_books *> accounts_books; /* NULL: off, or not open yet */

/* The open books; NULL: the accounts are off. */
inline pfs_books *accounts_now()
{
	/* [R2] acquire, pairs with [R1]: without it a thread could use books that are not filled.
	 */
	return accounts_books.load(std::memory_order_acquire);
}

/* ---- a word of the server's header: its owner, and the note ---- */

constexpr unsigned note_bits = 22; /* 64 - 48 bits of an address + 6 of its alignment */

inline uint64_t word_of(const void *owner, uint32_t reference)
{
	return (reinterpret_cast<uintptr_t>(owner) >> 6) << note_bits | reference;
}

inline uint32_t reference_in(uint64_t word)
{
	return static_cast<uint32_t>(word & ((UINT64_C(1) << note_bits) - 1));
}

inline void *owner_in(uint64_t word)
{
	return reinterpret_cast<void *>(static_cast<uintptr_t>(word >> note_bits << 6));
}

template <class OWNER> uint64_t load_word(OWNER *owner)
{
	return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(owner));
}

template <class OWNER> OWNER *store_word(uint64_t word)
{
	return reinterpret_cast<OWNER *>(static_cast<uintptr_t>(word));
}

/* ---- calls of the hooks; only with open books ---- */

struct Text {
	const char *bytes;
	size_t length; /* 0: none */
};

/* Opens the books if the option says so, once; the server still runs alone. */
void accounts_open();
/* The server has given a key to an instrument; 0: it had no room. */
void accounts_register(const char *category, const char *name, unsigned key, bool is_global);
/* Is an allocation under this key charged to the thread? Otherwise to the life "server". */
bool accounts_charge_thread(unsigned key);

pfs_memory_thread *accounts_begin(Text thread, Text user, Text host);
/* A life gets another account; false: it cannot, and must end. */
bool accounts_move(pfs_memory_thread *life, Text user, Text host);

/* These return the reference of the note. life NULL: the life "server". */
uint32_t accounts_allocated(pfs_memory_thread *life, unsigned key, size_t bytes);
uint32_t accounts_resized(pfs_memory_thread *life, unsigned key, uint32_t reference, size_t before,
			  size_t after);
/* life NULL: a thread without one. */
void accounts_freed(pfs_memory_thread *life, uint32_t reference, size_t bytes);

/* The Performance Schema's own memory; name is the class's own copy, so its address is the key. */
void builtin_allocated(const char *name, size_t bytes);
void builtin_freed(const char *name, size_t bytes);

/* ---- lives: m_pfslab_life of the server's thread, changed only by the thread itself, or by the
 * one that deletes it ---- */

template <class THREAD> pfs_memory_thread *life_of(THREAD *thread)
{
	if (thread->m_pfslab_life == nullptr)
		thread->m_pfslab_life =
			accounts_begin({ thread->m_class->m_name, thread->m_class->m_name_length },
				       { thread->m_username, thread->m_username_length },
				       { thread->m_hostname, thread->m_hostname_length });
	return thread->m_pfslab_life;
}

template <class THREAD> void life_end(THREAD *thread)
{
	pfs_memory_thread *life = thread->m_pfslab_life;
	thread->m_pfslab_life = nullptr;
	pfs_memory_thread_end(life);
}

/* ---- hooks: an object at the begin of the server's function, which works when that returns ----
 */

/* Of the function that reports an allocation. */
template <class THREAD, class OWNER> class Allocation
{
      public:
	Allocation(THREAD *thread, unsigned key, size_t bytes, OWNER **owner)
	    : thread_(thread), key_(key), bytes_(bytes), owner_(owner)
	{
	}

	~Allocation()
	{
		if (accounts_now() == nullptr)
			return;
		bool is_own = thread_ != nullptr && accounts_charge_thread(key_);
		uint32_t reference = accounts_allocated(is_own ? life_of(thread_) : nullptr, key_,
							bytes_);
		*owner_ = store_word<OWNER>(word_of(*owner_, reference));
	}

	Allocation(const Allocation &) = delete;
	Allocation &operator=(const Allocation &) = delete;

      private:
	THREAD *thread_;
	unsigned key_;
	size_t bytes_;
	OWNER **owner_;
};

/* Of those that report a realloc, or that the calling thread takes a block over. */
template <class THREAD, class OWNER> class Transfer
{
      public:
	Transfer(THREAD *thread, unsigned key, size_t before, size_t after, OWNER **owner)
	    : thread_(thread), key_(key), before_(before), after_(after), owner_(owner)
	{
		if (accounts_now() == nullptr)
			return;
		uint64_t word = load_word(*owner);
		reference_ = reference_in(word);
		*owner = static_cast<OWNER *>(owner_in(word));
	}

	~Transfer()
	{
		if (accounts_now() == nullptr)
			return;
		bool is_own = thread_ != nullptr && accounts_charge_thread(key_);
		pfs_memory_thread *life = is_own ? life_of(thread_) : nullptr;
		uint32_t reference = accounts_resized(life, key_, reference_, before_, after_);
		*owner_ = store_word<OWNER>(word_of(*owner_, reference));
	}

	Transfer(const Transfer &) = delete;
	Transfer &operator=(const Transfer &) = delete;

      private:
	THREAD *thread_;
	unsigned key_;
	size_t before_, after_;
	OWNER **owner_;
	uint32_t reference_ = 0;
};

/* Of the function that reports a free; owner becomes the server's again. */
template <class THREAD, class OWNER> void freed(THREAD *thread, size_t bytes, OWNER *&owner)
{
	if (accounts_now() == nullptr)
		return;
	uint64_t word = load_word(owner);
	owner = static_cast<OWNER *>(owner_in(word));
	accounts_freed(thread != nullptr ? thread->m_pfslab_life : nullptr, reference_in(word),
		       bytes);
}

/* Of the function that registers instruments: it fills in the keys. */
template <class INFO> class Registration
{
      public:
	Registration(const char *category, INFO *info, int count, unsigned global_flag)
	    : category_(category), info_(info), count_(count), global_flag_(global_flag)
	{
		accounts_open();
	}

	~Registration()
	{
		for (int i = 0; accounts_now() != nullptr && i < count_; i++)
			accounts_register(
				category_, info_[i].m_name, *info_[i].m_key,
				(static_cast<unsigned>(info_[i].m_flags) & global_flag_) != 0);
	}

	Registration(const Registration &) = delete;
	Registration &operator=(const Registration &) = delete;

      private:
	const char *category_;
	INFO *info_;
	int count_;
	unsigned global_flag_;
};

/* Of those that change the thread's account: all that its life holds moves there. */
template <class THREAD> class Account_change
{
      public:
	explicit Account_change(THREAD *thread) : thread_(thread) {}

	~Account_change()
	{
		if (thread_ != nullptr && thread_->m_pfslab_life != nullptr &&
		    !accounts_move(thread_->m_pfslab_life,
				   { thread_->m_username, thread_->m_username_length },
				   { thread_->m_hostname, thread_->m_hostname_length }))
			life_end(thread_);
	}

	Account_change(const Account_change &) = delete;
	Account_change &operator=(const Account_change &) = delete;

      private:
	THREAD *thread_;
};

} // namespace pfslab

#endif
