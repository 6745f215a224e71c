/*
 * reader_snapshot.c - take a snapshot: threads and accounts, then the cells; check what has
 * changed.
 *
 * When a life ends, its sums move between cells, and the account's `moves` is odd during that. If
 * `moves` changed while an account's cells were read, they are read again, up to a limit; then the
 * rows are taken as they are and counted as missed. CURRENT is right even then, because allocations
 * and frees that move are equal.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "reader_inside.h"

#define MOVES_TRIES 6
#define TAKE_TRIES 4

/* ---- did sums move? ---- */

static uint64_t moves_of(const struct pfs_taking *take, enum pfs_box_kind kind, uint32_t number)
{
	struct pfs_record_place place = pfs_reader_place(take->reader, kind, number);
	struct pfs_box_account *record = (struct pfs_box_account *)(void *)place.bytes;
	return pfs_load_acquire(&record->moves); /* [RB1] acquire */
}

static bool note_moves(struct pfs_taking *take)
{
	struct pfs_box_head *head = pfs_reader_head(take->reader);
	take->moves = pfs_load_acquire(&head->moves); /* [RB1] acquire */
	for (int party = 0; party < PFS_PARTIES; party++) {
		struct pfs_parties parties = pfs_parties_at(take->snapshot, party);
		uint64_t *moves = malloc((*parties.count + 1) * sizeof(*moves));
		for (uint32_t i = 0; moves != NULL && i < *parties.count; i++)
			moves[i] = moves_of(take, parties.kind, (*parties.first)[i].number);
		free(take->party_moves[party]);
		take->party_moves[party] = moves;
		if (moves == NULL)
			return false;
	}
	return true;
}

static bool moved(uint64_t before, uint64_t now)
{
	return before != now || (before & 1) != 0;
}

/* Returns how many moved. */
static uint32_t mark_missed(const struct pfs_taking *take, int party)
{
	struct pfs_parties parties = pfs_parties_at(take->snapshot, party);
	uint32_t missed = 0;
	for (uint32_t i = 0; i < *parties.count; i++) {
		struct pfs_seen_account *one = &(*parties.first)[i];
		one->is_missed = moved(take->party_moves[party][i],
				       moves_of(take, parties.kind, one->number));
		missed += one->is_missed;
	}
	return missed;
}

/* Finds the accounts whose cells must be read again; false: none. */
static bool find_missed(struct pfs_taking *take, struct pfs_cells_wanted *wanted)
{
	struct pfs_snapshot *snapshot = take->snapshot;
	struct pfs_box_head *head = pfs_reader_head(take->reader);
	uint32_t above = mark_missed(take, 1) + mark_missed(take, 2), below = mark_missed(take, 0);
	/* relaxed: ordered behind the cells by their own acquires, [L6]. */
	snapshot->rows->is_missed = moved(take->moves, pfs_load_relaxed(&head->moves));
	wanted->all = snapshot->rows->is_missed || above != 0;
	memset(take->wanted, 0, (take->account_room + 1) * sizeof(*take->wanted));
	for (uint32_t i = 0; i < snapshot->account_count; i++)
		if (snapshot->accounts[i].is_missed &&
		    snapshot->accounts[i].number < take->account_room)
			take->wanted[snapshot->accounts[i].number + 1] = true;
	return wanted->all || below != 0;
}

/* Removes the cells that will be read again. */
static void forget(struct pfs_seen_cells *cells, const struct pfs_cells_wanted *wanted)
{
	uint64_t kept = 0;
	for (uint64_t i = 0; i < cells->count; i++) {
		uint32_t account = cells->cell[i].account;
		if (!wanted->all && !(account <= wanted->account_room && wanted->account[account]))
			cells->cell[kept++] = cells->cell[i];
	}
	cells->count = kept;
}

static bool take_cells(struct pfs_taking *take)
{
	struct pfs_snapshot *snapshot = take->snapshot;
	struct pfs_seen_cells *cells = &snapshot->rows->cells;
	take->account_room = pfs_reader_records(take->reader, PFS_BOX_ACCOUNTS);
	take->wanted = calloc(take->account_room + 1, sizeof(*take->wanted));
	struct pfs_cells_wanted wanted = { .all = true,
					   .account = take->wanted,
					   .account_room = take->account_room };
	if (take->wanted == NULL)
		return false;
	for (int i = 0; i < MOVES_TRIES; i++) {
		forget(cells, &wanted);
		if (!note_moves(take) || !pfs_cells_read(take->reader, &wanted, cells, snapshot))
			return false;
		if (!find_missed(take, &wanted) || take->reader->is_copy)
			break;
	}
	return true;
}

/* ---- all of it ---- */

static void read_control(const struct pfs_reader *reader, struct pfs_snapshot *snapshot)
{
	struct pfs_box_control *control = pfs_reader_control(reader);
	for (int t = 0; t < PFS_TABLES; t++) {
		snapshot->truncates[t] = pfs_load_seq(&control->truncates[t]); /* [RB1] seq */
		/* relaxed: shown only. */
		snapshot->truncate_realtime_ns[t] =
			pfs_load_relaxed(&control->truncate_realtime_ns[t]);
	}
}

static bool is_truncated_since(const struct pfs_reader *reader, const struct pfs_snapshot *snapshot)
{
	struct pfs_box_control *control = pfs_reader_control(reader);
	bool is = false;
	for (int t = 0; t < PFS_TABLES; t++)
		/* [RB1] seq, pairs with [RB2] */
		is |= snapshot->truncates[t] != pfs_load_seq(&control->truncates[t]);
	return is;
}

static bool take_parts(struct pfs_taking *take, unsigned parts)
{
	const struct pfs_reader *reader = take->reader;
	struct pfs_snapshot *snapshot = take->snapshot;
	bool with_rows = (parts & PFS_SNAPSHOT_ROWS) != 0;
	if (!pfs_take_people(take) || (with_rows && !take_cells(take)))
		return false;
	pfs_keep_living(take);
	pfs_resolve_people(take);
	/* After the cells: instruments are never removed, so all that cells name exist. */
	if (!pfs_take_instruments(take) ||
	    !pfs_take_ticks(reader, snapshot, (parts & PFS_SNAPSHOT_TICKS) != 0) ||
	    !pfs_take_mappers(reader, snapshot) || !pfs_take_corruption(reader, snapshot) ||
	    !pfs_take_owners(reader, snapshot) || !pfs_take_limits(reader, snapshot))
		return false;
	pfs_take_stacks(reader, snapshot);
	if ((parts & PFS_SNAPSHOT_MODULES) != 0 && !pfs_take_modules(reader, snapshot))
		return false;
	if (!with_rows)
		return true;
	struct pfs_seen_cells *cells = &snapshot->rows->cells;
	if (!pfs_cells_resolve(reader, cells, snapshot))
		return false;
	pfs_cells_rebase(reader, cells, snapshot->truncates);
	snapshot->cell_count = cells->count;
	return pfs_rows_make(reader, snapshot);
}

static struct pfs_snapshot *take_once(struct pfs_reader *reader, unsigned parts)
{
	struct pfs_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	struct pfs_taking take = { .reader = reader, .snapshot = snapshot };
	if (snapshot == NULL)
		return NULL;
	struct pfs_box_head *head = pfs_reader_head(reader);
	snapshot->info = reader->info;
	snapshot->taken_realtime_ns = pfs_now_ns(CLOCK_REALTIME);
	for (int i = 0; i < PFS_LOSTS; i++)
		/* relaxed: counts. */
		snapshot->lost[i] = pfs_load_relaxed(&head->lost[i]);
	read_control(reader, snapshot);
	bool fine = true;
	if ((parts & PFS_SNAPSHOT_ROWS) != 0)
		fine = (snapshot->rows = calloc(1, sizeof(*snapshot->rows))) != NULL;
	fine = fine && take_parts(&take, parts);
	for (int party = 0; party < PFS_PARTIES; party++)
		free(take.party_moves[party]);
	free(take.wanted);
	if (!fine) {
		pfs_snapshot_free(snapshot);
		return NULL;
	}
	return snapshot;
}

struct pfs_snapshot *pfs_snapshot_take_locked(struct pfs_reader *self, unsigned parts,
					      struct pfs_message *message)
{
	struct pfs_snapshot *snapshot = NULL;
	if (!pfs_reader_refresh(self, message))
		return NULL;
	for (int i = 0; i < TAKE_TRIES; i++) {
		pfs_snapshot_free(snapshot);
		snapshot = take_once(self, parts);
		if (snapshot == NULL) {
			(void)pfs_refuse(message, "no memory to read '%.150s'", self->info.path);
			return NULL;
		}
		if (!is_truncated_since(self, snapshot))
			break;
	}
	if (pfs_reader_is_whole(self, message))
		return snapshot;
	pfs_snapshot_free(snapshot);
	return NULL;
}

struct pfs_snapshot *pfs_snapshot_take(struct pfs_reader *self, unsigned parts,
				       struct pfs_message *message)
{
	/* If no table was ever truncated, there is no lock file, and none is needed. */
	int lock = self->is_copy ? -1 : pfs_tools_lock(self, false, NULL);
	struct pfs_snapshot *snapshot = pfs_snapshot_take_locked(self, parts, message);
	pfs_tools_unlock(lock);
	return snapshot;
}

void pfs_snapshot_free(struct pfs_snapshot *snapshot)
{
	if (snapshot == NULL)
		return;
	pfs_rows_free(snapshot->rows);
	free(snapshot->instruments);
	free(snapshot->threads);
	free(snapshot->accounts);
	free(snapshot->users);
	free(snapshot->hosts);
	free(snapshot->ticks);
	free(snapshot->modules);
	free(snapshot->mappers);
	free(snapshot->corruption);
	free(snapshot->owners);
	free(snapshot->limits);
	free(snapshot);
}
