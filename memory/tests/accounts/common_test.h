/*
 * common_test.h - shared by the tests of the accounts: checks, books, cases by name, all cells.
 */
#ifndef PFS_ACCOUNTS_COMMON_TEST_H
#define PFS_ACCOUNTS_COMMON_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pfslab/memory.h>

#include "memory/accounts/books.h"

/* Or the process ends. */
#define CHECK(condition)                                                              \
	do {                                                                          \
		if (!(condition)) {                                                   \
			(void)fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			exit(1);                                                      \
		}                                                                     \
	} while (0)

/* The next random number. */
static inline uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A configuration without ticks; folder NULL: private. */
static inline struct pfs_memory_config test_config(const char *folder)
{
	struct pfs_memory_config config;
	pfs_memory_config_init(&config);
	config.folder = folder;
	config.is_private = folder == NULL;
	config.tick_ms = 0;
	return config;
}

/* Opens books with an instrument, or ends the process. */
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

struct test_case {
	const char *name;
	void (*run)(void);
};

/* Runs the case of a name, and closes the books; false: there is none. */
static inline bool run_case(const struct test_case *cases, size_t count, const char *name,
			    struct pfs_books *books)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(cases[i].name, name) != 0)
			continue;
		cases[i].run();
		pfs_memory_close(books);
		return true;
	}
	return false;
}

/* Visits each cell with its sums, after finished cells are folded. */
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
