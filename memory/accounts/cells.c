/*
 * cells.c - under the desk: allocate and free records of the box, including cells, and move the
 * sums of ended cells to their parents.
 */
#include "books.h"
#include "marks.h"

/* ---- records ---- */

static void count_lost(struct pfs_books *self, enum pfs_box_lost lost)
{
	(void)pfs_fetch_add_relaxed(&self->box.head->lost[lost], 1); /* relaxed: a count */
}

struct pfs_claim pfs_shelf_take(struct pfs_books *self, enum pfs_shelves shelf,
				enum pfs_box_lost lost, uint32_t *reference)
{
	struct pfs_thread *handle = self->shelves[shelf].handle;
	struct pfs_claim claim = pfs_allocate(handle);
	if (claim.record == NULL) {
		count_lost(self, lost);
		return claim;
	}
	*reference = (uint32_t)pfs_index(handle, claim.record) + 1;
	return claim;
}

void pfs_shelf_publish(struct pfs_books *self, enum pfs_shelves shelf, struct pfs_claim claim)
{
	pfs_publish(self->shelves[shelf].handle, claim);
}

void pfs_shelf_give(struct pfs_books *self, enum pfs_shelves shelf, void *record)
{
	pfs_free(self->shelves[shelf].handle, record);
}

/* ---- cells ---- */

/* Every word of the cell is written before it is published. The stores are atomic, because a reader
 * may still be reading the record's previous life. */
struct pfs_cell *pfs_cell_new(struct pfs_books *self, const struct pfs_cell *like)
{
	uint32_t reference;
	struct pfs_claim claim = pfs_shelf_take(self, PFS_SHELF_CELLS, PFS_LOST_CELLS, &reference);
	if (claim.record == NULL)
		return NULL;
	struct pfs_cell fresh = *like;
	fresh.reference = reference;
	fresh.line = pfs_cell_line(self, claim.record);
	pfs_marks_begin(self, &fresh);
	pfs_bytes_store(claim.record, &fresh, sizeof(fresh));
	pfs_shelf_publish(self, PFS_SHELF_CELLS, claim);
	return claim.record;
}

struct pfs_cell *pfs_party_cell(struct pfs_books *self, struct pfs_party *party,
				uint32_t instrument)
{
	if (instrument >= self->instruments_max) /* of a cell of a truncated box */
		return NULL;
	if (party->cells[instrument] != NULL)
		return party->cells[instrument];
	struct pfs_cell like = { .level = party->level, .instrument = instrument + 1 };
	if (party->level == PFS_CELL_OF_ACCOUNT)
		like.account = party->reference;
	if (party->level == PFS_CELL_OF_USER)
		like.user = party->reference;
	if (party->level == PFS_CELL_OF_HOST)
		like.host = party->reference;
	party->cells[instrument] = pfs_cell_new(self, &like);
	return party->cells[instrument];
}

/* ---- sums move ---- */

void pfs_moves_begin(struct pfs_books *self, struct pfs_party *party)
{
	_Atomic(uint64_t) *moves = party->record != NULL ? &party->record->moves
							 : &self->box.head->moves;
	/* [J4] acq_rel, pairs with [J4]: odd before any of the sums. */
	(void)pfs_fetch_add_acq_rel(moves, 1);
}

void pfs_moves_end(struct pfs_books *self, struct pfs_party *party)
{
	_Atomic(uint64_t) *moves = party->record != NULL ? &party->record->moves
							 : &self->box.head->moves;
	/* [J4] acq_rel, pairs with [J4]: even after all of them. */
	(void)pfs_fetch_add_acq_rel(moves, 1);
}

void pfs_party_add(struct pfs_books *self, struct pfs_party *party, struct pfs_cell *from,
		   struct pfs_cell_sums sums)
{
	struct pfs_cell *to = pfs_party_cell(self, party, from->instrument - 1);
	if (to == NULL)
		return; /* the party is being removed; counted as lost */
	pfs_cell_add_own(&to->allocs, sums.allocs);
	pfs_cell_add_own(&to->alloc_bytes, sums.alloc_bytes);
	pfs_cell_add_own(&to->frees, sums.frees);
	pfs_cell_add_own(&to->free_bytes, sums.free_bytes);
	pfs_marks_add(self, to, from);
}

static struct pfs_party *party_at(struct pfs_books *self, enum pfs_cell_level level,
				  uint32_t reference)
{
	return self->by_reference[level - PFS_CELL_OF_ACCOUNT][reference];
}

struct pfs_parents pfs_parents_of(struct pfs_books *self, struct pfs_cell *cell)
{
	struct pfs_parents parents = { { NULL }, 0 };
	if (cell->account != 0) {
		parents.of[parents.count++] = party_at(self, PFS_CELL_OF_ACCOUNT, cell->account);
		return parents;
	}
	if (cell->user != 0)
		parents.of[parents.count++] = party_at(self, PFS_CELL_OF_USER, cell->user);
	if (cell->host != 0)
		parents.of[parents.count++] = party_at(self, PFS_CELL_OF_HOST, cell->host);
	/* The global row does not sum those of users and hosts, so it has a cell of its own. */
	parents.of[parents.count++] = self->global;
	return parents;
}

void pfs_cell_fold(struct pfs_books *self, struct pfs_cell *cell)
{
	struct pfs_parents parents = pfs_parents_of(self, cell);
	struct pfs_cell_sums sums = pfs_cell_read(cell);
	for (uint32_t i = 0; i < parents.count; i++)
		pfs_moves_begin(self, parents.of[i]);
	for (uint32_t i = 0; i < parents.count; i++)
		pfs_party_add(self, parents.of[i], cell, sums);
	pfs_shelf_give(self, PFS_SHELF_CELLS, cell);
	for (uint32_t i = 0; i < parents.count; i++) {
		pfs_moves_end(self, parents.of[i]);
		parents.of[i]->lives--;
	}
}

void pfs_cell_finish(struct pfs_books *self, struct pfs_cell *cell)
{
	/* relaxed: a guess, the exchange decides. */
	uint32_t first = pfs_load_relaxed(&self->finished);
	do {
		pfs_store_relaxed(&cell->next, first); /* relaxed: [J6] carries it */
						       /* [J6] release, pairs with [J7]. */
	} while (!pfs_cas_release(&self->finished, &first, cell->line));
}

void pfs_cells_fold_finished(struct pfs_books *self)
{
	/* relaxed: a look; a cell finished now is folded by the next pfs_desk_open. */
	if (pfs_load_relaxed(&self->finished) == 0)
		return;
	/* [J7] seq, pairs with [J6]: next, and by [J3] the sums. */
	uint32_t line = pfs_exchange_seq(&self->finished, 0);
	while (line != 0 && line <= self->cell_lines) {
		struct pfs_cell *cell = pfs_cell_at(self, line);
		line = pfs_load_relaxed(&cell->next); /* relaxed: [J7] brought it */
		pfs_cell_fold(self, cell);
	}
}
