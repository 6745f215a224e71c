/*
 * load_mixed.c - random sizes and lifetimes, blocks that grow, and blocks that other threads free,
 * in rounds of new threads: mixed. It does what mimalloc's test-stress does; the code is our own.
 */
#include "load.h"

#include <string.h>

#include "containers/atomic.h"

#define SHARED 1000u  /* blocks that any thread may take and free */
#define OWN_MAX 4096u /* blocks that a thread holds */
#define ROUNDS 8u

/* A block stores its number of words; each word is its index XOR that number. */
struct block {
	uint64_t words;
	uint64_t word[];
};

struct part {
	_Atomic(struct block *) *shared;
	uint64_t steps, state;
};

static uint64_t words_of(uint64_t *state)
{
	uint64_t words = 1 + load_below(state, 16);
	uint32_t luck = load_below(state, 1000);

	return luck == 0 ? words * 500 : luck < 12 ? words * 50 : words;
}

static void write_words(struct block *block, uint64_t from, uint64_t words)
{
	block->words = words;
	for (uint64_t i = from; i < words; i++)
		block->word[i] = i ^ words;
}

static size_t bytes_of(uint64_t words)
{
	return sizeof(struct block) + words * sizeof(uint64_t);
}

static struct block *make(uint64_t *state)
{
	uint64_t words = words_of(state);
	struct block *block = malloc(bytes_of(words));

	if (block == NULL)
		load_fail("no memory");
	write_words(block, 0, words);
	return block;
}

static void check(const struct block *block)
{
	for (uint64_t i = 0; i < block->words; i++)
		if (block->word[i] != (i ^ block->words))
			load_fail("a block was overwritten: it had two owners");
}

static struct block *grow(struct block *block)
{
	uint64_t words = block->words + block->words / 2 + 1;

	check(block);
	block = realloc(block, bytes_of(words));
	if (block == NULL)
		load_fail("no memory");
	write_words(block, 0, words);
	return block;
}

static void drop(struct block *block)
{
	if (block == NULL)
		return;
	check(block);
	free(block);
}

static void *play(void *opaque)
{
	struct part *self = opaque;
	struct block **own = load_map(OWN_MAX * sizeof(struct block *));
	uint32_t held = 0;

	for (uint64_t i = 0; i < self->steps; i++) {
		uint32_t luck = load_below(&self->state, 100);
		if (held == 0 || (luck < 50 && held < OWN_MAX)) {
			own[held++] = make(&self->state);
			continue;
		}
		uint32_t k = load_below(&self->state, held);
		if (luck < 80) {
			drop(own[k]);
			own[k] = own[--held];
		} else if (luck < 90) {
			own[k] = grow(own[k]);
		} else { /* hands over the block's words: seq, so that no order needs an argument */
			uint32_t slot = load_below(&self->state, SHARED);
			own[k] = pfs_exchange_seq(&self->shared[slot], own[k]);
			if (own[k] == NULL)
				own[k] = own[--held];
		}
	}
	for (uint32_t k = 0; k < held; k++)
		drop(own[k]);
	load_unmap(own, OWN_MAX * sizeof(struct block *));
	return NULL;
}

static void run(const struct load_options *options)
{
	_Atomic(struct block *) *shared = load_map(SHARED * sizeof(*shared));
	struct part *parts = load_map(options->threads * sizeof(*parts));

	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < options->threads; i++)
			parts[i] = (struct part){
				.shared = shared,
				.steps = options->count / ROUNDS + 1,
				.state = options->seed + round * options->threads + i,
			};
		load_threads(options->threads, play, parts, sizeof(*parts));
	}
	for (uint32_t i = 0; i < SHARED; i++)
		drop(pfs_exchange_seq(&shared[i], NULL));
	load_settle(options);
}

const struct load load_mixed = {
	"mixed", "random sizes and lives, realloc, hand over, fresh threads; steps a thread",
	4,       800000,
	run,
};
