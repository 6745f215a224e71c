/*
 * common_test.h - what the tests of the accounts share: books that open or end it, and all cells.
 */
#ifndef PFS_ACCOUNTS_COMMON_TEST_H
#define PFS_ACCOUNTS_COMMON_TEST_H

#include <stdio.h>
#include <stdlib.h>

#include <pfslab/memory.h>

#include "memory/accounts/books.h"

/* The books, and an instrument in them. */
static inline struct pfs_books *books_or_exit(const struct pfs_memory_config *config,
					      const char *instrument, pfs_memory_key *key)
{
	struct pfs_books *books;
	struct pfs_message message;
	if (pfs_memory_open(config, &books, &message) != PFS_OK) {
		(void)fprintf(stderr, "%s\n", message.text);
		exit(2);
	}
	*key = pfs_memory_register(books, instrument);
	return books;
}

/* Each cell that is there, with its sums, after all that had ended was folded. */
static inline void visit_cells(struct pfs_books *books,
			       void (*visit)(struct pfs_cell *cell, struct pfs_cell_sums sums,
					     void *context),
			       void *context)
{
	struct pfs_walk walk;
	struct pfs_cell *cell;
	pfs_desk_open(books);
	pfs_walk_begin(&walk, books->shelves[PFS_SHELF_CELLS].handle, PFS_WALK_LIVE);
	while ((cell = pfs_walk_next(&walk)) != NULL)
		visit(cell, pfs_cell_read(cell), context);
	pfs_walk_end(&walk);
	pfs_desk_close(books);
}

#endif
