/*
 * lives.h - which versions of a record belong to one life, for weak references that survive
 * pfs_reopen (config.lasting_references).
 *
 * A record has an entry {begin, end, OPEN}: the versions from begin to end belong to one life. Only
 * reopen, and the publish or abandon that ends it, write entries; so a record that is never
 * reopened costs only its entry's 8 bytes. The first publish of the next life makes a version after
 * `end`, which no entry contains yet.
 *
 *	reopen     begin stays if end is the record's version, else both become that; OPEN set
 *	publish    of a reopened record: end becomes the new version, OPEN cleared
 *	abandon    of a reopened record: OPEN cleared; the life is over
 *
 * Invariants
 *	[F1] only the record's owner writes an entry, while the record is DIRTY or about to be.
 *	[F2] if a word ALLOCATED v belongs to the life of version r < v, the entry has end == v and
 *	     begin <= r: a publish of a reopened record made v, and wrote the entry before.
 *	[F3] if a word DIRTY v is that of a reopened record, the entry has end == v and OPEN. For a
 *	     record that was allocated and not published yet OPEN is clear.
 *
 * Ordering:  entries are stored relaxed, before the word that goes with them, whose [L2], [L3] or
 *            [L7] of pfs_lock.h releases them to [L4]. A reader reads the word, the entry and the
 *            word again: if the word has not changed, both are of one moment. The entry is loaded
 *            by acquire, which keeps the second read of the word after it.
 * Limits:    versions have 30 bits; a life of 2^30 publishes, or a reference kept for that many, is
 *            mistaken, as with pfs_lock.
 * Source:    our own.
 */
#ifndef PFS_LIVES_H
#define PFS_LIVES_H

#include "page.h"

#define PFS_LIFE_OPEN (UINT64_C(1) << 63)
#define PFS_LIFE_VERSIONS ((UINT32_C(1) << 30) - 1)

static inline uint32_t pfs_life_begin(uint64_t entry)
{
	return (uint32_t)(entry >> 32) & PFS_LIFE_VERSIONS;
}

static inline uint32_t pfs_life_end(uint64_t entry)
{
	return (uint32_t)entry & PFS_LIFE_VERSIONS;
}

static inline uint64_t pfs_life_of(uint32_t begin, uint32_t end, uint64_t open)
{
	return (uint64_t)begin << 32 | end | open;
}

/* Before the owner makes the record DIRTY; version is the record's. */
static inline void pfs_life_reopen(_Atomic(uint64_t) *life, uint32_t version)
{
	uint64_t seen = pfs_load_relaxed(life); /* relaxed: the owner's [F1] */
	uint32_t begin = pfs_life_end(seen) == version ? pfs_life_begin(seen) : version;
	/* relaxed: released by [L7]. */
	pfs_store_relaxed(life, pfs_life_of(begin, version, PFS_LIFE_OPEN));
}

/* Before the owner publishes the record as this version. Does nothing if it was not reopened. */
static inline void pfs_life_extend(_Atomic(uint64_t) *life, uint32_t version)
{
	uint64_t seen = pfs_load_relaxed(life); /* relaxed: the owner's [F1] */
	if ((seen & PFS_LIFE_OPEN) == 0)
		return;
	/* relaxed: released by [L2]. */
	pfs_store_relaxed(life, pfs_life_of(pfs_life_begin(seen), version, 0));
}

/* Before the owner abandons the record. */
static inline void pfs_life_close(_Atomic(uint64_t) *life)
{
	uint64_t seen = pfs_load_relaxed(life);         /* relaxed: the owner's [F1] */
	pfs_store_relaxed(life, seen & ~PFS_LIFE_OPEN); /* relaxed: released by [L3] */
}

/* True if a record with this word and entry is in the life that had this version. */
static inline bool pfs_life_has(uint32_t word, uint64_t entry, uint32_t version)
{
	uint32_t now = word / PFS_VERSION_ONE, begin = pfs_life_begin(entry);
	bool is_open = (entry & PFS_LIFE_OPEN) != 0;
	if (version > PFS_LIFE_VERSIONS)
		return false;
	if (pfs_word_state(word) != (is_open ? PFS_STATE_DIRTY : PFS_STATE_ALLOCATED))
		return false;
	return pfs_life_end(entry) == now &&
	       ((version - begin) & PFS_LIFE_VERSIONS) <= ((now - begin) & PFS_LIFE_VERSIONS);
}

#endif
