/*
 * apart_test.c - metadata is in one mapping without blocks, and nobody can access the pages beside
 * it. Chunks of metadata and blocks are mapped in turns, so that they would be neighbours. An
 * argument limits the address space, in MiB: then there are several such mappings.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <pfslab/malloc.h>

#include "memory/malloc/apart.h"
#include "memory/malloc/base.h"
#include "memory/malloc/map.h"
#include "memory/malloc/start.h"

#define TURNS 20u
#define PIECE_BYTES ((size_t)200 << 10)
#define BLOCKS 60u
#define BLOCK_BYTES ((size_t)12 << 10)
#define MAPPINGS_MOST 4096u

#define CHECK(condition, ...)                                  \
	do {                                                   \
		if (!(condition)) {                            \
			(void)fprintf(stderr, "apart_test: "); \
			(void)fprintf(stderr, __VA_ARGS__);    \
			(void)fprintf(stderr, "\n");           \
			exit(1);                               \
		}                                              \
	} while (0)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_sanitized = true; /* it needs address space itself */
#else
static const bool is_sanitized = false;
#endif

struct mapping {
	uintptr_t begin, end;
	bool is_open; /* readable or writable */
};

static struct mapping mappings[MAPPINGS_MOST];
static uint32_t mapping_count;
static uintptr_t pieces[TURNS + 1];
static uintptr_t blocks[TURNS][BLOCKS];

static void read_mappings(void)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	CHECK(maps != NULL, "no /proc/self/maps");
	while (fgets(line, sizeof(line), maps) != NULL && mapping_count < MAPPINGS_MOST) {
		struct mapping *mapping = &mappings[mapping_count];
		char access[5];
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &mapping->begin, &mapping->end,
			   access) != 3)
			continue;
		mapping->is_open = access[0] == 'r' || access[1] == 'w';
		mapping_count++;
	}
	(void)fclose(maps);
}

/* The mapping of an address; its neighbours are before and after it. */
static uint32_t mapping_of(uintptr_t address)
{
	for (uint32_t i = 1; i + 1 < mapping_count; i++)
		if (mappings[i].begin <= address && address < mappings[i].end)
			return i;
	CHECK(false, "%#" PRIxPTR " is not mapped", address);
	return 0;
}

static void check_apart(uintptr_t piece)
{
	const struct mapping *own = &mappings[mapping_of(piece)];
	CHECK(own[-1].end == own->begin && !own[-1].is_open,
	      "the page before the metadata at %#" PRIxPTR " is not a guard", own->begin);
	CHECK(own[1].begin == own->end && !own[1].is_open,
	      "the page after the metadata at %#" PRIxPTR " is not a guard", own->begin);
	for (uint32_t turn = 0; turn < TURNS; turn++)
		for (uint32_t i = 0; i < BLOCKS; i++)
			CHECK(blocks[turn][i] < own->begin || blocks[turn][i] >= own->end,
			      "a block beside the metadata at %#" PRIxPTR, own->begin);
}

static size_t mapped_bytes(void)
{
	size_t bytes = 0;
	mapping_count = 0;
	read_mappings();
	for (uint32_t i = 0; i < mapping_count; i++)
		bytes += mappings[i].end - mappings[i].begin;
	return bytes;
}

/* Address space that was reserved ahead goes before a malloc fails. */
static void check_limit(void)
{
	struct rlimit limit;
	CHECK(getrlimit(RLIMIT_AS, &limit) == 0, "no limit of the address space");
	limit.rlim_cur = mapped_bytes();
	CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "the address space cannot be limited");
	while (pfs_malloc((size_t)1 << 20) != NULL)
		continue;
	CHECK(pfs_apart_unmap() == 0, "a malloc failed, and address space stayed reserved");
}

int main(int argc, char **argv)
{
	static struct pfs_base_pool pool;
	uint32_t divided = 0;
	struct rlimit limit;
	CHECK(getrlimit(RLIMIT_AS, &limit) == 0, "no limit of the address space");
	if (argc > 1 && limit.rlim_cur == RLIM_INFINITY) {
		limit.rlim_cur = strtoul(argv[1], NULL, 10) << 20;
		CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "the address space cannot be limited");
		(void)execv("/proc/self/exe", argv); /* the limit is read at the start */
		CHECK(false, "the test cannot start again");
	}
	pfs_start();
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		pieces[turn] = (uintptr_t)pfs_base_new(&pool, PIECE_BYTES);
		CHECK(pieces[turn] != 0, "no memory");
		for (uint32_t i = 0; i < BLOCKS; i++) {
			void *block = pfs_malloc(BLOCK_BYTES);
			CHECK(block != NULL, "no memory");
			blocks[turn][i] = (uintptr_t)memset(block, 1, BLOCK_BYTES);
		}
	}
	uintptr_t part = blocks[0][0] >> PFS_MAP_PART_BITS;
	pieces[TURNS] = (uintptr_t)pfs_load_relaxed(&pfs_map_root[part]); /* relaxed: one thread */
	read_mappings();
	CHECK(mapping_count < MAPPINGS_MOST, "too many mappings");
	for (uint32_t i = 0; i <= TURNS; i++) {
		check_apart(pieces[i]);
		divided += mapping_of(pieces[i]) != mapping_of(pieces[0]);
	}
	CHECK((divided != 0) == (argc > 1), "%" PRIu32 " pieces in other mappings", divided);
	if (!is_sanitized)
		check_limit();
	return 0;
}
