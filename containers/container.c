/*
 * container.c - set-up and tear-down of a container, and the calls through the policy's table.
 */
#ifndef PFS_NO_INLINE
#define PFS_NO_INLINE /* the calls that the header inlines are defined here too */
#endif
#include "container.h"

#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "fork.h"
#include "kept.h"
#include "lives.h"
#include "memory.h"
#include "message.h"
#include "place.h"
#include "reclaimer.h"
#include "tally.h"

static void size_pages(struct pfs_container *self)
{
	const struct pfs_config *config = &self->config;
	uint64_t records = config->record_max;
	self->page_capacity = config->page_max;
	self->last_page_records = config->page_records;
	if (records == 0)
		return;
	self->page_capacity =
		(uint32_t)((records + config->page_records - 1) / config->page_records);
	uint32_t remainder = (uint32_t)(records % config->page_records);
	if (remainder != 0)
		self->last_page_records = remainder;
}

static uint32_t line_count(const struct pfs_variant *variant)
{
	uint32_t count = 0;
	while (variant->lines != NULL && variant->lines[count] != NULL)
		count++;
	return count;
}

/* The container's copy of the policy's shared variables, if it has any. */
static bool make_lines(struct pfs_container *self)
{
	size_t bytes = line_count(self->variant) * (size_t)PFS_LINE;
	if (bytes == 0)
		return true;
	self->policy = aligned_alloc(PFS_LINE, bytes);
	if (self->policy == NULL)
		return false;
	memset(self->policy, 0, bytes);
	return true;
}

static struct pfs_container *container_new(const struct pfs_variant *variant,
					   const struct pfs_config *config)
{
	struct pfs_container *self = aligned_alloc(_Alignof(struct pfs_container), sizeof(*self));
	size_t pages = config->page_max != 0 ? config->page_max : 1;
	if (self == NULL)
		return NULL;
	memset(self, 0, sizeof(*self));
	self->variant = variant;
	self->config = *config;
	self->shape = pfs_page_shape_of(config, line_count(variant));
	self->source = config->source != NULL                  ? config->source
		       : config->huge_pages == PFS_HUGE_ADVISE ? pfs_memory_huge()
							       : pfs_memory_hwloc();
	if (!pfs_layout_has_headers(config->layout))
		pfs_page_map_allow_bare();
	self->directory = calloc(pages, sizeof(*self->directory));
	self->version_bases = calloc(pages, sizeof(*self->version_bases));
	self->pass_live = calloc(pages, sizeof(*self->pass_live));
	self->pass_keys = calloc(pages, sizeof(*self->pass_keys));
	size_pages(self);
	pfs_mutex_init_gated(&self->growth);
	pfs_mutex_init_gated(&self->passing);
	pfs_mutex_init_gated(&self->roster);
	pfs_mutex_init_gated(&self->keeping);
	self->kept_end = &self->kept;
	pfs_epoch_init(&self->epoch);
	return self;
}

static void unmap_all(struct pfs_container *self)
{
	for (uint32_t index = 0; self->directory != NULL && index < self->page_capacity; index++) {
		struct pfs_page *page = pfs_container_page(self, index);
		if (page != NULL)
			pfs_container_unmap(self, page);
	}
	while (self->limbo != NULL) {
		struct pfs_page *page = self->limbo;
		self->limbo = page->limbo_next;
		pfs_container_unmap(self, page);
	}
}

static void container_delete(struct pfs_container *self)
{
	unmap_all(self);
	pfs_kept_end(self);
	pfs_threads_destroy(self);
	pfs_mutex_fini(&self->growth);
	pfs_mutex_fini(&self->passing);
	pfs_mutex_fini(&self->roster);
	pfs_mutex_fini(&self->keeping);
	free(self->directory);
	free(self->version_bases);
	free(self->pass_live);
	free(self->pass_keys);
	pfs_holes_fini(&self->holes);
	pfs_decay_fini(&self->decay);
	if (self->variant->lines != NULL)
		free(self->policy);
	free(self);
}

static enum pfs_status preallocate(struct pfs_container *self)
{
	struct pfs_thread *thread = NULL;
	uint32_t pages = self->config.page_prealloc;
	if (pages > self->page_capacity)
		pages = self->page_capacity;
	enum pfs_status status = pfs_thread_attach(self, &thread);
	if (status != PFS_OK)
		return status;
	for (uint32_t index = 0; index < pages && status == PFS_OK; index++) {
		if (self->variant->add_page != NULL)
			status = self->variant->add_page(thread);
		else if (pfs_container_page_at(thread, index) == NULL)
			status = PFS_NO_MEMORY;
	}
	pfs_thread_detach(thread);
	for (uint32_t index = 0; index < pfs_container_page_limit(self); index++)
		pfs_container_page(self, index)->published = 0;
	/* relaxed: create runs alone. Preallocated pages do not count as growth. */
	pfs_store_relaxed(&self->growths, 0);
	pfs_store_relaxed(&self->needless_growths, 0); /* relaxed: as above */
	return status;
}

static enum pfs_status start(struct pfs_container *self)
{
	if (self->source == NULL || self->directory == NULL || self->version_bases == NULL ||
	    self->pass_live == NULL || self->pass_keys == NULL || !make_lines(self) ||
	    !pfs_holes_init(&self->holes, self->page_capacity) ||
	    !pfs_decay_init(&self->decay, self->config.reclaim.decay_passes))
		return PFS_NO_MEMORY;
	enum pfs_status status = PFS_OK;
	if (self->variant->start != NULL)
		status = self->variant->start(self);
	if (status != PFS_OK)
		return status;
	status = preallocate(self);
	if (status == PFS_OK && !pfs_fork_enlist(self))
		status = PFS_NO_MEMORY;
	if (status == PFS_OK && self->config.reclaim.period_ms != 0)
		status = pfs_reclaimer_start(self);
	if (status != PFS_OK) {
		pfs_fork_remove(self);
		if (self->variant->stop != NULL)
			self->variant->stop(self);
	}
	return status;
}

/* Check that the policy can do what the configuration asks for. */
static enum pfs_status check_policy(const struct pfs_variant *variant,
				    const struct pfs_config *config, struct pfs_message *message)
{
	if (variant == NULL)
		return pfs_message_set(message, PFS_BAD_VARIANT,
				       "no policy (NULL): pfs_variant_find returns NULL for an "
				       "unknown name; pfs_variant_at lists all policies");
	if (config->reclaim.period_ms != 0 && (variant->traits & PFS_TRAIT_RECLAIM) == 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "reclaim.period_ms %u: policy %s gives no pages back; set "
				       "it to 0, or choose a policy with PFS_TRAIT_RECLAIM",
				       config->reclaim.period_ms, variant->name);
	if (config->lasting_references &&
	    (~variant->traits & (PFS_TRAIT_INDEX | PFS_TRAIT_WORDS)) != 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "lasting_references: policy %s has no weak references; "
				       "unset this, or choose a policy with PFS_TRAIT_INDEX and "
				       "PFS_TRAIT_WORDS",
				       variant->name);
	if (config->layout == PFS_LAYOUT_OWN_WORD && (variant->traits & PFS_TRAIT_OWN_WORD) == 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "layout own word: policy %s keeps a header in each record; "
				       "choose another layout, or a policy with PFS_TRAIT_OWN_WORD",
				       variant->name);
	if (config->give_back != PFS_GIVE_BACK_ADDRESSES &&
	    (variant->traits & PFS_TRAIT_RECLAIM) == 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "give_back %d: policy %s gives no pages back; unset it, or "
				       "choose a policy with PFS_TRAIT_RECLAIM",
				       (int)config->give_back, variant->name);
	if (config->layout == PFS_LAYOUT_BARE && (variant->traits & PFS_TRAIT_BARE) == 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "layout bare: policy %s keeps a header in each record; "
				       "choose another layout, or exact or magazine",
				       variant->name);
	return PFS_OK;
}

static enum pfs_status refuse_start(const struct pfs_variant *variant,
				    const struct pfs_config *config, enum pfs_status status,
				    struct pfs_message *message)
{
	if (config->page_prealloc == 0)
		return pfs_message_set(message, status,
				       "container of policy %s with up to %u pages of %u records: "
				       "%s; lower page_max or page_records",
				       variant->name, config->page_max, config->page_records,
				       pfs_status_text(status));
	return pfs_message_set(message, status,
			       "container of policy %s with %u preallocated pages of %u records: "
			       "%s; lower page_prealloc or page_records",
			       variant->name, config->page_prealloc, config->page_records,
			       pfs_status_text(status));
}

static enum pfs_status create(const struct pfs_variant *variant, const struct pfs_config *config,
			      struct pfs_container **container, struct pfs_message *message)
{
	enum pfs_status status = check_policy(variant, config, message);
	if (status == PFS_OK)
		status = pfs_config_check(config, message);
	if (status == PFS_OK && config->source == NULL)
		status = pfs_memory_check(config->memory, config->memory_node, message);
	if (status != PFS_OK)
		return status;
	struct pfs_container *self = container_new(variant, config);
	status = self != NULL ? start(self) : PFS_NO_MEMORY;
	if (status == PFS_OK) {
		*container = self;
		return PFS_OK;
	}
	if (self != NULL)
		container_delete(self);
	return refuse_start(variant, config, status, message);
}

enum pfs_status pfs_container_create(const struct pfs_variant *variant,
				     const struct pfs_config *config,
				     struct pfs_container **container, struct pfs_message *message)
{
	*container = NULL;
	pfs_memory_hold();
	enum pfs_status status = create(variant, config, container, message);
	if (status != PFS_OK)
		pfs_memory_release();
	return status;
}

void pfs_container_destroy(struct pfs_container *container)
{
	if (container == NULL)
		return;
	pfs_fork_remove(container);
	pfs_reclaimer_stop(container);
	pfs_threads_end(container);
	if (container->variant->stop != NULL)
		container->variant->stop(container);
	container_delete(container);
	pfs_memory_release();
}

struct pfs_claim pfs_allocate(struct pfs_thread *thread)
{
	struct pfs_claim claim = thread->head.allocate(thread);
	pfs_annotate_acquire(claim.record);
	return claim;
}

struct pfs_claim pfs_allocate_existing(struct pfs_thread *thread)
{
	if ((thread->container->variant->traits & PFS_TRAIT_INDEX) == 0) {
		thread->status = PFS_FULL;
		return pfs_claim_none();
	}
	thread->stays = true;
	struct pfs_claim claim = pfs_allocate(thread);
	thread->stays = false;
	pfs_annotate_acquire(claim.record);
	return claim;
}

static uint32_t allocate_each(struct pfs_thread *thread, struct pfs_claim *claims, uint32_t count)
{
	for (uint32_t taken = 0; taken < count; taken++) {
		claims[taken] = thread->head.allocate(thread);
		if (claims[taken].record == NULL)
			return taken;
	}
	return count;
}

uint32_t pfs_allocate_many(struct pfs_thread *thread, struct pfs_claim *claims, uint32_t count)
{
	const struct pfs_variant *variant = thread->container->variant;
	uint32_t taken = variant->allocate_many != NULL
				 ? variant->allocate_many(thread, claims, count)
				 : allocate_each(thread, claims, count);
	for (uint32_t i = 0; i < taken; i++)
		pfs_annotate_acquire(claims[i].record);
	return taken;
}

void pfs_publish_many(struct pfs_thread *thread, const struct pfs_claim *claims, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		pfs_publish(thread, claims[i]);
}

void pfs_free_many(struct pfs_thread *thread, void *const *records, uint32_t count)
{
	const struct pfs_variant *variant = thread->container->variant;
	for (uint32_t i = 0; i < count; i++)
		pfs_annotate_release(records[i]);
	if (variant->free_many != NULL) {
		variant->free_many(thread, records, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		thread->head.free(thread, records[i]);
}

_Static_assert(PFS_PUBLISHED == PFS_VERSION_ONE + PFS_STATE_ALLOCATED - PFS_STATE_DIRTY,
	       "the header adds what pfs_lock_dirty_to_allocated adds");

void pfs_publish(struct pfs_thread *thread, struct pfs_claim claim)
{
	pfs_publish_checked(thread, claim);
}

/* The life entry of a reopened record; NULL: it was not reopened, or there are no entries. */
static _Atomic(uint64_t) *reopened_life(struct pfs_thread *thread, struct pfs_claim claim)
{
	if (!thread->container->config.lasting_references || claim.word_offset != 0)
		return NULL;
	return pfs_life_at(pfs_place_of(thread, claim.record));
}

void pfs_publish_checked(struct pfs_thread *thread, struct pfs_claim claim)
{
	_Atomic(uint64_t) *life = reopened_life(thread, claim);
	if (life != NULL)
		pfs_life_extend(life, (claim.dirty_word / PFS_VERSION_ONE + 1) & PFS_LIFE_VERSIONS);
	if (pfs_likely((thread->traits & PFS_TRAIT_WORDS) != 0))
		pfs_lock_dirty_to_allocated(pfs_lock_of(thread, claim.record), claim.dirty_word);
	else
		thread->container->variant->publish(thread, claim);
}

void pfs_abandon(struct pfs_thread *thread, struct pfs_claim claim)
{
	_Atomic(uint64_t) *life = reopened_life(thread, claim);
	if (life != NULL)
		pfs_life_close(life);
	pfs_annotate_release(claim.record);
	thread->container->variant->abandon(thread, claim);
}

void pfs_free_refused(const struct pfs_thread *thread, const void *record)
{
	pfs_check_handle(thread, record);
	/* relaxed: for the report. */
	pfs_panic("free", pfs_load_relaxed(&pfs_record_lock(record)->word), PFS_STATE_ALLOCATED);
}

void pfs_free(struct pfs_thread *thread, void *record)
{
	pfs_annotate_release(record);
	thread->head.free(thread, record);
}

uint32_t pfs_reclaim_pass(struct pfs_thread *thread)
{
	const struct pfs_variant *variant = thread->container->variant;
	return variant->reclaim != NULL ? variant->reclaim(thread, PFS_RECLAIM_PASS) : 0;
}

uint32_t pfs_reclaim_now(struct pfs_thread *thread)
{
	const struct pfs_variant *variant = thread->container->variant;
	return variant->reclaim != NULL ? variant->reclaim(thread, PFS_RECLAIM_NOW) : 0;
}

uint32_t pfs_reclaim_trim(struct pfs_thread *thread)
{
	const struct pfs_variant *variant = thread->container->variant;
	return variant->reclaim != NULL ? variant->reclaim(thread, PFS_RECLAIM_TRIM) : 0;
}

const struct pfs_config *pfs_container_config(const struct pfs_container *container)
{
	return &container->config;
}

const struct pfs_variant *pfs_container_variant(const struct pfs_container *container)
{
	return container->variant;
}
