/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfs_lock.h - stand-in: the word of a record, FREE, DIRTY or ALLOCATED, with its version.
 *
 * As in the server, each access is sequentially consistent, and only FREE -> DIRTY is a
 * compare-and-swap: the other changes are those of the record's owner.
 */
#ifndef STANDIN_PFS_LOCK_H
#define STANDIN_PFS_LOCK_H

#include <atomic>

#include "my_global.h"

struct pfs_dirty_state {
	uint32 m_version_state;
};

struct pfs_optimistic_state {
	uint32 m_version_state;
};

struct pfs_lock {
	enum : uint32 { FREE = 0, DIRTY = 1, ALLOCATED = 2, STATES = 3, VERSION_ONE = 4 };

	std::atomic<uint32> m_version_state;

	bool is_free() const
	{
		return (m_version_state.load() & STATES) == FREE;
	}
	bool is_populated() const
	{
		return (m_version_state.load() & STATES) == ALLOCATED;
	}
	uint32 get_version() const
	{
		return m_version_state.load() & ~uint32(STATES);
	}

	bool free_to_dirty(pfs_dirty_state *state)
	{
		uint32 word = m_version_state.load();
		if ((word & STATES) != FREE)
			return false;
		state->m_version_state = word + DIRTY;
		return m_version_state.compare_exchange_strong(word, word + DIRTY);
	}

	void dirty_to_allocated(const pfs_dirty_state *state)
	{
		assert((state->m_version_state & STATES) == DIRTY);
		m_version_state.store(state->m_version_state - DIRTY + VERSION_ONE + ALLOCATED);
	}

	void allocated_to_dirty(pfs_dirty_state *state)
	{
		uint32 word = m_version_state.load();
		assert((word & STATES) == ALLOCATED);
		state->m_version_state = word - ALLOCATED + DIRTY;
		m_version_state.store(state->m_version_state);
	}

	void allocated_to_free()
	{
		uint32 word = m_version_state.load();
		assert((word & STATES) == ALLOCATED);
		m_version_state.store(word - ALLOCATED);
	}

	void begin_optimistic_lock(pfs_optimistic_state *state) const
	{
		state->m_version_state = m_version_state.load();
	}

	bool end_optimistic_lock(const pfs_optimistic_state *state) const
	{
		return (state->m_version_state & STATES) == ALLOCATED &&
		       state->m_version_state == m_version_state.load();
	}
};

#endif
