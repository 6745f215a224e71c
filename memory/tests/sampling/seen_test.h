/*
 * seen_test.h - shared by the tests of samples: checks that count failures, books with a profile,
 * and what a reader sees of it.
 */
#ifndef PFS_SAMPLING_SEEN_TEST_H
#define PFS_SAMPLING_SEEN_TEST_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pfslab/memory.h>

#include "memory/box/reader_profile.h"

static int failures;
static struct pfs_books *books;
static struct pfs_reader *reader;
static pfs_memory_key keys[2];

static inline void expect(bool fine, const char *what, uint64_t have, uint64_t want)
{
	if (fine)
		return;
	(void)printf("FAILED: %s: %" PRIu64 ", %" PRIu64 " wanted\n", what, have, want);
	failures++;
}

static inline void equal(uint64_t have, uint64_t want, const char *what)
{
	expect(have == want, what, have, want);
}

/* Books with two instruments. */
static inline void open_books(const char *folder, uint32_t lg, uint32_t stacks, uint32_t contexts,
			      uint32_t samples)
{
	struct pfs_memory_config config;
	struct pfs_message message;
	pfs_memory_config_init(&config);
	config.folder = folder;
	config.tick_ms = 0;
	config.threads_max = 64;
	config.cells_max = 4096;
	config.accounts_max = 16;
	config.profile_lg = lg;
	config.stacks_max = stacks;
	config.contexts_max = contexts;
	config.samples_max = samples;
	if (pfs_memory_open(&config, &books, &message) != PFS_OK) {
		(void)fprintf(stderr, "%s\n", message.text);
		exit(2);
	}
	keys[0] = pfs_memory_register(books, "memory/one/heap");
	keys[1] = pfs_memory_register(books, "memory/two/heap");
}

static inline struct pfs_seen_profile *look(void)
{
	struct pfs_message message;
	if (reader == NULL)
		reader = pfs_reader_open(pfs_memory_path(books), &message);
	struct pfs_seen_profile *profile = reader != NULL ? pfs_profile_take(reader, &message)
							  : NULL;
	if (profile == NULL) {
		(void)fprintf(stderr, "%s\n", message.text);
		exit(2);
	}
	return profile;
}

static inline uint64_t samples_ever(const struct pfs_seen_profile *profile)
{
	uint64_t samples = 0;
	for (uint32_t i = 0; i < profile->context_count; i++)
		samples += profile->contexts[i].samples;
	return samples;
}

static inline uint64_t count_samples(void)
{
	struct pfs_seen_profile *profile = look();
	uint64_t samples = samples_ever(profile);
	pfs_profile_free(profile);
	return samples;
}

#endif
