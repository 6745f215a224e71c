/* accounts_made.c - the initial state of the accounts in each execution. */
#include "memory/search/accounts_world.h"

#include <string.h>

/* The state before the first execution, with the account made. */
static struct pfs_accounts_world made;

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
