#include "sim/user/accounts_world.h"

#include <stdio.h>
#include <string.h>

struct pfs_accounts_world pfs_accounts_world;

/* Before the first execution, when all that there is of the account has been made. */
static struct pfs_accounts_world made;

void pfs_books_settle(struct pfs_books *self)
{
	(void)self; /* nobody forks */
}

uint64_t pfs_box_now_ns(void)
{
	return 1; /* of no execution another time */
}

void *pfs_accounts_calloc(size_t count, size_t size);
void pfs_accounts_release(void *block);

void *pfs_accounts_calloc(size_t count, size_t size)
{
	struct pfs_accounts_world *self = &pfs_accounts_world;
	uint32_t bytes = (uint32_t)(count * size + PFS_LINE - 1) / PFS_LINE * PFS_LINE;
	char *block = self->private + self->private_used;
	self->private_used += bytes;
	PFS_MACHINE_CHECK(self->private_used <= PFS_ACCOUNTS_PRIVATE_BYTES, "too many lives");
	return block;
}

void pfs_accounts_release(void *block)
{
	(void)block;
}

/* ---- executions ---- */

void pfs_accounts_world_make(struct pfs_accounts_world *self)
{
	struct pfs_books *books = &self->books;
	books->rule = pfs_rule_find("exact");
	books->box.head = &self->head;
	books->control = books->box.control = &self->control;
	books->instruments_max = 1;
	books->cells_base = self->no_cell;
	books->cell_lines = (sizeof(self->no_cell) + sizeof(self->cells)) / PFS_LINE;
	books->global = pfs_accounts_calloc(1, sizeof(*books->global) + sizeof(struct pfs_cell *));
	books->global->level = PFS_CELL_OF_GLOBAL;
	pfs_mutex_init(&books->desk);
	for (uint32_t kind = 0; kind < PFS_PARTY_KINDS; kind++)
		books->by_reference[kind] = self->by_reference[kind];
	self->control.generation = 1;
	self->control.enabled[0] = 1;
	pfs_mutex_init(&books->limits_lock);
	for (uint32_t i = 0; i + 1 < PFS_SCOPE_ACCOUNT && self->scene->limit != 0; i++) {
		self->limits[i].scope = PFS_SCOPE_PROGRAM + i;
		self->limits[i].bytes = i + 1 == PFS_SCOPE_EACH_ACCOUNT ? self->scene->limit
									: PFS_BOX_NO_LIMIT;
		books->limits = self->limits;
	}
	pfs_accounts_shelves_make(self);
	(void)pfs_party_of(books, PFS_CELL_OF_ACCOUNT, "u", "h");
	memcpy((void *)&made, (const void *)self, sizeof(*self));
}

void pfs_accounts_world_reset(struct pfs_accounts_world *self)
{
	memcpy((void *)self, (const void *)&made, offsetof(struct pfs_accounts_world, scene));
	for (uint32_t block = 0; block < PFS_ACCOUNTS_BLOCKS_MAX; block++)
		self->oracle.life_of_block[block] = PFS_ACCOUNTS_NONE;
	for (uint32_t id = 0; id < PFS_ACCOUNTS_THREADS_MAX; id++)
		self->oracle.threads[id].id = id;
}

/* ---- names ---- */

static bool name_cell(const struct pfs_cell *cell, const void *address, uint32_t number,
		      char *name, size_t name_bytes)
{
	const struct {
		const void *at;
		const char *name;
	} fields[] = { { &cell->allocs, "allocs" },
		       { &cell->alloc_bytes, "alloc_bytes" },
		       { &cell->frees, "frees" },
		       { &cell->free_bytes, "free_bytes" },
		       { &cell->trap_count, "trap_count" },
		       { &cell->trap_bytes, "trap_bytes" },
		       { &cell->seen, "seen" },
		       { &cell->word, "word" },
		       { &cell->foreign_bytes, "foreign_bytes" },
		       { &cell->owner, "owner" },
		       { &cell->account, "account" },
		       { &cell->next, "next" } };
	size_t offset = (uintptr_t)address - (uintptr_t)cell;
	if (offset >= sizeof(*cell))
		return false;
	const char *field = offset >= offsetof(struct pfs_cell, marks) ? "marks" : "other";
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (fields[i].at == address)
			field = fields[i].name;
	(void)snprintf(name, name_bytes, "cell[%u].%s", number, field);
	return true;
}

bool pfs_accounts_world_name(void *context, const void *address, char *name, size_t name_bytes)
{
	const struct pfs_accounts_world *self = context;
	const struct {
		const void *at;
		const char *name;
	} known[] = { { &self->parties[0].moves, "account.moves" },
		      { &self->books.desk, "desk" },
		      { &self->books.limits_lock, "limits" },
		      { &self->books.finished, "finished" },
		      { &self->control.generation, "generation" },
		      { &self->control.truncates[0], "truncates[0]" },
		      { &self->control.enabled[0], "enabled" } };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].at != address)
			continue;
		(void)snprintf(name, name_bytes, "%s", known[i].name);
		return true;
	}
	for (uint32_t at = 0; at < PFS_ACCOUNTS_CELLS_MAX; at++) {
		if (address == &self->cell_locks[at]) {
			(void)snprintf(name, name_bytes, "record[%u]", at);
			return true;
		}
		if (name_cell(&self->cells[at], address, at, name, name_bytes))
			return true;
	}
	return false;
}
