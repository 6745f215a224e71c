#define _GNU_SOURCE
#include "sim/timed/timed_lines.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINES_FIRST ((size_t)1 << 14)

_Static_assert(sizeof(struct pfs_line) == 64, "one line of the host for a line of the machine");

static struct pfs_line *table_new(size_t entries)
{
	size_t bytes = entries * sizeof(struct pfs_line);
	void *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (table == MAP_FAILED)
		return NULL;
	(void)madvise(table, bytes, MADV_HUGEPAGE);
	return table;
}

static void table_free(struct pfs_line *table, size_t entries)
{
	if (table != NULL)
		(void)munmap(table, entries * sizeof(struct pfs_line));
}

bool pfs_lines_init(struct pfs_cache_lines *self, uint32_t core_count, uint32_t l3_count)
{
	memset(self, 0, sizeof(*self));
	self->table = table_new(LINES_FIRST);
	self->mask = LINES_FIRST - 1;
	self->shift = 64 - 14;
	self->cores = calloc(core_count, sizeof(*self->cores));
	self->l3s = calloc(l3_count, sizeof(*self->l3s));
	self->set_words = (core_count + 63) / 64;
	self->set_room = 64;
	self->set_count = 1; /* set 0 belongs to lines that never had sharers */
	self->sets = calloc((size_t)self->set_room * self->set_words, sizeof(*self->sets));
	return self->table != NULL && self->cores != NULL && self->l3s != NULL &&
	       self->sets != NULL;
}

void pfs_lines_fini(struct pfs_cache_lines *self)
{
	table_free(self->table, self->mask + 1);
	free(self->cores);
	free(self->l3s);
	free(self->sets);
}

static struct pfs_line *empty_entry(struct pfs_cache_lines *self, uint64_t tag)
{
	size_t at = (size_t)((tag * UINT64_C(0x9E3779B97F4A7C15)) >> self->shift);
	while (self->table[at].tag != 0)
		at = (at + 1) & self->mask;
	return &self->table[at];
}

static bool grow(struct pfs_cache_lines *self)
{
	struct pfs_line *old = self->table;
	size_t entries = self->mask + 1;
	struct pfs_line *table = table_new(entries * 2);
	if (table == NULL)
		return false;
	self->table = table;
	self->mask = entries * 2 - 1;
	self->shift--;
	for (size_t at = 0; at < entries; at++) {
		if (old[at].tag != 0)
			*empty_entry(self, old[at].tag) = old[at];
	}
	table_free(old, entries);
	return true;
}

struct pfs_line *pfs_lines_add(struct pfs_cache_lines *self, uint64_t tag)
{
	if (self->count * 2 > self->mask && !grow(self))
		return NULL;
	self->count++;
	struct pfs_line *line = empty_entry(self, tag);
	*line = (struct pfs_line){ .tag = tag,
				   .lease = UINT64_MAX,
				   .owner = PFS_LINE_NOBODY,
				   .user = PFS_LINE_NOBODY,
				   .home = PFS_LINE_HOMELESS,
				   .first = PFS_LINE_NOBODY,
				   .last = PFS_LINE_NOBODY };
	return line;
}

bool pfs_line_share(struct pfs_cache_lines *self, struct pfs_line *line, uint32_t core)
{
	if (line->sharers == 0) {
		if (self->set_count == self->set_room) {
			size_t words = (size_t)self->set_room * self->set_words;
			uint64_t *longer = realloc(self->sets, 2 * words * sizeof(*longer));
			if (longer == NULL)
				return false;
			memset(longer + words, 0, words * sizeof(*longer));
			self->sets = longer;
			self->set_room *= 2;
		}
		line->sharers = self->set_count++;
	}
	self->sets[(size_t)line->sharers * self->set_words + core / 64] |= UINT64_C(1) << core % 64;
	line->shared = true;
	return true;
}

void pfs_line_unshare(struct pfs_cache_lines *self, struct pfs_line *line)
{
	if (line->shared)
		memset(&self->sets[(size_t)line->sharers * self->set_words], 0,
		       self->set_words * sizeof(*self->sets));
	line->shared = false;
}

bool pfs_line_is_only(const struct pfs_cache_lines *self, const struct pfs_line *line,
		      uint32_t core)
{
	const uint64_t *set = &self->sets[(size_t)line->sharers * self->set_words];
	for (uint32_t word = 0; line->shared && word < self->set_words; word++) {
		uint64_t own = core / 64 == word ? UINT64_C(1) << core % 64 : 0;
		if ((set[word] & ~own) != 0)
			return false;
	}
	return line->shared;
}

void pfs_lines_settle(struct pfs_cache_lines *self, uint32_t core_count)
{
	for (uint32_t core = 0; core < core_count; core++)
		self->cores[core].waiting = 0;
	for (size_t at = 0; at <= self->mask; at++) {
		struct pfs_line *line = &self->table[at];
		line->hold = 0;
		line->lease = UINT64_MAX;
		line->first = line->last = PFS_LINE_NOBODY;
		line->waiting = line->readers = 0;
		line->moving = 0;
		line->moving_for_reading = false;
	}
}
