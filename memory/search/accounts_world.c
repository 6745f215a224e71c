#include "memory/search/accounts_world.h"
#include "memory/search/accounts_reader.h"

#include <stdio.h>
#include <string.h>

struct pfs_accounts_world pfs_accounts_world;

uint64_t pfs_box_now_ns(void)
{
	return 1; /* the same in every execution */
}

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

uint32_t pfs_accounts_records(void)
{
	return pfs_accounts_world.scene->cells;
}

void *pfs_accounts_record(uint64_t number, const struct pfs_lock **lock)
{
	*lock = &pfs_accounts_world.cell_locks[number];
	return &pfs_accounts_world.cells[number];
}

/* ---- names ---- */

static bool name_cell(const struct pfs_cell *cell, const void *address, uint32_t number, char *name,
		      size_t name_bytes)
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
