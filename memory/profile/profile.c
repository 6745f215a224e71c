/* profile.c - takes samples and gives them back. */
#define _GNU_SOURCE
#include "profile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/now.h"
#include "base/random.h"
#include "draw.h"
#include "peak.h"

#define KNOWN_CONTEXTS 64u /* for each thread; a power of two */

/* What a thread's life keeps, from its first sample on. */
struct pfs_profile_thread {
	struct pfs_thread *handles[3]; /* of stacks, contexts, samples */
	struct known_context {
		uint32_t stack, instrument, reference;
		struct pfs_box_context *record; /* NULL: none */
	} known[KNOWN_CONTEXTS];
};

static void count_lost(struct pfs_books *books, enum pfs_box_lost lost)
{
	(void)pfs_fetch_add_relaxed(&books->box.head->lost[lost], 1); /* relaxed: a count */
}

static void *record_at(const struct pfs_books *books, enum pfs_shelves shelf, uint32_t reference)
{
	const struct pfs_box_region *region = books->shelves[shelf].region;
	uint32_t number = reference - 1;
	return books->box.base + region->offset +
	       (uint64_t)(number / region->page_records) * region->page_bytes +
	       (uint64_t)(number % region->page_records) * region->record_bytes;
}

static struct pfs_thread *handle_of(const struct pfs_profile_thread *own, enum pfs_shelves shelf)
{
	return own->handles[shelf - PFS_SHELF_STACKS];
}

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
			    (config->stacks_max + (size_t)1) * sizeof(*self->stack_files);
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
	self->own_contexts_most = config->contexts_max - config->contexts_max / 4;
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
	if (thread->profile != NULL)
		detach(thread->profile);
	thread->profile = NULL;
}

/* ---- gaps ---- */

/* The mean gap is 2^lg; 0: no samples are taken. Any value in the control area is handled. */
static uint32_t lg_now(const struct pfs_books *books)
{
	/* relaxed: switches; the owner looks again when the generation changes. */
	uint32_t lg = pfs_load_relaxed(&books->control->profile_lg);
	if ((pfs_load_relaxed(&books->control->profile_off) & 1) != 0) /* relaxed: a switch */
		return 0;
	return lg >= 1 && lg <= PFS_PROFILE_LG_MOST ? lg : books->box.head->profile_lg;
}

/* Draw the next sample of a cell that has allocated `from` bytes. */
static void draw(struct pfs_memory_thread *thread, struct pfs_cell *cell, uint64_t from)
{
	uint32_t lg = lg_now(thread->memory);
	uint64_t at = UINT64_MAX;
	if (thread->random == 0)
		thread->random = pfs_random_seed(thread->record->begun_realtime_ns,
						 thread->record->thread_id);
	if (lg != 0) {
		at = from + pfs_draw_gap(&thread->random, UINT64_C(1) << lg);
		at = at < from ? UINT64_MAX : at;
	}
	if (cell->sample_lg != lg)
		cell->sample_lg = lg;
	pfs_store_relaxed(&cell->sample_at, at); /* relaxed: its own */
}

uint32_t pfs_sample_due(struct pfs_memory_thread *thread, struct pfs_cell *cell, uint64_t bytes)
{
	/* relaxed: only this thread writes these. */
	uint64_t now = pfs_load_relaxed(&cell->alloc_bytes);
	if (thread->memory->profile == NULL) {
		pfs_store_relaxed(&cell->sample_at, UINT64_MAX); /* relaxed: its own */
		return 0;
	}
	if (pfs_load_relaxed(&cell->sample_at) == 0) /* relaxed: its own */
		draw(thread, cell, now - bytes);
	if (now < pfs_load_relaxed(&cell->sample_at)) /* relaxed: its own */
		return 0;
	uint32_t lg = cell->sample_lg; /* the one that the gap was drawn with */
	draw(thread, cell, now);
	return lg;
}

/* ---- stacks ---- */

struct search {
	struct pfs_profile *profile;
	struct pfs_profile_thread *own;
	struct pfs_stack *stack;
	uint32_t epoch; /* the modules' epoch when the search began */
	bool knows_files;
	uint32_t files; /* of the stack's addresses now, as pfs_modules_see returns them */
	struct pfs_box_context context;
};

static uint32_t make_record(struct search *self, enum pfs_shelves shelf, const void *bytes,
			    size_t size_bytes)
{
	struct pfs_thread *handle = handle_of(self->own, shelf);
	struct pfs_claim claim = pfs_allocate(handle);
	if (claim.record == NULL)
		return 0;
	uint32_t reference = (uint32_t)pfs_index(handle, claim.record) + 1;
	pfs_bytes_store(claim.record, bytes, size_bytes);
	pfs_publish(handle, claim);
	return reference;
}

static void drop_record(struct search *self, enum pfs_shelves shelf, uint32_t reference)
{
	pfs_free(handle_of(self->own, shelf), record_at(self->profile->books, shelf, reference));
}

static uint32_t files_now(struct search *self)
{
	if (!self->knows_files)
		self->files = pfs_modules_see(&self->profile->modules, self->stack->frames,
					      self->stack->depth);
	self->knows_files = true;
	return self->files;
}

/* The same addresses in the same files. Files are looked up again when one may have gone. */
static bool stack_is_equal(void *context, uint32_t reference)
{
	struct search *self = context;
	const struct pfs_stack *wanted = self->stack;
	const struct pfs_box_stack *stack = record_at(self->profile->books, PFS_SHELF_STACKS,
						      reference);
	struct pfs_stack_files *known = &self->profile->stack_files[reference];
	if (stack->depth != wanted->depth || stack->is_cut != wanted->is_cut ||
	    memcmp(stack->frames, wanted->frames, wanted->depth * sizeof(wanted->frames[0])) != 0)
		return false;
	if (pfs_likely(pfs_load_relaxed(&known->epoch) == self->epoch)) /* relaxed: a hint */
		return true;
	if (files_now(self) != known->files)
		return false;
	pfs_store_relaxed(&known->epoch, self->epoch); /* relaxed: a hint */
	return true;
}

static uint32_t stack_make(void *context)
{
	struct search *self = context;
	const struct pfs_stack *stack = self->stack;
	uint32_t files = files_now(self);
	struct pfs_box_stack fresh = { .depth = stack->depth,
				       .is_cut = stack->is_cut,
				       .made_realtime_ns = pfs_box_now_ns() };
	memcpy(fresh.frames, stack->frames, stack->depth * sizeof(stack->frames[0]));
	uint32_t reference = make_record(self, PFS_SHELF_STACKS, &fresh, sizeof(fresh));
	if (reference == 0) {
		count_lost(self->profile->books, PFS_LOST_STACKS);
		return 0;
	}
	self->profile->stack_files[reference].files = files;
	/* relaxed: its reference is not published yet. */
	pfs_store_relaxed(&self->profile->stack_files[reference].epoch, self->epoch);
	return reference;
}

static void stack_drop(void *context, uint32_t reference)
{
	drop_record(context, PFS_SHELF_STACKS, reference);
}

static const struct pfs_intern_ops stack_ops = { stack_is_equal, stack_make, stack_drop };

/* ---- contexts ---- */

static bool context_is_equal(void *context, uint32_t reference)
{
	const struct search *self = context;
	const struct pfs_box_context *found = record_at(self->profile->books, PFS_SHELF_CONTEXTS,
							reference);
	return found->stack == self->context.stack &&
	       found->instrument == self->context.instrument &&
	       found->thread_id == self->context.thread_id;
}

/* A quarter is for contexts without a thread: short-lived threads must not fill the table. */
static bool may_be_own(struct pfs_profile *self)
{
	/* relaxed: a count; checked first so that it cannot overflow. */
	return pfs_load_relaxed(&self->own_contexts) < self->own_contexts_most &&
	       pfs_fetch_add_relaxed(&self->own_contexts, 1) < /* relaxed: a count */
		       self->own_contexts_most;
}

static uint32_t context_make(void *context)
{
	struct search *self = context;
	if (self->context.thread_id != 0 && !may_be_own(self->profile))
		return 0;
	return make_record(self, PFS_SHELF_CONTEXTS, &self->context, sizeof(self->context));
}

static void context_drop(void *context, uint32_t reference)
{
	drop_record(context, PFS_SHELF_CONTEXTS, reference);
}

static const struct pfs_intern_ops context_ops = { context_is_equal, context_make, context_drop };

static void copy_name(char *to, size_t to_bytes, const char *name)
{
	if (name != NULL)
		memcpy(to, name, strnlen(name, to_bytes - 1));
}

static void name_context(struct pfs_box_context *context, const struct pfs_memory_thread *thread)
{
	const struct pfs_party *user = thread->account != NULL ? thread->account : thread->user;
	const struct pfs_party *host = thread->account != NULL ? thread->account : thread->host;
	context->os_tid = thread->record->os_tid;
	copy_name(context->thread_name, sizeof(context->thread_name), thread->record->name);
	if (user != NULL)
		copy_name(context->user_name, sizeof(context->user_name), user->user);
	if (host != NULL)
		copy_name(context->host_name, sizeof(context->host_name), host->host);
}

static uint64_t hash_of_context(const struct pfs_box_context *context)
{
	uint64_t hash = ((uint64_t)context->stack << 32 | context->instrument) +
			context->thread_id * UINT64_C(0x9E3779B97F4A7C15);
	return pfs_random_seed(hash, 0);
}

/* The context for self's stack and instrument: the thread's own, else the shared one; 0: none. */
static uint32_t context_of(struct search *self, const struct pfs_memory_thread *thread)
{
	struct pfs_intern *table = &self->profile->contexts;
	struct pfs_box_context nobodys = self->context;
	self->context.thread_id = thread->record->thread_id;
	name_context(&self->context, thread);
	uint32_t found = pfs_intern_with(table, hash_of_context(&self->context), &context_ops,
					 self);
	if (found != 0)
		return found;
	self->context = nobodys;
	found = pfs_intern_with(table, hash_of_context(&self->context), &context_ops, self);
	if (found == 0)
		count_lost(self->profile->books, PFS_LOST_CONTEXTS);
	return found;
}

/* The same, cached by the thread. */
static struct known_context *known_of(struct search *self, const struct pfs_memory_thread *thread,
				      uint32_t stack, uint32_t instrument)
{
	struct known_context *known = &self->own->known[(stack * 31 + instrument) % KNOWN_CONTEXTS];
	if (known->record != NULL && known->stack == stack && known->instrument == instrument)
		return known;
	memset((void *)&self->context, 0, sizeof(self->context));
	self->context.stack = stack;
	self->context.instrument = instrument;
	*known = (struct known_context){ stack, instrument, context_of(self, thread), NULL };
	if (known->reference != 0)
		known->record = record_at(self->profile->books, PFS_SHELF_CONTEXTS,
					  known->reference);
	return known;
}

static void add_to(_Atomic(uint64_t) *sum, uint64_t by, bool is_own)
{
	if (is_own)
		pfs_cell_add_own(sum, by);
	else
		(void)pfs_fetch_add_acq_rel(sum, by); /* [J1] acq_rel, pairs with [J2] */
}

/* Add the blocks and bytes that a sample stands for. */
static void weigh(struct search *self, struct pfs_box_context *context,
		  const struct pfs_box_sample *sample)
{
	bool is_own = context->thread_id != 0;
	pfs_peak_save(self->profile->books->box.head, context);
	add_to(&context->samples, 1, is_own);
	add_to(&context->objects_256ths, sample->weight_objects_256ths, is_own);
	add_to(&context->bytes, sample->weight_bytes, is_own);
	pfs_peak_add(self->profile->books->box.head, sample);
}

/* ---- samples ---- */

/* Give back samples freed by threads without a handle. */
static void give_finished(struct pfs_profile *self, struct pfs_thread *handle)
{
	if (pfs_load_relaxed(&self->finished) == 0) /* relaxed: a look */
		return;
	/* [SP2] seq, pairs with [SP1]: next. */
	uint32_t reference = pfs_exchange_seq(&self->finished, 0);
	while (reference != 0) {
		struct pfs_box_sample *sample = record_at(self->books, PFS_SHELF_SAMPLES,
							  reference);
		reference = pfs_load_relaxed(&sample->next); /* relaxed: [SP2] brought it */
		pfs_free(handle, sample);
	}
}

static void finish(struct pfs_profile *self, struct pfs_box_sample *sample)
{
	/* relaxed: a guess, the CAS decides. */
	uint32_t first = pfs_load_relaxed(&self->finished);
	do {
		pfs_store_relaxed(&sample->next, first); /* relaxed: [SP1] carries it */
							 /* [SP1] release, pairs with [SP2]. */
	} while (!pfs_cas_release(&self->finished, &first, sample->reference));
}

static void write_sample(struct search *self, struct pfs_memory_thread *thread,
			 struct pfs_claim claim, const struct pfs_sample_block *block)
{
	struct pfs_thread *handle = handle_of(self->own, PFS_SHELF_SAMPLES);
	uint32_t stack = pfs_intern_with(&self->profile->stacks, self->stack->hash, &stack_ops,
					 self);
	struct known_context *known = known_of(self, thread, stack, block->cell->instrument);
	struct pfs_box_sample fresh;
	memset((void *)&fresh, 0, sizeof(fresh));
	fresh.bytes = block->bytes;
	fresh.interval = UINT64_C(1) << block->lg;
	fresh.taken_realtime_ns = pfs_now_ns(CLOCK_REALTIME_COARSE);
	fresh.address = (uintptr_t)block->address;
	fresh.context = known->reference;
	fresh.cell = block->cell->reference;
	fresh.level = PFS_CELL_IS_SAMPLE;
	fresh.reference = (uint32_t)pfs_index(handle, claim.record) + 1;
	double chance = pfs_draw_chance(fresh.bytes, fresh.interval);
	fresh.weight_bytes = pfs_draw_round(&thread->random, (double)fresh.bytes / chance);
	fresh.weight_objects_256ths = pfs_draw_round(&thread->random, 256 / chance);
	pfs_bytes_store(claim.record, &fresh, sizeof(fresh));
	pfs_publish(handle, claim);
	if (known->record != NULL)
		weigh(self, known->record, &fresh);
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
	struct pfs_stack stack;
	if (own == NULL)
		own = attach(thread);
	if (own == NULL) {
		count_lost(self->books, PFS_LOST_SAMPLES);
		return NULL;
	}
	pfs_stack_learn(from->caller);
	pfs_gate_enter(&self->gate);
	give_finished(self, handle_of(own, PFS_SHELF_SAMPLES));
	struct pfs_claim claim = pfs_allocate(handle_of(own, PFS_SHELF_SAMPLES));
	if (claim.record != NULL) {
		struct search search = { .profile = self, .own = own, .stack = &stack };
		/* relaxed: this thread or its creator knows of a file closed before. */
		search.epoch = pfs_load_relaxed(&self->modules.epoch);
		forget_stacks(self, search.epoch);
		pfs_stack_take(&stack, from);
		write_sample(&search, thread, claim, block);
	} else {
		count_lost(self->books, PFS_LOST_SAMPLES);
	}
	pfs_gate_leave(&self->gate);
	return claim.record;
}

struct pfs_cell *pfs_sample_give(struct pfs_books *books, struct pfs_memory_thread *thread,
				 struct pfs_box_sample *sample)
{
	struct pfs_profile *self = books->profile;
	struct pfs_cell *cell = record_at(books, PFS_SHELF_CELLS, sample->cell);
	pfs_gate_enter(&self->gate);
	if (sample->context != 0)
		pfs_peak_remove(books->box.head,
				record_at(books, PFS_SHELF_CONTEXTS, sample->context), sample);
	if (thread != NULL && thread->profile != NULL)
		pfs_free(handle_of(thread->profile, PFS_SHELF_SAMPLES), sample);
	else
		finish(self, sample);
	pfs_gate_leave(&self->gate);
	return cell;
}

struct pfs_box_sample *pfs_sample_at(const struct pfs_books *books, uint32_t reference)
{
	return record_at(books, PFS_SHELF_SAMPLES, reference);
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
}
