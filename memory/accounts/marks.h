/*
 * marks.h - access to the words of high and low water marks, and their sums.
 */
#ifndef PFS_ACCOUNTS_MARKS_H
#define PFS_ACCOUNTS_MARKS_H

#include "books.h"

static inline uint32_t pfs_marks_epoch(const struct pfs_books *self, uint32_t table)
{
	/* relaxed: a switch; this look sees it, or the next. */
	return pfs_load_relaxed(&self->control->truncates[table]);
}

static inline void pfs_mark_set(_Atomic(uint64_t) *word, uint64_t value)
{
	pfs_store_release(word, value); /* [J1] release, pairs with [J2]: of which life */
}

static inline uint64_t pfs_mark_get(_Atomic(uint64_t) *word)
{
	return pfs_load_relaxed(word); /* relaxed: the caller is the only writer */
}

/* Signed: under the rules freer and global a current value may be below zero. */
static inline bool pfs_mark_is_less(uint64_t one, uint64_t other)
{
	return (int64_t)one < (int64_t)other;
}

/* A party's marks of a table, reset if that was truncated. Under the desk. */
struct pfs_marks *pfs_marks_of_party(struct pfs_books *self, struct pfs_cell *cell, uint32_t table);

/* Initializes a new cell's marks to 0 and to the current epochs. */
void pfs_marks_begin(struct pfs_books *self, struct pfs_cell *cell);

/* Adds a cell's high marks to a party's, for all tables. */
void pfs_marks_add(struct pfs_books *self, struct pfs_cell *to, struct pfs_cell *from);

/* Adds to a party's high marks what was moved to its cell and is in use. */
void pfs_marks_reach(struct pfs_books *self, struct pfs_cell *to, uint64_t count, uint64_t bytes);

/* The owner's cell moves to another account, of which it was no part before. Under the desk. */
void pfs_marks_move(struct pfs_books *self, struct pfs_cell *cell);

#endif
