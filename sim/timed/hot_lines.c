#include "sim/timed/hot_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/machine/machine.h"
#include "sim/timed/timed.h"
#include "check/machine/trace.h"

#define ENTRIES ((size_t)1 << 18)
#define ENTRIES_USED_MAX (ENTRIES / 4 * 3) /* later lines are not listed */
#define LINE_SHIFT 6

/* One place in the source and one line. */
struct entry {
	const struct pfs_sim_place *place; /* NULL: empty */
	uint64_t line;
	uint64_t order; /* of the line's first access: addresses differ */
	uint64_t ns, accesses, ns_max;
};

static struct entry *entries; /* [ENTRIES] */
static size_t used;
static uint64_t line_order;

static struct entry *find(uint64_t line, const struct pfs_sim_place *place)
{
	uint64_t key = (line ^ (uint64_t)(uintptr_t)place << 7) * UINT64_C(0x9E3779B97F4A7C15);
	for (size_t at = (size_t)(key >> 46);; at = (at + 1) % ENTRIES) {
		struct entry *entry = &entries[at];
		if (entry->place == place && entry->line == line)
			return entry;
		if (entry->place != NULL)
			continue;
		if (used == ENTRIES_USED_MAX)
			return NULL;
		used++;
		*entry = (struct entry){ .place = place, .line = line, .order = ++line_order };
		return entry;
	}
}

static uint64_t timed_operation(struct pfs_machine *machine,
				const struct pfs_sim_operation *operation)
{
	uint64_t begin_ns = pfs_timed_now_ns();
	uint64_t seen = machine->engine.execute(machine, operation);
	uint64_t ns = pfs_timed_now_ns() - begin_ns;
	struct entry *entry = find((uint64_t)(uintptr_t)operation->address >> LINE_SHIFT,
				   operation->place);
	if (entry == NULL)
		return seen;
	entry->ns += ns;
	entry->accesses++;
	if (ns > entry->ns_max)
		entry->ns_max = ns;
	return seen;
}

bool pfs_hot_lines_record(bool on)
{
	struct pfs_machine *machine = pfs_machine_current();
	if (on && entries == NULL)
		entries = calloc(ENTRIES, sizeof(*entries));
	if (entries == NULL || machine == NULL)
		return false;
	machine->engine.around = on ? timed_operation : NULL;
	return true;
}

/* By line, and within a line by time. */
static int by_line(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static int by_time(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Moves one entry for each line to the front: its sums, and the place that took the most time. */
static size_t merge_lines(size_t count)
{
	size_t lines = 0;
	for (size_t at = 0; at < count; at++) {
		const struct entry *entry = &entries[at];
		if (lines == 0 || entries[lines - 1].line != entry->line) {
			entries[lines++] = *entry;
			continue;
		}
		struct entry *sum = &entries[lines - 1];
		sum->ns += entry->ns;
		sum->accesses += entry->accesses;
		if (entry->ns_max > sum->ns_max)
			sum->ns_max = entry->ns_max;
		if (entry->order < sum->order)
			sum->order = entry->order;
	}
	return lines;
}

uint32_t pfs_hot_lines_take(struct pfs_hot_line *lines, uint32_t room)
{
	size_t count = 0;
	for (size_t at = 0; entries != NULL && at < ENTRIES; at++) {
		if (entries[at].place != NULL)
			entries[count++] = entries[at];
	}
	if (count == 0)
		return 0;
	qsort(entries, count, sizeof(*entries), by_line);
	count = merge_lines(count);
	qsort(entries, count, sizeof(*entries), by_time);
	uint32_t taken = count < room ? (uint32_t)count : room;
	for (uint32_t i = 0; i < taken; i++) {
		const struct pfs_sim_place *place = entries[i].place;
		lines[i] = (struct pfs_hot_line){ .ns = entries[i].ns,
						  .accesses = entries[i].accesses,
						  .ns_max = entries[i].ns_max };
		(void)snprintf(lines[i].place, sizeof(lines[i].place), "%.40s %.24s:%d",
			       place->text, pfs_trace_base_name(place->file), place->line);
	}
	free(entries);
	entries = NULL;
	used = 0;
	return taken;
}
