/*
 * load_simple.c - the simple workloads: tiny, pair, burst, buffers, large.
 */
#include "load.h"

#define NEIGHBOURS 500u

static const uint16_t pair_sizes[] = { 16, 24, 32, 48, 64, 64, 96, 128, 200, 512 };
#define PAIR_SIZES (sizeof(pair_sizes) / sizeof(pair_sizes[0]))

static void run_tiny(const struct load_options *options)
{
	uint64_t state = options->seed;

	for (uint64_t i = 0; i < options->count; i++) {
		size_t size = load_size(&state, 4, 10);
		void *block = load_take(size);
		if (i % 2 != 0)
			load_give(block, size);
	}
	load_say("resident_bytes", load_resident());
}

const struct load load_tiny = {
	"tiny", "a program that hardly allocates; blocks", 1, 40, run_tiny,
};

static void *do_pairs(void *opaque)
{
	const struct load_options *options = opaque;
	void *neighbours[NEIGHBOURS];

	for (uint32_t i = 0; i < NEIGHBOURS; i++)
		neighbours[i] = load_take(pair_sizes[i % PAIR_SIZES]);
	for (uint64_t i = 0; i < options->count; i++) {
		size_t size = pair_sizes[i % PAIR_SIZES];
		load_give(load_take(size), size);
	}
	for (uint32_t i = 0; i < NEIGHBOURS; i++)
		load_give(neighbours[i], pair_sizes[i % PAIR_SIZES]);
	return NULL;
}

static void run_pair(const struct load_options *options)
{
	struct load_options each = *options;

	if (options->threads == 1)
		do_pairs(&each);
	else
		load_threads(options->threads, do_pairs, &each, 0);
}

const struct load load_pair = {
	"pair", "malloc and free at once, 16 to 512 bytes; pairs a thread", 1, 5000000, run_pair,
};

#define BURST 20000u /* longer than any allocator's cache */

struct burst {
	void *block[BURST];
	uint32_t size[BURST];
	uint32_t order[BURST];
};

static void shuffle(uint32_t *order, uint32_t count, uint64_t *state)
{
	for (uint32_t i = count - 1; i > 0; i--) {
		uint32_t other = load_below(state, i + 1), kept = order[i];
		order[i] = order[other];
		order[other] = kept;
	}
}

/* Freed in order, in reverse, and at random, in turns. */
static void run_burst(const struct load_options *options)
{
	struct burst *self = load_map(sizeof(*self));
	uint64_t state = options->seed;

	for (uint32_t i = 0; i < BURST; i++)
		self->order[i] = i;
	shuffle(self->order, BURST, &state);
	for (uint64_t round = 0; round < options->count; round++) {
		for (uint32_t i = 0; i < BURST; i++) {
			self->size[i] = (uint32_t)load_size(&state, 4, 8);
			self->block[i] = load_take(self->size[i]);
		}
		for (uint32_t i = 0; i < BURST; i++) {
			uint32_t k = round % 3 == 0   ? i
				     : round % 3 == 1 ? BURST - 1 - i
						      : self->order[i];
			load_give(self->block[k], self->size[k]);
		}
	}
	load_settle(options);
}

const struct load load_burst = {
	"burst", "20000 blocks of 16 to 255 bytes, then all freed; bursts", 1, 150, run_burst,
};

#define BUFFERS 16u

/* Only the first page is touched, so that what counts is the allocator. */
static void *do_buffers(void *opaque)
{
	const struct load_options *options = opaque;
	uint64_t *blocks[BUFFERS] = { NULL };
	uint64_t state = options->seed;

	for (uint64_t i = 0; i < options->count; i++) {
		uint32_t k = load_below(&state, BUFFERS);
		if (blocks[k] != NULL)
			load_give(blocks[k], *blocks[k]);
		size_t size = load_size(&state, 14, 17);
		blocks[k] = malloc(size);
		if (blocks[k] == NULL)
			load_fail("no memory");
		*blocks[k] = size;
	}
	for (uint32_t k = 0; k < BUFFERS; k++)
		if (blocks[k] != NULL)
			load_give(blocks[k], *blocks[k]);
	return NULL;
}

static void run_buffers(const struct load_options *options)
{
	struct load_options each = *options;

	load_threads(options->threads, do_buffers, &each, 0);
	load_settle(options);
}

const struct load load_buffers = {
	"buffers",   "16 live blocks of 16 to 128 KiB a thread; blocks a thread", 2, 1000000,
	run_buffers,
};

#define LARGE 20u

/* As mimalloc-bench's malloc-large. */
static void run_large(const struct load_options *options)
{
	void *blocks[LARGE] = { NULL };
	size_t sizes[LARGE] = { 0 };
	uint64_t state = options->seed;

	for (uint64_t i = 0; i < options->count; i++) {
		uint32_t k = load_below(&state, LARGE);
		if (blocks[k] != NULL)
			load_give(blocks[k], sizes[k]);
		sizes[k] = ((size_t)5 << 20) + load_below(&state, 20u << 20);
		blocks[k] = load_take(sizes[k]);
	}
	for (uint32_t k = 0; k < LARGE; k++)
		if (blocks[k] != NULL)
			load_give(blocks[k], sizes[k]);
	load_settle(options);
}

const struct load load_large = {
	"large", "20 live blocks of 5 to 25 MiB, each page touched; blocks", 1, 300, run_large,
};
