/*
 * accounts_calls.c - the calls that virtual threads make: a letter for each. A program's note of a
 * block is written without atomics, and passed to another thread by release and acquire, as a
 * program hands a block over.
 */
#include <string.h>

#include "memory/search/accounts_world.h"

static struct pfs_books *books(void)
{
	return &pfs_accounts_world.books;
}

/* ---- the oracle's books ---- */

/* Adds requested bytes; subtracts bytes that were freed or refused. */
static void note_most(uint64_t by)
{
	struct pfs_accounts_oracle *oracle = &pfs_accounts_world.oracle;
	oracle->most += by;
	if (oracle->most_peak < oracle->most)
		oracle->most_peak = oracle->most;
}

static void check_refused(uint64_t bytes)
{
	const struct pfs_accounts_world *self = &pfs_accounts_world;
	PFS_MACHINE_CHECK(self->scene->limit != 0 && self->oracle.most_peak > self->scene->limit,
			  "%llu bytes are refused although there was room all the time",
			  (unsigned long long)bytes);
	note_most(0 - bytes);
	pfs_accounts_world.refused++;
}

/* Checks the bytes that are surely in use. */
static void check_limit(void)
{
	const struct pfs_accounts_oracle *oracle = &pfs_accounts_world.oracle;
	uint64_t limit = pfs_accounts_world.scene->limit, bytes = 0;
	for (uint32_t life = 0; life < oracle->life_count; life++)
		bytes += oracle->lives[life].in_use_bytes;
	PFS_MACHINE_CHECK(limit == 0 || bytes <= limit, "%llu bytes are in use, above the limit",
			  (unsigned long long)bytes);
}

/* Called before the accounts count it: a fold must find the life even. */
static void note_free(struct pfs_accounts_thread *thread, uint32_t number)
{
	struct pfs_accounts_oracle *oracle = &pfs_accounts_world.oracle;
	const struct pfs_accounts_block *block = &pfs_accounts_world.blocks[number];
	if (block->note.reference == 0)
		return;
	struct pfs_accounts_life *life = &oracle->lives[oracle->life_of_block[number]];
	const struct pfs_cell *own = thread->life != NULL
					     ? thread->life->all_cells[PFS_ACCOUNTS_KEY]
					     : NULL;
	PFS_MACHINE_CHECK(life->in_use != 0, "no block of a life is in use");
	life->sums.frees++;
	life->sums.free_bytes += block->bytes;
	life->own_frees += own == &pfs_accounts_world.cells[life->cell] && !life->ended;
	life->in_use--;
	life->in_use_bytes -= block->bytes;
	oracle->life_of_block[number] = PFS_ACCOUNTS_NONE;
}

static void note_allocation(struct pfs_accounts_thread *thread, uint32_t number)
{
	struct pfs_accounts_oracle *oracle = &pfs_accounts_world.oracle;
	const struct pfs_accounts_block *block = &pfs_accounts_world.blocks[number];
	if (block->note.reference == 0)
		return;
	PFS_MACHINE_CHECK(!thread->knows_disabled, "a disabled instrument is counted");
	struct pfs_accounts_life *life =
		pfs_accounts_life_of_cell(pfs_cell_at(books(), block->note.reference));
	oracle->life_of_block[number] = (uint32_t)(life - oracle->lives);
	life->sums.allocs++;
	life->sums.alloc_bytes += block->bytes;
	life->in_use++;
	life->in_use_bytes += block->bytes;
	if (life->high_least < life->in_use)
		life->high_least = life->in_use;
	if (life->high_most < life->sums.allocs - life->own_frees)
		life->high_most = life->sums.allocs - life->own_frees;
	check_limit();
}

/* ---- calls ---- */

static void allocate(struct pfs_accounts_thread *thread)
{
	PFS_MACHINE_CHECK(thread->made < PFS_ACCOUNTS_BLOCKS_EACH, "too many blocks");
	uint32_t number = thread->id * PFS_ACCOUNTS_BLOCKS_EACH + thread->made++;
	struct pfs_accounts_block *block = &pfs_accounts_world.blocks[number];
	block->bytes = UINT64_C(1) << 2 * number; /* no two sums are equal */
	note_most(block->bytes);
	block->note = pfs_memory_allocated(thread->life, PFS_ACCOUNTS_KEY, block->bytes);
	if (block->note.reserved == PFS_MEMORY_REFUSED)
		check_refused(block->bytes);
	note_allocation(thread, number);
	thread->owned[thread->owned_count++] = number;
}

/* Takes the oldest block from the thread. */
static uint32_t disown(struct pfs_accounts_thread *thread)
{
	PFS_MACHINE_CHECK(thread->owned_count != 0, "thread %u has no block", thread->id);
	uint32_t number = thread->owned[0];
	thread->owned_count--;
	memmove(thread->owned, &thread->owned[1], thread->owned_count * sizeof(number));
	return number;
}

static void free_one(struct pfs_accounts_thread *thread)
{
	uint32_t number = disown(thread);
	const struct pfs_accounts_block *block = &pfs_accounts_world.blocks[number];
	note_free(thread, number);
	pfs_memory_freed(books(), thread->life, block->note, block->bytes);
	if (block->note.reference != 0)
		note_most(0 - block->bytes);
}

static void resize(struct pfs_accounts_thread *thread)
{
	uint32_t number = disown(thread);
	struct pfs_accounts_block *block = &pfs_accounts_world.blocks[number];
	note_free(thread, number);
	block->note = pfs_memory_resized(books(), thread->life, block->note, block->bytes,
					 block->bytes * 5);
	block->bytes *= 5;
	note_allocation(thread, number);
	thread->owned[thread->owned_count++] = number;
}

/* As pfs_memory_realloc: reserves first. */
static void resize_if(struct pfs_accounts_thread *thread)
{
	const struct pfs_accounts_block *block = &pfs_accounts_world.blocks[thread->owned[0]];
	uint64_t before = block->bytes, after = 5 * before;
	note_most(after);
	if (block->note.reference == 0 ||
	    !pfs_limits_reserve(thread->life, PFS_ACCOUNTS_KEY, after,
				pfs_cell_at(books(), block->note.reference), before)) {
		check_refused(after);
		return;
	}
	resize(thread);
	note_most(0 - before);
}

static void claim(struct pfs_accounts_thread *thread)
{
	uint32_t number = disown(thread);
	struct pfs_accounts_block *block = &pfs_accounts_world.blocks[number];
	note_free(thread, number);
	block->note = pfs_memory_claimed(books(), thread->life, block->note, block->bytes);
	note_allocation(thread, number);
	thread->owned[thread->owned_count++] = number;
}

static void post(struct pfs_accounts_thread *thread)
{
	uint32_t number = disown(thread);
	_Atomic(uint32_t) *mail = pfs_accounts_world.mail[thread->id];
	if (thread->id == 0)
		pfs_accounts_world.oracle.mail_knows_disabled[thread->posted] =
			thread->knows_disabled;
	pfs_store_release(&mail[thread->posted++], number + 1); /* with receive */
}

static bool is_there(uint64_t value, uint64_t argument)
{
	(void)argument;
	return value != 0;
}

/* Wait for the n-th block that thread 0 posts. */
static void receive(struct pfs_accounts_thread *thread, uint32_t at)
{
	_Atomic(uint32_t) *mail = pfs_accounts_world.mail[0];
	uint64_t got = pfs_machine_await(&mail[at], sizeof(mail[at]), PFS_SIM_ACQUIRE, is_there, 0);
	thread->knows_disabled |= pfs_accounts_world.oracle.mail_knows_disabled[at];
	thread->owned[thread->owned_count++] = (uint32_t)got - 1;
}

static void end(struct pfs_accounts_thread *thread)
{
	const struct pfs_cell *cell = thread->life->all_cells[PFS_ACCOUNTS_KEY];
	if (cell != NULL)
		pfs_accounts_life_of_cell(cell)->ended = true;
	pfs_memory_thread_end(thread->life);
	thread->life = NULL;
}

static void desk(void (*call)(struct pfs_books *books))
{
	pfs_desk_open(books()); /* this folds */
	if (call != NULL)
		call(books());
	pfs_desk_close(books());
}

/* As a tool does: first the change, then the generation. */
static void truncate(void)
{
	struct pfs_box_control *control = &pfs_accounts_world.control;
	(void)pfs_fetch_add_seq(&control->truncates[PFS_TABLE_THREAD], 1); /* seq: the tool's */
	(void)pfs_fetch_add_seq(&control->generation, 1);                  /* seq: the tool's */
}

static void disable(struct pfs_accounts_thread *thread)
{
	pfs_memory_enable(books(), PFS_ACCOUNTS_KEY, false);
	thread->knows_disabled = true;
}

static void call(struct pfs_accounts_thread *thread, char letter)
{
	switch (letter) {
	case 'b': /* a life begins */
		thread->life = pfs_memory_thread_begin(books(), "t", "u", "h", true);
		PFS_MACHINE_CHECK(thread->life != NULL, "no record of a thread");
		break;
	case 'e': /* a life ends */ end(thread); break;
	case 'a': allocate(thread); break;
	case 'f': /* its oldest block, whichever life it is of */ free_one(thread); break;
	case 's': resize(thread); break;
	case 'S': /* if there is room */ resize_if(thread); break;
	case 'c': claim(thread); break;
	case 'p': /* hand a block over */ post(thread); break;
	case 'F': /* the desk opens: cells that wait are folded */ desk(NULL); break;
	case 'k': /* a tick: estimates */ desk(pfs_marks_tick); break;
	case 't': /* marks begin anew */ truncate(); break;
	case 'd': disable(thread); break;
	case 'r': /* read sums */ pfs_accounts_read(thread, false); break;
	case 'R': /* read sums and marks */ pfs_accounts_read(thread, true); break;
	default:
		PFS_MACHINE_CHECK(letter >= '0' && letter < '0' + (int)PFS_ACCOUNTS_BLOCKS_EACH,
				  "'%c' is not a call", letter);
		receive(thread, (uint32_t)(letter - '0'));
	}
}

void pfs_accounts_calls_make(struct pfs_accounts_thread *thread, const char *calls)
{
	for (; *calls != '\0'; calls++)
		call(thread, *calls);
}

void pfs_accounts_calls_body(void *opaque)
{
	struct pfs_accounts_thread *thread = opaque;
	pfs_accounts_calls_make(thread, thread->calls);
}
