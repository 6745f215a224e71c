/*
 * malloc_timed_loads.c - the loads that many threads put on malloc. The first word of a block marks
 * it as in use, which reveals a block with two owners.
 */
#include <stdlib.h>
#include <string.h>

#include "memory/malloc/quick.h"
#include "check/machine/machine.h"
#include "memory/search/malloc_timed.h"
#include "sim/timed/timed.h"

#define CALL_NS 8 /* a call and its program, without accesses to memory */
#define LOOK_NS 60
#define BATCH 32u
#define WAVE 512u

static const uint16_t sizes[] = { 16, 24,  32,  32,  48,  64,  64,   64,
				  96, 128, 160, 200, 256, 512, 1024, 2000 };

static uint32_t draw(struct pfs_load_thread *self, uint32_t below)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return (uint32_t)(self->random >> 33) % below;
}

static uint32_t draw_size(struct pfs_load_thread *self)
{
	return sizes[draw(self, sizeof(sizes) / sizeof(sizes[0]))];
}

static uint64_t mark_of(const void *block)
{
	return (uint64_t)(uintptr_t)block ^ UINT64_C(0xB10C0F0E5A11E5ED);
}

/* The library's slow paths. */
void *pfs_malloc_slow(size_t size_bytes)
{
	uint32_t class = pfs_class_of(size_bytes);
	void *block = pfs_cache_fill(PFS_RING_OFFSET(class));
	return block != NULL ? block : pfs_cache_refill(class);
}

void pfs_free_slow(void *block)
{
	uint32_t offset = pfs_map_ring(pfs_map_entry(block));
	PFS_MACHINE_CHECK(offset != 0, "a block that is in no slab");
	pfs_cache_overflow(block, pfs_class_of_offset(offset), "free");
}

static void *new_block(struct pfs_load_thread *self, uint32_t size_bytes)
{
	uint64_t *block = pfs_malloc_quick(size_bytes);
	PFS_MACHINE_CHECK(block != NULL, "no memory");
	PFS_MACHINE_CHECK(*block != mark_of(block), "a block has two owners");
	*block = mark_of(block);
	self->done++;
	pfs_timed_work_ns(CALL_NS);
	return block;
}

static void free_block(struct pfs_load_thread *self, void *block)
{
	uint64_t *word = block;
	PFS_MACHINE_CHECK(*word == mark_of(block), "another thread wrote to a block in use");
	*word = 0;
	pfs_free_quick(block);
	self->done++;
	pfs_timed_work_ns(CALL_NS);
}

static void run_pairs(struct pfs_load_thread *self, struct pfs_load_thread *all)
{
	(void)all;
	while (self->done < self->calls)
		free_block(self, new_block(self, 64));
}

/* The second half of the threads, far away, frees what the first half allocates. */
static void produce(struct pfs_load_thread *self, struct pfs_load_thread *to)
{
	while (self->done < self->calls) {
		void *batch[BATCH];
		for (uint32_t i = 0; i < BATCH; i++)
			batch[i] = new_block(self, 64);
		/* acquire: the partner has read the mail. */
		while (pfs_load_acquire(&to->is_full) != 0)
			pfs_timed_work_ns(LOOK_NS);
		for (uint32_t i = 0; i < BATCH; i++)
			to->mail[i] = batch[i];
		pfs_store_release(&to->is_full, 1); /* release: the mail, and the blocks */
	}
}

static void consume(struct pfs_load_thread *self)
{
	while (self->done < self->calls) {
		void *batch[BATCH];
		while (pfs_load_acquire(&self->is_full) == 0) /* acquire: as above */
			pfs_timed_work_ns(LOOK_NS);
		for (uint32_t i = 0; i < BATCH; i++)
			batch[i] = self->mail[i];
		pfs_store_release(&self->is_full, 0); /* release: the mail was read */
		for (uint32_t i = 0; i < BATCH; i++)
			free_block(self, batch[i]);
	}
}

static void run_handoff(struct pfs_load_thread *self, struct pfs_load_thread *all)
{
	uint32_t half = self->threads / 2;
	self->calls -= self->calls % BATCH; /* so that all mail is read at the end */
	if (self->id < half)
		produce(self, &all[self->id + half]);
	else if (self->id < 2 * half)
		consume(self);
}

/* A table of blocks of many sizes, replaced at random; another thread frees one in eight. */
static void run_server(struct pfs_load_thread *self, struct pfs_load_thread *all)
{
	while (self->done < self->calls) {
		uint32_t at = draw(self, PFS_LOAD_LIVE);
		void *block = new_block(self, draw_size(self));
		void *old = self->live[at];
		self->live[at] = block;
		if (old != NULL && at % 8 == 0) /* acq_rel: the blocks' bytes */
			old = pfs_exchange_acq_rel(&all[draw(self, self->threads)].shared, old);
		if (old != NULL)
			free_block(self, old);
	}
	self->live_count = PFS_LOAD_LIVE;
}

/* Allocates up to 512 blocks of a size and frees them, then does so with another size. */
static void run_waves(struct pfs_load_thread *self, struct pfs_load_thread *all)
{
	(void)all;
	while (self->done < self->calls) {
		uint32_t size_bytes = draw_size(self);
		uint32_t count = WAVE / 4 + draw(self, WAVE / 4 * 3);
		for (uint32_t i = 0; i < count; i++)
			self->live[i] = new_block(self, size_bytes);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t at = i + draw(self, count - i);
			void *block = self->live[at];
			self->live[at] = self->live[i];
			free_block(self, block);
		}
	}
}

const struct pfs_load pfs_loads[] = {
	{ "pairs", "malloc and free of 64 bytes", run_pairs, 0 },
	{ "handoff", "the other half of the threads frees", run_handoff, 0 },
	{ "server", "sizes and lifetimes at random, some blocks change hands", run_server,
	  PFS_LOAD_LIVE },
	{ "waves", "hundreds of blocks of a size, then none", run_waves, WAVE },
	{ .name = NULL },
};

void pfs_load_end(struct pfs_load_thread *self)
{
	for (uint32_t at = 0; at < self->live_count; at++)
		if (self->live[at] != NULL)
			free_block(self, self->live[at]);
	self->live_count = 0;
	void *left = pfs_exchange_acq_rel(&self->shared, NULL); /* acq_rel: its bytes */
	if (left != NULL)
		free_block(self, left);
}
