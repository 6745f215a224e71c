/*
 * owner.c - allocate, write, check, hand over, free.
 */
#include <stdlib.h>
#include <unistd.h>

#include "crowd.h"

#define VERSION_MASK ((1u << 30) - 1)

/* xorshift64*: the same seed, the same choices. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

uint32_t pfs_below(uint64_t *random, uint32_t bound)
{
	return (uint32_t)(((next_random(random) >> 32) * bound) >> 32);
}

static void write_body(const struct pfs_crowd *crowd, void *record, uint64_t stamp)
{
	uint64_t words[PFS_BODY_WORDS];
	uint64_t *to = record;
	for (uint32_t i = 0; i < PFS_BODY_WORDS; i++)
		words[i] = stamp * (2 * i + 1);
	if (crowd->mode == PFS_MODE_OPTIMISTIC) {
		pfs_bytes_store(record, words, sizeof(words));
		return;
	}
	for (uint32_t i = 0; i < PFS_BODY_WORDS; i++)
		to[i] = words[i];
}

static void check_body(const struct pfs_crowd *crowd, const void *record, uint64_t stamp,
		       const char *when)
{
	const uint64_t *words = record;
	for (uint32_t i = 0; i < PFS_BODY_WORDS; i++) {
		if (words[i] != stamp * (2 * i + 1))
			pfs_harm(crowd, "word %u of a record is 0x%llx, not 0x%llx, %s", i,
				 (unsigned long long)words[i],
				 (unsigned long long)(stamp * (2 * i + 1)), when);
	}
}

/* The last owner's bytes must be complete, and of a life that has ended (odd, or never begun). */
static void check_leftover(const struct pfs_crowd *crowd, const void *record)
{
	uint64_t stamp = *(const uint64_t *)record;
	if (!crowd->has_words)
		return;
	check_body(crowd, record, stamp, "after allocate: two lives are mixed");
	if (crowd->mode == PFS_MODE_PLAIN && stamp != 0 && stamp % 2 == 0)
		pfs_harm(crowd, "an allocated record is in use: stamp 0x%llx",
			 (unsigned long long)stamp);
}

static void own(struct pfs_worker *self, struct pfs_held *held)
{
	struct pfs_crowd *crowd = self->crowd;
	held->owner = self->index + 1;
	if (!crowd->has_index)
		return;
	uint64_t index = pfs_index(self->thread, held->record);
	if (index >= crowd->capacity)
		pfs_harm(crowd, "index %llu of %llu records", (unsigned long long)index,
			 (unsigned long long)crowd->capacity);
	uint32_t before = atomic_exchange_explicit(&crowd->owners[index], held->owner,
						   memory_order_relaxed);
	if (before != 0)
		pfs_harm(crowd, "record %llu has two owners, %u and %u", (unsigned long long)index,
			 before, held->owner);
}

static void disown(struct pfs_worker *self, const struct pfs_held *held)
{
	struct pfs_crowd *crowd = self->crowd;
	if (!crowd->has_index)
		return;
	uint64_t index = pfs_index(self->thread, held->record);
	uint32_t before = atomic_exchange_explicit(&crowd->owners[index], 0, memory_order_relaxed);
	if (before != held->owner)
		pfs_harm(crowd, "record %llu of owner %u was owned by %u",
			 (unsigned long long)index, held->owner, before);
}

/* After each publish the version must be above the last one, even if the page was given back and
 * added again. */
static void check_version(struct pfs_worker *self, const void *record)
{
	struct pfs_crowd *crowd = self->crowd;
	if (!crowd->has_index || !crowd->has_words)
		return;
	uint64_t index = pfs_index(self->thread, record);
	uint32_t version = pfs_version(record);
	uint32_t step = (version - crowd->versions[index]) & VERSION_MASK;
	if (step == 0 || step >= 1u << 29)
		pfs_harm(crowd, "record %llu: version %u after %u", (unsigned long long)index,
			 version, crowd->versions[index]);
	crowd->versions[index] = version;
}

static uint64_t next_stamp(struct pfs_worker *self)
{
	return ((uint64_t)(self->index + 1) << 40 | ++self->sequence) * 2;
}

void pfs_worker_begin(struct pfs_worker *self, struct pfs_crowd *crowd, uint32_t index)
{
	uint64_t mixed = (crowd->options->seed + 1) * UINT64_C(0x9E3779B97F4A7C15) + index;
	*self = (struct pfs_worker){ .crowd = crowd, .index = index };
	self->random = (mixed ^ mixed >> 29) * UINT64_C(0xBF58476D1CE4E5B9) | 1;
	self->deeds = &crowd->deeds[index];
	self->held = calloc(crowd->hold_max + PFS_BOX_SLOTS, sizeof(*self->held));
	if (self->held == NULL || pfs_thread_attach(crowd->container, &self->thread) != PFS_OK)
		pfs_harm(crowd, "no memory for a thread");
}

void pfs_worker_end(struct pfs_worker *self)
{
	while (self->held_count != 0)
		pfs_worker_free(self, self->held_count - 1);
	pfs_thread_detach(self->thread);
	free(self->held);
}

static void abandon(struct pfs_worker *self, struct pfs_held *held, struct pfs_claim claim)
{
	write_body(self->crowd, claim.record, held->stamp | 1);
	disown(self, held);
	pfs_abandon(self->thread, claim);
}

bool pfs_worker_allocate(struct pfs_worker *self)
{
	struct pfs_claim claim = pfs_allocate(self->thread);
	struct pfs_held held = { .record = claim.record, .stamp = next_stamp(self) };
	if (claim.record == NULL) {
		self->deeds->refused++;
		return false;
	}
	self->deeds->allocations++;
	own(self, &held);
	check_leftover(self->crowd, claim.record);
	write_body(self->crowd, claim.record, held.stamp);
	if (pfs_below(&self->random, 16) == 0) {
		abandon(self, &held, claim);
		return true;
	}
	pfs_publish(self->thread, claim);
	check_version(self, claim.record);
	self->held[self->held_count++] = held;
	return true;
}

void pfs_worker_free(struct pfs_worker *self, uint32_t position)
{
	struct pfs_held held = self->held[position];
	self->held[position] = self->held[--self->held_count];
	check_body(self->crowd, held.record, held.stamp, "before free");
	if (self->crowd->mode == PFS_MODE_PLAIN) {
		write_body(self->crowd, held.record, held.stamp | 1);
	} else if (self->crowd->has_words && pfs_below(&self->random, 2) == 0) {
		abandon(self, &held, pfs_reopen(self->thread, held.record));
		return;
	}
	disown(self, &held);
	pfs_free(self->thread, held.record);
}

void pfs_worker_allocate_many(struct pfs_worker *self, uint32_t count)
{
	struct pfs_claim claims[PFS_MANY_MAX];
	uint32_t taken = pfs_allocate_many(self->thread, claims, count);
	self->deeds->refused += taken < count;
	self->deeds->allocations += taken;
	for (uint32_t i = 0; i < taken; i++) {
		struct pfs_held held = { .record = claims[i].record, .stamp = next_stamp(self) };
		own(self, &held);
		check_leftover(self->crowd, held.record);
		write_body(self->crowd, held.record, held.stamp);
		self->held[self->held_count++] = held;
	}
	pfs_publish_many(self->thread, claims, taken);
	for (uint32_t i = 0; i < taken; i++)
		check_version(self, claims[i].record);
}

void pfs_worker_free_many(struct pfs_worker *self, uint32_t count)
{
	void *records[PFS_MANY_MAX];
	for (uint32_t i = 0; i < count; i++) {
		struct pfs_held held = self->held[--self->held_count];
		check_body(self->crowd, held.record, held.stamp, "before free");
		if (self->crowd->mode == PFS_MODE_PLAIN)
			write_body(self->crowd, held.record, held.stamp | 1);
		disown(self, &held);
		records[i] = held.record;
	}
	pfs_free_many(self->thread, records, count);
}

void pfs_worker_rewrite(struct pfs_worker *self, uint32_t position)
{
	struct pfs_held *held = &self->held[position];
	if (!self->crowd->has_words)
		return;
	check_body(self->crowd, held->record, held->stamp, "before it is written anew");
	struct pfs_claim claim = pfs_reopen(self->thread, held->record);
	held->stamp = next_stamp(self);
	write_body(self->crowd, held->record, held->stamp);
	pfs_publish(self->thread, claim);
	check_version(self, held->record);
}

bool pfs_worker_hand_over(struct pfs_worker *self, uint32_t position)
{
	struct pfs_crowd *crowd = self->crowd;
	uint32_t to = pfs_below(&self->random, crowd->options->threads);
	uint32_t slot = pfs_below(&self->random, PFS_BOX_SLOTS);
	struct pfs_held *nobody = NULL;
	struct pfs_held *held = malloc(sizeof(*held));
	if (held == NULL)
		pfs_harm(crowd, "no memory for a box");
	*held = self->held[position];
	if (!atomic_compare_exchange_strong_explicit(&crowd->boxes[to].slots[slot], &nobody, held,
						     memory_order_release, memory_order_relaxed)) {
		free(held);
		return false;
	}
	self->held[position] = self->held[--self->held_count];
	self->deeds->handed++;
	return true;
}

void pfs_worker_take_over(struct pfs_worker *self)
{
	struct pfs_crowd *crowd = self->crowd;
	for (uint32_t slot = 0; slot < PFS_BOX_SLOTS; slot++) {
		struct pfs_held *held = NULL;
		if (self->held_count < crowd->hold_max + PFS_BOX_SLOTS)
			held = atomic_exchange_explicit(
				&crowd->boxes[self->index % crowd->options->threads].slots[slot],
				NULL, memory_order_acquire);
		if (held == NULL)
			continue;
		if (crowd->mode != PFS_MODE_HISTORY)
			check_body(crowd, held->record, held->stamp, "after it was handed over");
		self->held[self->held_count++] = *held;
		free(held);
	}
}
