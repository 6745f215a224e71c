/*
 * timed_lines.h - the cache lines of a machine in virtual time, and which cores have copies of
 * them.
 *
 * Invariant: a line has an owner (one core, which may write it), or sharers, or neither (it is in
 * memory). While moving != 0 a request is being served, and what the old holders may still do ends
 * at `lease`. The table is keyed by address: the address decides only where an entry is, so results
 * do not depend on it.
 */
#ifndef PFS_SIM_TIMED_LINES_H
#define PFS_SIM_TIMED_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFS_LINE_NOBODY UINT16_MAX
#define PFS_LINE_HOMELESS UINT8_MAX
#define PFS_LINE_SHIFT 6

struct pfs_line {
	uint64_t tag;         /* address / 64, + 1: 0 is an empty entry */
	uint64_t lease;       /* the holders' copies are valid before this clock */
	uint64_t hold;        /* the owner does not lose it earlier */
	uint64_t groups;      /* bit l3 % 64: it has a copy since the last write */
	uint32_t stamps[3];   /* fills of the owner's L1, L2, L3 at its last use */
	uint32_t sharers;     /* set of cores; 0: none made */
	uint16_t owner;       /* core, or PFS_LINE_NOBODY */
	uint16_t user;        /* PU that used it last */
	uint16_t first, last; /* threads that wait for it, or PFS_LINE_NOBODY */
	uint16_t waiting;     /* their count */
	uint16_t readers;     /* those of them that only read */
	uint8_t home;         /* node of its memory, or PFS_LINE_HOMELESS */
	uint8_t moving;       /* requests being served: one writer, or readers */
	bool moving_for_reading : 1;
	bool shared : 1;   /* there are sharers */
	bool siblings : 1; /* several PUs of a core have used it */
	bool written : 1;  /* by the owner, since it has it */
};

/* What a core or an L3 has taken in so far. */
struct pfs_cpu_cache {
	uint32_t fills[2]; /* of a core: L1, L2; of an L3: the first */
	uint32_t waiting;  /* threads of a core that wait for a line */
};

struct pfs_cache_lines {
	struct pfs_line *table; /* [mask + 1] */
	size_t mask, count;
	unsigned shift; /* of the hash */
	struct pfs_cpu_cache *cores, *l3s;
	uint64_t *sets; /* [set_room * set_words] */
	uint32_t set_words, set_count, set_room;
};

bool pfs_lines_init(struct pfs_cache_lines *self, uint32_t core_count, uint32_t l3_count);
void pfs_lines_fini(struct pfs_cache_lines *self);

/* Clocks start again at 0: what was under way has arrived. */
void pfs_lines_settle(struct pfs_cache_lines *self, uint32_t core_count);

/* Make an entry for a line without one. Entries move when the table grows: a pointer is valid until
 * the next call that finds. NULL: no memory. */
struct pfs_line *pfs_lines_add(struct pfs_cache_lines *self, uint64_t tag);

static inline uint64_t pfs_line_tag(const void *address)
{
	return ((uint64_t)(uintptr_t)address >> PFS_LINE_SHIFT) + 1;
}

static inline struct pfs_line *pfs_lines_find(struct pfs_cache_lines *self, uint64_t tag)
{
	size_t at = (size_t)((tag * UINT64_C(0x9E3779B97F4A7C15)) >> self->shift);
	for (;; at = (at + 1) & self->mask) {
		struct pfs_line *line = &self->table[at];
		if (__builtin_expect(line->tag == tag, 1))
			return line;
		if (line->tag == 0)
			return pfs_lines_add(self, tag);
	}
}

/* Is the core one of the line's sharers? */
static inline bool pfs_line_has(const struct pfs_cache_lines *self, const struct pfs_line *line,
				uint32_t core)
{
	const uint64_t *set = &self->sets[(size_t)line->sharers * self->set_words];
	return line->shared && (set[core / 64] >> (core % 64) & 1) != 0;
}
bool pfs_line_is_only(const struct pfs_cache_lines *self, const struct pfs_line *line,
		      uint32_t core);
bool pfs_line_share(struct pfs_cache_lines *self, struct pfs_line *line, uint32_t core);
void pfs_line_unshare(struct pfs_cache_lines *self, struct pfs_line *line);

#endif
