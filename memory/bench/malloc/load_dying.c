/*
 * load_dying.c - short-lived threads: dying.
 *
 * A thread allocates some blocks, frees most of them and those its predecessor left, leaves the
 * rest, and ends. So an allocator that keeps something for each thread keeps it for thousands.
 */
#include "load.h"

#define BLOCKS 64u
#define LEFT 8u /* of these */

struct legacy {
	void *blocks[LEFT];
	size_t sizes[LEFT];
};

struct life {
	struct legacy *legacy;
	uint64_t state;
};

static void *live(void *opaque)
{
	struct life *self = opaque;
	void *blocks[BLOCKS];
	size_t sizes[BLOCKS];

	for (uint32_t i = 0; i < BLOCKS; i++) {
		sizes[i] = load_size(&self->state, 4, 12);
		blocks[i] = load_take(sizes[i]);
	}
	for (uint32_t i = 0; i < LEFT; i++) {
		if (self->legacy->blocks[i] != NULL)
			load_give(self->legacy->blocks[i], self->legacy->sizes[i]);
		self->legacy->blocks[i] = blocks[i];
		self->legacy->sizes[i] = sizes[i];
	}
	for (uint32_t i = LEFT; i < BLOCKS; i++)
		load_give(blocks[i], sizes[i]);
	return NULL;
}

static void run(const struct load_options *options)
{
	struct legacy *legacies = load_map(options->threads * sizeof(*legacies));
	struct life *lives = load_map(options->threads * sizeof(*lives));

	for (uint64_t done = 0; done < options->count; done += options->threads) {
		for (uint32_t i = 0; i < options->threads; i++)
			lives[i] = (struct life){
				.legacy =
					&legacies[(i + done / options->threads) % options->threads],
				.state = options->seed + done + i,
			};
		load_threads(options->threads, live, lives, sizeof(*lives));
	}
	load_settle(options);
}

const struct load load_dying = {
	"dying", "threads that allocate 64 blocks and end; threads in all, so many at once",
	8,       4000,
	run,
};
