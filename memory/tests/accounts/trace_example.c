/*
 * trace_example.c - the example of docs/explanation/trace.md: a cache that gives way to queries.
 *
 * Prints what the owners have at the end, and exits with 0 if a query got its memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <pfslab/memory_trace.h>

#define ENTRIES 8

static struct entry {
	struct pfs_owner_guard guard;
	void *memory;
} entries[ENTRIES];

/* The limit of all was met: the cache gives up an entry. */
static bool shrink(void *context, struct pfs_owner *over, uint64_t bytes)
{
	(void)context, (void)over, (void)bytes;
	for (int i = 0; i < ENTRIES; i++) {
		if (!pfs_owner_end(&entries[i].guard))
			continue;
		free(entries[i].memory);
		return true; /* try again */
	}
	return false;
}

static void print(const char *name, const struct pfs_owner *owner)
{
	struct pfs_owner_sums sums;
	pfs_owner_read(owner, &sums);
	(void)printf("%-8s own %" PRIu64 " sum %" PRIu64 " high %" PRIu64 " refused %" PRIu64 "\n",
		     name, sums.own_bytes, sums.sum_bytes, sums.high_bytes, sums.refused);
}

int main(void)
{
	struct pfs_memory_config config;
	struct pfs_message message;
	struct pfs_books *books;
	pfs_memory_config_init(&config);
	if (pfs_memory_open(&config, &books, &message) != PFS_OK) {
		(void)fprintf(stderr, "%s\n", message.text);
		return 2;
	}
	struct pfs_owner *all = pfs_owner_register(books, NULL, "all");
	struct pfs_owner *cache = pfs_owner_register(books, all, "cache");
	struct pfs_owner *queries = pfs_owner_register(books, all, "queries");
	pfs_owner_on_limit(all, shrink, NULL);
	pfs_owner_limit(all, 1000000, PFS_OWNER_CALL);

	for (int i = 0; i < ENTRIES; i++)
		if (pfs_owner_add(cache, 100000, &entries[i].guard))
			entries[i].memory = malloc(100000);
	struct pfs_owner_guard query = { 0, 0, 0 }, huge = { 0, 0, 0 };
	bool fits = pfs_owner_add(queries, 350000, &query);
	bool is_refused = !pfs_owner_add(queries, 2000000, &huge);
	print("all", all);
	print("cache", cache);
	print("queries", queries);
	(void)pfs_owner_end(&query);
	while (shrink(NULL, all, 0))
		;
	pfs_memory_close(books);
	return fits && is_refused ? 0 : 1;
}
