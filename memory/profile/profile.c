/* profile.c - takes samples and gives them back. */
#define _GNU_SOURCE
#include "profile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/now.h"
#include "contexts.h"
#include "draw.h"
#include "gaps.h"
#include "moments.h"
#include "peak.h"

#define USED_STEPS 4096u /* a thread counts this part of all records at once */

/* ---- begin and end ---- */

/* A power of two, at least twice the number of records. */
static uint32_t slots_for(uint32_t records)
{
	uint32_t slots = 2;
	while (slots < 2 * records)
		slots *= 2;
	return slots;
}

bool pfs_profile_open(struct pfs_books *books, const struct pfs_memory_config *config)
{
	uint32_t stacks = slots_for(config->stacks_max), contexts = slots_for(config->contexts_max);
	struct pfs_profile *self = calloc(1, sizeof(*self));
	if (self == NULL)
		return false;
	self->table_bytes = (stacks + (size_t)contexts) * sizeof(uint64_t) +
			    (config->stacks_max + (size_t)1) * sizeof(*self->stack_files) +
			    (config->samples_max + (size_t)1) * sizeof(*self->taken_after);
	self->tables = mmap(NULL, self->table_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (self->tables == MAP_FAILED) {
		free(self);
		return false;
	}
	self->books = books;
	self->stacks = (struct pfs_intern){ self->tables, stacks - 1 };
	self->contexts = (struct pfs_intern){ self->stacks.slots + stacks, contexts - 1 };
	self->stack_files = (void *)(self->contexts.slots + contexts);
	self->taken_after = (void *)(self->stack_files + config->stacks_max + 1);
	self->own_contexts_most = config->contexts_max - config->contexts_max / 4;
	self->samples_max = config->samples_max;
	self->stacks_max = config->stacks_max;
	self->used_step = 1 + (int32_t)(config->samples_max / USED_STEPS);
	pfs_gate_begin(&self->gate);
	pfs_modules_begin(&self->modules, &books->box);
	books->box.head->profile_lg = config->profile_lg;
	books->profile = self;
	return true;
}

void pfs_profile_close(struct pfs_profile *self)
{
	if (self == NULL)
		return;
	(void)munmap(self->tables, self->table_bytes);
	free(self);
}

/* A thread counts many records at once, so that threads do not meet there. */
static void count_own_used(struct pfs_profile *self, struct pfs_profile_thread *own, int32_t by)
{
	own->used += by;
	if (own->used >= self->used_step || own->used <= -self->used_step) {
		pfs_gaps_used(self, own->used);
		own->used = 0;
	}
}

static void detach(struct pfs_profile_thread *own)
{
	for (uint32_t i = 0; i < 3; i++)
		if (own->handles[i] != NULL)
			pfs_thread_detach(own->handles[i]);
	free(own);
}

static struct pfs_profile_thread *attach(struct pfs_memory_thread *thread)
{
	struct pfs_profile_thread *own = calloc(1, sizeof(*own));
	if (own == NULL)
		return NULL;
	for (uint32_t i = 0; i < 3; i++) {
		struct pfs_shelf *shelf = &thread->memory->shelves[PFS_SHELF_STACKS + i];
		if (pfs_thread_attach(shelf->container, &own->handles[i]) != PFS_OK) {
			own->handles[i] = NULL;
			detach(own);
			return NULL;
		}
	}
	thread->profile = own;
	return own;
}

void pfs_profile_thread_end(struct pfs_memory_thread *thread)
{
	if (thread->profile != NULL) {
		if (thread->memory->profile != NULL)
			pfs_gaps_used(thread->memory->profile, thread->profile->used);
		detach(thread->profile);
	}
	thread->profile = NULL;
}

/* ---- samples ---- */

static void add_to(_Atomic(uint64_t) *sum, uint64_t by, bool is_own)
{
	if (is_own)
		pfs_cell_add_own(sum, by);
	else
		(void)pfs_fetch_add_acq_rel(sum, by); /* [J1] acq_rel, pairs with [J2] */
}

/* Add the blocks and bytes that a sample stands for. */
static void weigh(struct pfs_search *self, struct pfs_box_context *context,
		  const struct pfs_box_sample *sample)
{
	bool is_own = context->thread_id != 0;
	pfs_peak_save(self->profile->books->box.head, context);
	add_to(&context->samples, 1, is_own);
	add_to(&context->objects_256ths, sample->weight_objects_256ths, is_own);
	add_to(&context->bytes, sample->weight_bytes, is_own);
	pfs_peak_add(self->profile->books->box.head, sample);
}

static void count_lost_sample(struct pfs_books *books, const struct pfs_sample_block *block)
{
	double chance = pfs_draw_chance(block->bytes, UINT64_C(1) << block->lg);
	pfs_profile_lost(books, PFS_LOST_SAMPLES);
	/* relaxed: a count */
	(void)pfs_fetch_add_relaxed(&books->box.head->lost[PFS_LOST_SAMPLE_BYTES],
				    (uint64_t)((double)block->bytes / chance));
}

/* Give back samples freed by threads without a handle. */
static void give_finished(struct pfs_profile *self, struct pfs_thread *handle)
{
	if (pfs_load_relaxed(&self->finished) == 0) /* relaxed: a look */
		return;
	/* [SP2] seq, pairs with [SP1]: next. */
	uint32_t reference = pfs_exchange_seq(&self->finished, 0);
	while (reference != 0) {
		struct pfs_box_sample *sample = pfs_profile_record(self->books, PFS_SHELF_SAMPLES,
								   reference);
		reference = pfs_load_relaxed(&sample->next); /* relaxed: [SP2] brought it */
		pfs_free(handle, sample);
		pfs_gaps_used(self, -1);
	}
}

static void finish(struct pfs_profile *self, struct pfs_box_sample *sample)
{
	/* relaxed: a guess, the CAS decides. */
	uint32_t first = pfs_load_relaxed(&self->finished);
	/* relaxed: readers confirm the record's bytes; the program may end before it is given back
	 */
	pfs_store_relaxed(&sample->is_free, 1);
	do {
		pfs_store_relaxed(&sample->next, first); /* relaxed: [SP1] carries it */
							 /* [SP1] release, pairs with [SP2]. */
	} while (!pfs_cas_release(&self->finished, &first, sample->reference));
}

static void write_sample(struct pfs_search *self, struct pfs_memory_thread *thread,
			 struct pfs_claim claim, const struct pfs_sample_block *block)
{
	struct pfs_thread *handle = pfs_profile_handle(self->own, PFS_SHELF_SAMPLES);
	struct pfs_known_context *known = pfs_search_context(self, thread, block->cell->instrument);
	const double chance = pfs_draw_chance(block->bytes, UINT64_C(1) << block->lg);
	/* What a record is not written with is always 0. */
	struct pfs_box_sample *sample = claim.record;
	const struct {
		uint64_t bytes, interval, taken_realtime_ns, address;
		uint32_t context, cell;
		uint64_t weight_bytes, weight_objects_256ths;
	} front = { block->bytes,
		    UINT64_C(1) << block->lg,
		    pfs_now_ns(CLOCK_REALTIME_COARSE),
		    (uintptr_t)block->address,
		    known->reference,
		    block->cell->reference,
		    pfs_draw_round(&thread->random, (double)block->bytes / chance),
		    pfs_draw_round(&thread->random, 256 / chance) };
	const uint32_t back[6] = {
		0, PFS_CELL_IS_SAMPLE, (uint32_t)pfs_index(handle, claim.record) + 1, 0, 0, 0
	};
	_Static_assert(sizeof(front) == offsetof(struct pfs_box_sample, spare), "one layout");
	_Static_assert(offsetof(struct pfs_box_sample, rest) + sizeof(uint32_t) ==
			       offsetof(struct pfs_box_sample, owner) + sizeof(back),
		       "owner, level, reference, next, is_free");
	self->profile->taken_after[back[2]] = self->profile->resets;
	pfs_bytes_store(sample, &front, sizeof(front));
	pfs_bytes_store(&sample->owner, back, sizeof(back));
	pfs_publish(handle, claim);
	if (known->record == NULL)
		return;
	weigh(self, known->record, sample);
	if (!self->stack->is_walked)
		(void)pfs_fetch_add_relaxed(&known->record->unwound, 1); /* relaxed: a count */
}

/* A file may have gone: forget once what was learned of code addresses. */
static void forget_stacks(struct pfs_profile *self, uint32_t epoch)
{
	uint32_t before = pfs_load_relaxed(&self->forgotten); /* relaxed: the CAS decides */
	if (!pfs_likely(before == epoch) &&
	    /* relaxed: the first thread does it */
	    pfs_cas_relaxed(&self->forgotten, &before, epoch))
		pfs_stack_forget();
}

struct pfs_box_sample *pfs_sample_take(struct pfs_memory_thread *thread,
				       const struct pfs_sample_block *block,
				       const struct pfs_stack_from *from)
{
	struct pfs_profile *self = thread->memory->profile;
	struct pfs_profile_thread *own = thread->profile;
	if (own == NULL)
		own = attach(thread);
	if (own == NULL) {
		count_lost_sample(self->books, block);
		return NULL;
	}
	pfs_stack_learn(from->caller);
	pfs_gate_enter(&self->gate);
	give_finished(self, pfs_profile_handle(own, PFS_SHELF_SAMPLES));
	struct pfs_claim claim = pfs_allocate(pfs_profile_handle(own, PFS_SHELF_SAMPLES));
	if (claim.record != NULL) {
		struct pfs_search search = { .profile = self, .own = own, .stack = &own->stack };
		/* relaxed: this thread or its creator knows of a file closed before. */
		search.epoch = pfs_load_relaxed(&self->modules.epoch);
		forget_stacks(self, search.epoch);
		count_own_used(self, own, 1);
		search.is_last = pfs_stack_take(&own->stack, from);
		write_sample(&search, thread, claim, block);
	} else {
		count_lost_sample(self->books, block);
	}
	pfs_gate_leave(&self->gate);
	return claim.record;
}

struct pfs_cell *pfs_sample_give(struct pfs_books *books, struct pfs_memory_thread *thread,
				 struct pfs_box_sample *sample)
{
	struct pfs_profile *self = books->profile;
	struct pfs_cell *cell = pfs_profile_record(books, PFS_SHELF_CELLS, sample->cell);
	pfs_gate_enter(&self->gate);
	if (sample->context != 0)
		pfs_peak_remove(books->box.head,
				pfs_profile_record(books, PFS_SHELF_CONTEXTS, sample->context),
				sample);
	if (thread != NULL && thread->profile != NULL) {
		count_own_used(self, thread->profile, -1);
		pfs_free(pfs_profile_handle(thread->profile, PFS_SHELF_SAMPLES), sample);
	} else {
		finish(self, sample);
	}
	pfs_gate_leave(&self->gate);
	return cell;
}

struct pfs_box_sample *pfs_sample_at(const struct pfs_books *books, uint32_t reference)
{
	return pfs_profile_record(books, PFS_SHELF_SAMPLES, reference);
}

void pfs_profile_reset(struct pfs_profile *self)
{
	pfs_gate_close(&self->gate);
	self->resets++;
	pfs_gate_open(&self->gate);
}

void pfs_profile_closed(struct pfs_books *books)
{
	if (books != NULL && books->profile != NULL)
		pfs_modules_changed(&books->profile->modules);
}

void pfs_profile_tick(struct pfs_books *books)
{
	struct pfs_profile *self = books->profile;
	if (self == NULL)
		return;
	pfs_gate_enter(&self->gate);
	give_finished(self, books->shelves[PFS_SHELF_SAMPLES].handle);
	pfs_modules_tick(&self->modules);
	pfs_gate_leave(&self->gate);
	pfs_moments_tick(self);
	uint32_t more = pfs_gaps_more(self);
	if (more != self->lg_more) /* gaps that were drawn before are drawn anew */
		pfs_box_announce(books->control);
	self->lg_more = more;
}
