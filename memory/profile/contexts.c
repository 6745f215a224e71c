/*
 * contexts.c - finds the records of stacks and contexts, or makes them.
 */
#define _GNU_SOURCE
#include "contexts.h"

#include <string.h>

#include "base/random.h"

/* ---- stacks ---- */

static uint32_t make_record(struct pfs_search *self, enum pfs_shelves shelf, const void *bytes,
			    size_t size_bytes)
{
	struct pfs_thread *handle = pfs_profile_handle(self->own, shelf);
	struct pfs_claim claim = pfs_allocate(handle);
	if (claim.record == NULL)
		return 0;
	uint32_t reference = (uint32_t)pfs_index(handle, claim.record) + 1;
	pfs_bytes_store(claim.record, bytes, size_bytes);
	pfs_publish(handle, claim);
	return reference;
}

static void drop_record(struct pfs_search *self, enum pfs_shelves shelf, uint32_t reference)
{
	pfs_free(pfs_profile_handle(self->own, shelf),
		 pfs_profile_record(self->profile->books, shelf, reference));
}

static uint32_t files_now(struct pfs_search *self)
{
	if (!self->knows_files)
		self->files = pfs_modules_see(&self->profile->modules, self->stack->record.frames,
					      self->stack->record.depth);
	self->knows_files = true;
	return self->files;
}

/* The same addresses in the same files. Files are looked up again when one may have gone. */
static bool stack_is_equal(void *context, uint32_t reference)
{
	struct pfs_search *self = context;
	const struct pfs_box_stack *wanted = &self->stack->record;
	const struct pfs_box_stack *stack = pfs_profile_record(self->profile->books,
							       PFS_SHELF_STACKS, reference);
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
	struct pfs_search *self = context;
	struct pfs_box_stack *stack = &self->stack->record;
	uint32_t files = files_now(self);
	stack->made_realtime_ns = pfs_box_now_ns();
	uint32_t reference = make_record(self, PFS_SHELF_STACKS, stack,
					 offsetof(struct pfs_box_stack, frames) +
						 stack->depth * sizeof(stack->frames[0]));
	if (reference == 0) {
		pfs_profile_lost(self->profile->books, PFS_LOST_STACKS);
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

/* The record of the stack; 0: none. */
static uint32_t stack_of(struct pfs_search *self)
{
	struct pfs_profile_thread *own = self->own;
	if (!self->is_last || own->stack_epoch != self->epoch || own->stack_reference == 0)
		own->stack_reference = pfs_intern_with(&self->profile->stacks, self->stack->hash,
						       &stack_ops, self);
	own->stack_epoch = self->epoch;
	return own->stack_reference;
}

/* ---- contexts ---- */

static bool context_is_equal(void *context, uint32_t reference)
{
	const struct pfs_search *self = context;
	const struct pfs_box_context *found = pfs_profile_record(self->profile->books,
								 PFS_SHELF_CONTEXTS, reference);
	return found->stack == self->context.stack &&
	       found->instrument == self->context.instrument &&
	       found->thread_id == self->context.thread_id;
}

/* A quarter of the contexts is reserved for those without a thread, so that short-lived threads do
 * not exhaust the table and end the profile. */
static bool may_be_own(struct pfs_profile *self)
{
	/* relaxed: a count; checked first so that it cannot overflow. */
	return pfs_load_relaxed(&self->own_contexts) < self->own_contexts_most &&
	       pfs_fetch_add_relaxed(&self->own_contexts, 1) < /* relaxed: a count */
		       self->own_contexts_most;
}

static uint32_t context_make(void *context)
{
	struct pfs_search *self = context;
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
static uint32_t context_of(struct pfs_search *self, const struct pfs_memory_thread *thread)
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
		pfs_profile_lost(self->profile->books, PFS_LOST_CONTEXTS);
	return found;
}

struct pfs_known_context *pfs_search_context(struct pfs_search *self,
					     const struct pfs_memory_thread *thread,
					     uint32_t instrument)
{
	uint32_t stack = stack_of(self);
	struct pfs_known_context *known =
		&self->own->known[(stack * 31 + instrument) % PFS_KNOWN_CONTEXTS];
	if (known->record != NULL && known->stack == stack && known->instrument == instrument)
		return known;
	memset((void *)&self->context, 0, sizeof(self->context));
	self->context.stack = stack;
	self->context.instrument = instrument;
	*known = (struct pfs_known_context){ stack, instrument, context_of(self, thread), NULL };
	if (known->reference != 0)
		known->record = pfs_profile_record(self->profile->books, PFS_SHELF_CONTEXTS,
						   known->reference);
	return known;
}
