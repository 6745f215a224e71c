/*
 * handles.c - handles of threads: made once, listed for ever, used again.
 *
 * A handle stays in the list until the container is destroyed, because a reclaim pass may be
 * reading its epoch, and its counts are part of the sum.
 */
#include <stdlib.h>
#include <string.h>

#include "container.h"
#include "gate.h"
#include "memory.h"
#include "page.h"
#include "base/random.h"

#define PFS_NO_STATE_WORD_AT(field)                                                             \
	_Static_assert(offsetof(struct pfs_thread, field) % sizeof(struct pfs_record_header) != \
			       offsetof(struct pfs_record_header, lock),                        \
		       "found without waiting for a store to a record")
PFS_NO_STATE_WORD_AT(policy);
PFS_NO_STATE_WORD_AT(random);
PFS_NO_STATE_WORD_AT(container);
PFS_NO_STATE_WORD_AT(node);
PFS_NO_STATE_WORD_AT(traits);
_Static_assert(offsetof(struct pfs_thread, epoch) == PFS_LINE, "one line before the epoch");

#ifdef PFS_COUNTING
static bool tally_init(struct pfs_tally *tally, const struct pfs_config *config)
{
	size_t pages = config->page_max != 0 ? config->page_max : 1;
	tally->page_stamps = calloc(pages, sizeof(uint64_t));
	tally->slot_stamps = calloc(config->page_records, sizeof(uint64_t));
	tally->free_words = calloc(config->page_records, sizeof(uint32_t));
	return tally->page_stamps != NULL && tally->slot_stamps != NULL &&
	       tally->free_words != NULL;
}

static void tally_fini(struct pfs_tally *tally)
{
	free(tally->page_stamps);
	free(tally->slot_stamps);
	free(tally->free_words);
}
#else
static bool tally_init(struct pfs_tally *tally, const struct pfs_config *config)
{
	(void)tally, (void)config;
	return true;
}

static void tally_fini(struct pfs_tally *tally)
{
	(void)tally;
}
#endif

static void thread_free(struct pfs_thread *thread)
{
	tally_fini(&thread->tally);
	free(thread);
}

/* The variant's traits in the layout of this container; PFS_TRAIT_BARE: it has no headers. */
static uint32_t traits_of(const struct pfs_container *self)
{
	uint32_t traits = self->variant->traits & ~(uint32_t)PFS_TRAIT_BARE;
	if (!pfs_layout_has_headers(self->config.layout))
		traits |= PFS_TRAIT_BARE;
	if (self->config.layout == PFS_LAYOUT_BARE && !self->config.bare_words)
		traits &= ~(uint32_t)PFS_TRAIT_WORDS;
	return traits;
}

/* Under `roster`. */
static struct pfs_thread *thread_new(struct pfs_container *self)
{
	struct pfs_thread *thread = self->unlisted;
	if (thread != NULL) {
		self->unlisted = thread->next;
		return thread;
	}
	thread = aligned_alloc(_Alignof(struct pfs_thread), sizeof(*thread));
	if (thread == NULL)
		return NULL;
	memset(thread, 0, sizeof(*thread));
	thread->container = self;
	thread->head.allocate = self->variant->allocate;
	thread->head.free = self->variant->free;
	thread->traits = traits_of(self);
	thread->policy = self->variant->lines != NULL ? self->policy : NULL;
	thread->random = pfs_random_seed(self->config.seed, self->thread_count);
	if (!tally_init(&thread->tally, &self->config)) {
		thread_free(thread);
		return NULL;
	}
	pfs_epoch_thread_init(&thread->epoch);
	return thread;
}

/* Under `roster`: the handle that was detached last, or NULL. */
static struct pfs_thread *thread_again(struct pfs_container *self)
{
	struct pfs_thread *thread = self->idle;
	if (thread != NULL)
		self->idle = thread->next_idle;
	return thread;
}

/* Under `roster`. */
static void put_idle(struct pfs_thread *thread)
{
	thread->attached = false;
	thread->next_idle = thread->container->idle;
	thread->container->idle = thread;
}

/* Under `roster`. */
static enum pfs_status attach_locked(struct pfs_container *self, struct pfs_thread **out)
{
	struct pfs_thread *thread = thread_again(self);
	bool is_new = thread == NULL;
	if (is_new)
		thread = thread_new(self);
	if (thread == NULL)
		return PFS_NO_MEMORY;
	thread->node = pfs_memory_caller_node();
	thread->status = PFS_OK;
	enum pfs_status status = PFS_OK;
	if (self->variant->thread_start != NULL)
		status = self->variant->thread_start(thread);
	thread->attached = status == PFS_OK;
	thread->left_behind = false;
	thread->forget = NULL;
	thread->owner = pfs_fork_self();
	if (!is_new && status != PFS_OK) {
		put_idle(thread);
	} else if (is_new && status != PFS_OK) { /* kept: it may have a seat */
		thread->next = self->unlisted;
		self->unlisted = thread;
	} else if (is_new) {
		/* relaxed: `roster` is held, no other thread writes the list. */
		thread->next = pfs_load_relaxed(&self->threads);
		self->thread_count++;
		/* [C6] seq, pairs with [C5]: the handle's epoch must be readable; and a pass that
		 * misses the handle has unlinked [C4] before the handle's first look-up [C1]. With
		 * release alone both may miss each other (store buffering). */
		(void)pfs_exchange_seq(&self->threads, thread);
	}
	if (status != PFS_OK)
		return status;
	*out = thread;
	return PFS_OK;
}

enum pfs_status pfs_handle_attach(struct pfs_container *container, struct pfs_thread **thread)
{
	*thread = NULL;
	pfs_mutex_lock(&container->roster);
	enum pfs_status status = attach_locked(container, thread);
	pfs_mutex_unlock(&container->roster);
	return status;
}

/* Under `roster`. */
static void detach_locked(struct pfs_thread *thread)
{
	const struct pfs_variant *variant = thread->container->variant;
	if (variant->thread_stop != NULL)
		variant->thread_stop(thread);
	put_idle(thread);
}

void pfs_handle_detach(struct pfs_thread *thread)
{
	struct pfs_container *self = thread->container;
	pfs_mutex_lock(&self->roster);
	PFS_ASSERT(thread->attached || thread->left_behind,
		   "detach of a handle that is not attached");
	if (thread->attached)
		detach_locked(thread);
	pfs_mutex_unlock(&self->roster);
}

void pfs_threads_leave(struct pfs_container *self, uint64_t forker)
{
	/* relaxed: `roster` is held, no other thread writes the list. */
	struct pfs_thread *thread = pfs_load_relaxed(&self->threads);
	for (; thread != NULL; thread = thread->next) {
		if (!thread->attached || thread->owner == forker)
			continue;
		pfs_epoch_thread_end(&thread->epoch);
		thread->left_behind = true;
		thread->forget = NULL;
		detach_locked(thread);
	}
}

void pfs_threads_end(struct pfs_container *self)
{
	struct pfs_thread *thread = pfs_load_relaxed(&self->threads); /* relaxed: runs alone */
	for (; thread != NULL; thread = thread->next) {
		if (thread->attached && thread->forget != NULL)
			detach_locked(thread);
	}
}

static void free_list(struct pfs_thread *thread)
{
	while (thread != NULL) {
		struct pfs_thread *next = thread->next;
		thread_free(thread);
		thread = next;
	}
}

void pfs_threads_destroy(struct pfs_container *self)
{
	free_list(pfs_load_relaxed(&self->threads)); /* relaxed: destroy runs alone */
	free_list(self->unlisted);
}
