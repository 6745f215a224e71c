/*
 * rules.c - how a free is credited: our rule, those of MySQL and MariaDB, and a demonstration.
 *
 * exact   to the cell that was debited: the note is the cell. An ended life's cell stays until its
 *         last block is free.
 * freer   to the freeing thread (MySQL 5.7, MariaDB): the note is the instrument. Rows go below
 *         zero if threads free blocks of others.
 * global  to the freeing thread, if the note has the number of its record, else to the global row
 *         (newer MySQL 8.0): the note is instrument and number. At a life's end blocks in use move
 *         to the global row, the rest to its account. A reused record gets the frees of its
 *         previous life, as in MySQL. The numbers are those of records of a container of its own,
 *         with policy original and pages of 256, as in MySQL: it takes records round robin, so one
 *         is reused only after the others of its page.
 * global_at_once
 *         the same, but an ended life's number is reused at once, which no server does. It shows
 *         which errors depend on reuse.
 *
 * none    to no cell: of a forked child without memory for its copy of the accounts.
 *
 * Source: the latter two from descriptions of MySQL's accounting (WL#3249, and of 8.0's aggregation
 * with reassignment); the code is our own.
 */
#include <string.h>

#include "count.h"
#include "marks.h"

/* ---- exact ---- */

static uint32_t exact_reference(const struct pfs_memory_thread *thread, const struct pfs_cell *cell)
{
	(void)thread;
	return cell->line;
}

static void exact_credit(struct pfs_books *memory, struct pfs_memory_thread *thread,
			 uint32_t reference, uint64_t bytes)
{
	pfs_credit_exact(memory, thread, reference, bytes);
}

static uint32_t exact_instrument(const struct pfs_books *memory, uint32_t reference)
{
	return pfs_cell_at(memory, reference)->instrument;
}

static void exact_end(struct pfs_books *memory, struct pfs_memory_thread *thread,
		      struct pfs_cell *cell)
{
	(void)thread;
	if (pfs_cell_end(cell))
		pfs_cell_fold(memory, cell);
}

/* ---- freer ---- */

static uint32_t instrument_reference(const struct pfs_memory_thread *thread,
				     const struct pfs_cell *cell)
{
	(void)thread;
	return cell->instrument;
}

/* Credits the global cell, under the desk, because any thread may do so. */
static void credit_global(struct pfs_books *memory, uint32_t instrument, uint64_t bytes)
{
	pfs_desk_open(memory);
	struct pfs_cell *cell = pfs_party_cell(memory, memory->global, instrument - 1);
	if (cell != NULL)
		pfs_cell_credit_own(cell, bytes);
	pfs_desk_close(memory);
}

static void freer_credit(struct pfs_books *memory, struct pfs_memory_thread *thread,
			 uint32_t reference, uint64_t bytes)
{
	struct pfs_cell *cell = thread != NULL ? thread->all_cells[reference] : NULL;
	if (thread != NULL && cell == NULL)
		cell = pfs_thread_cell(thread, reference);
	if (cell != NULL)
		pfs_cell_credit_own(cell, bytes);
	else
		credit_global(memory, reference, bytes);
}

static uint32_t same_instrument(const struct pfs_books *memory, uint32_t reference)
{
	(void)memory;
	return reference;
}

/* Moves all sums up, even if blocks are in use. */
static void freer_end(struct pfs_books *memory, struct pfs_memory_thread *thread,
		      struct pfs_cell *cell)
{
	(void)thread;
	pfs_cell_fold(memory, cell);
}

/* ---- global ---- */

#define INSTRUMENT_BITS 11u

static uint32_t numbered_reference(const struct pfs_memory_thread *thread,
				   const struct pfs_cell *cell)
{
	return thread->number << INSTRUMENT_BITS | cell->instrument;
}

static uint32_t numbered_instrument(const struct pfs_books *memory, uint32_t reference)
{
	(void)memory;
	return reference & ((1u << INSTRUMENT_BITS) - 1);
}

static void global_credit(struct pfs_books *memory, struct pfs_memory_thread *thread,
			  uint32_t reference, uint64_t bytes)
{
	uint32_t instrument = numbered_instrument(memory, reference);
	if (thread != NULL && thread->number == reference >> INSTRUMENT_BITS)
		freer_credit(memory, thread, instrument, bytes);
	else
		credit_global(memory, instrument, bytes);
}

/* Moves what is in use to the global row; the rest is balanced and moves up. */
static void global_end(struct pfs_books *memory, struct pfs_memory_thread *thread,
		       struct pfs_cell *cell)
{
	struct pfs_cell_sums sums = pfs_cell_read(cell), net = { 0, 0, 0, 0 };
	(void)thread;
	if (sums.allocs > sums.frees)
		net.allocs = sums.allocs - sums.frees;
	if (sums.alloc_bytes > sums.free_bytes)
		net.alloc_bytes = sums.alloc_bytes - sums.free_bytes;
	pfs_cell_add_own(&cell->allocs, -net.allocs);
	pfs_cell_add_own(&cell->alloc_bytes, -net.alloc_bytes);
	struct pfs_cell *global = pfs_party_cell(memory, memory->global, cell->instrument - 1);
	if (global != NULL) {
		pfs_cell_add_own(&global->allocs, net.allocs);
		pfs_cell_add_own(&global->alloc_bytes, net.alloc_bytes);
		pfs_marks_reach(memory, global, net.allocs, net.alloc_bytes);
	}
	pfs_cell_fold(memory, cell);
}

/* ---- none ---- */

static uint32_t no_reference(const struct pfs_memory_thread *thread, const struct pfs_cell *cell)
{
	(void)thread, (void)cell;
	return 0;
}

static void no_credit(struct pfs_books *memory, struct pfs_memory_thread *thread,
		      uint32_t reference, uint64_t bytes)
{
	(void)memory, (void)thread, (void)reference, (void)bytes;
}

static uint32_t no_instrument(const struct pfs_books *memory, uint32_t reference)
{
	(void)memory, (void)reference;
	return 0;
}

static void no_end(struct pfs_books *memory, struct pfs_memory_thread *thread,
		   struct pfs_cell *cell)
{
	(void)memory, (void)thread, (void)cell;
}

const struct pfs_rule pfs_rule_none = {
	"none", no_reference, no_credit, no_instrument, no_end, NULL
};
const struct pfs_rule pfs_rule_exact = { "exact",          exact_reference, exact_credit,
					 exact_instrument, exact_end,       NULL };
static const struct pfs_rule freer = { "freer",      instrument_reference,
				       freer_credit, same_instrument,
				       freer_end,    NULL };
static const struct pfs_rule global = { "global",      numbered_reference,
					global_credit, numbered_instrument,
					global_end,    "original" };
static const struct pfs_rule global_at_once = { "global_at_once", numbered_reference,
						global_credit,    numbered_instrument,
						global_end,       NULL };

static const struct pfs_rule *const rules[] = { &pfs_rule_exact, &freer, &global, &global_at_once };

const struct pfs_rule *pfs_rule_find(const char *name)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (strcmp(rules[i]->name, name) == 0)
			return rules[i];
	return NULL;
}
