/*
 * moments.c - sums up the contexts by stack, and stores the stacks that hold the most.
 */
#define _GNU_SOURCE
#include "moments.h"

#include <stdlib.h>

#include "memory/box/box.h"

#define NS_PER_MS UINT64_C(1000000)
#define HEADER_BYTES offsetof(struct pfs_box_moment, stacks)

struct sums {
	uint64_t bytes, objects_256ths;
};

/* A moment while it is made. */
struct making {
	struct pfs_box_moment moment;
	struct sums sums[]; /* by the stacks' references; 0: of no stack */
};

/* ---- sums ---- */

/* A context that was made twice is dropped without samples, and its record made another: so its
 * stack is read after the sums. */
static void add_context(struct making *making, uint32_t stacks_max, struct pfs_box_context *context)
{
	/* [PK4] acquire, pairs with [PK3], twice: freed is read first, so it never exceeds. */
	struct sums freed = { pfs_load_acquire(&context->freed_bytes),
			      /* [PK4] acquire, pairs with [PK3]. */
			      pfs_load_acquire(&context->freed_objects_256ths) };
	/* [J2] acquire, pairs with [J1], twice: with the record as it is since its first sample. */
	struct sums ever = { pfs_load_acquire(&context->bytes),
			     /* [J2] acquire, pairs with [J1]. */
			     pfs_load_acquire(&context->objects_256ths) };
	if ((int64_t)(ever.bytes - freed.bytes) <= 0)
		return;
	struct sums *sums = &making->sums[context->stack <= stacks_max ? context->stack : 0];
	sums->bytes += ever.bytes - freed.bytes;
	if ((int64_t)(ever.objects_256ths - freed.objects_256ths) > 0)
		sums->objects_256ths += ever.objects_256ths - freed.objects_256ths;
}

static void add_contexts(struct pfs_profile *self, struct making *making)
{
	struct pfs_walk walk;
	struct pfs_box_context *context;
	pfs_walk_begin(&walk, self->books->shelves[PFS_SHELF_CONTEXTS].handle, PFS_WALK_LIVE);
	while ((context = pfs_walk_next(&walk)) != NULL)
		add_context(making, self->stacks_max, context);
	pfs_walk_end(&walk);
}

/* ---- the largest: a heap with the smallest of them on top ---- */

static void sink(struct pfs_box_held *heap, uint32_t count, uint32_t at)
{
	const struct pfs_box_held held = heap[at];
	for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && heap[child + 1].bytes < heap[child].bytes)
			child++;
		if (heap[child].bytes >= held.bytes)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = held;
}

static void leave_out(struct pfs_box_moment *moment, uint64_t bytes)
{
	moment->others++;
	moment->others_bytes += bytes;
	if (bytes > moment->others_most)
		moment->others_most = bytes;
}

static void take(struct pfs_box_moment *moment, struct pfs_box_held held)
{
	struct pfs_box_held *heap = moment->stacks;
	if (moment->count < PFS_MOMENT_STACKS) {
		heap[moment->count++] = held;
		for (uint32_t i = PFS_MOMENT_STACKS / 2;
		     moment->count == PFS_MOMENT_STACKS && i > 0; i--)
			sink(heap, moment->count, i - 1);
	} else if (held.bytes > heap[0].bytes) {
		leave_out(moment, heap[0].bytes);
		heap[0] = held;
		sink(heap, moment->count, 0);
	} else {
		leave_out(moment, held.bytes);
	}
}

static void take_largest(struct making *making, uint32_t stacks_max)
{
	making->moment.no_stack_bytes = making->sums[0].bytes;
	for (uint32_t stack = 1; stack <= stacks_max; stack++) {
		const struct sums *sums = &making->sums[stack];
		uint64_t blocks = (sums->objects_256ths + 128) / 256;
		if (sums->bytes != 0)
			take(&making->moment,
			     (struct pfs_box_held){
				     stack, blocks < UINT32_MAX ? (uint32_t)blocks : UINT32_MAX,
				     sums->bytes });
	}
}

/* ---- keeping ---- */

static void store(struct pfs_box *box, const struct pfs_box_moment *moment)
{
	const struct pfs_box_region *region = pfs_box_region_of(box, PFS_BOX_MOMENTS);
	uint64_t offset = region->offset +
			  (uint64_t)pfs_moment_place(moment->number) * sizeof(*moment);
	size_t bytes = HEADER_BYTES + moment->count * sizeof(moment->stacks[0]);
	if (!pfs_box_populate(box, offset, bytes))
		return;
	pfs_bytes_store(box->base + offset, moment, bytes);
	/* [PM1] release, pairs with [PM2]: without it a reader could find a moment whole whose
	 * bytes it does not see yet. [L5] puts this store before the bytes of the next moment. */
	pfs_store_release(&box->head->moments, moment->number);
}

void pfs_moments_tick(struct pfs_profile *self)
{
	struct pfs_box *box = &self->books->box;
	uint64_t now = pfs_box_now_ns();
	/* relaxed: moments are kept under the desk. */
	uint64_t kept = pfs_load_relaxed(&box->head->moments);
	/* A clock that was set back makes one due, too. */
	if (kept != 0 &&
	    now - self->moment_ns < (uint64_t)box->head->tick_ms * PFS_MOMENT_TICKS * NS_PER_MS)
		return;
	struct making *making =
		calloc(1, sizeof(*making) + (self->stacks_max + (size_t)1) * sizeof(struct sums));
	if (making == NULL)
		return;
	add_contexts(self, making);
	take_largest(making, self->stacks_max);
	making->moment.number = kept + 1;
	making->moment.realtime_ns = now;
	store(box, &making->moment);
	self->moment_ns = now;
	free(making);
}
