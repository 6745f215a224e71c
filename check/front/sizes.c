#include "check/front/sizes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check/machine/machine.h"
#include "check/machine/trace.h"

#define GRANULE 8u

/* The sizes of places that begin at each byte of eight; 0: none does. */
struct granule {
	uintptr_t number; /* of the address; 0: free */
	uint8_t sizes[GRANULE];
};

static struct {
	struct granule *granules; /* a hash table with open addresses */
	size_t room, count;
} known;

static size_t home_of(uintptr_t number, size_t room)
{
	return (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (room - 1);
}

/* The granule, or the empty one where it would be. */
static struct granule *find(struct granule *granules, size_t room, uintptr_t number)
{
	size_t at = home_of(number, room);
	while (granules[at].number != 0 && granules[at].number != number)
		at = (at + 1) & (room - 1);
	return &granules[at];
}

static void widen(void)
{
	size_t room = known.room != 0 ? 2 * known.room : 256;
	struct granule *granules = calloc(room, sizeof(*granules));
	if (granules == NULL)
		abort();
	for (size_t i = 0; i < known.room; i++) {
		if (known.granules[i].number != 0)
			*find(granules, room, known.granules[i].number) = known.granules[i];
	}
	free(known.granules);
	known.granules = granules;
	known.room = room;
}

static void look(const struct pfs_sim_operation *operation, uintptr_t address)
{
	uint32_t at = address % GRANULE, size = operation->size_bytes;
	if (2 * known.count >= known.room)
		widen();
	struct granule *granule = find(known.granules, known.room, address / GRANULE);
	if (granule->number == 0) {
		known.count++;
		granule->number = address / GRANULE;
	}
	if (granule->sizes[at] == size)
		return;
	for (uint32_t other = 0; other < GRANULE; other++) {
		if (granule->sizes[other] == 0 || other >= at + size ||
		    at >= other + granule->sizes[other])
			continue;
		pfs_machine_fail("atomic accesses of %u bytes (%s:%d) and of %u to one place: this "
				 "memory model has no mixed sizes; use --memory sc",
				 size, pfs_trace_base_name(operation->place->file),
				 operation->place->line, granule->sizes[other]);
		return;
	}
	granule->sizes[at] = (uint8_t)size;
}

void pfs_sizes_look(const struct pfs_sim_operation *operation)
{
	uintptr_t address = (uintptr_t)operation->address;
	look(operation, address);
	if (operation->size_bytes > GRANULE)
		look(operation, address + GRANULE);
}

void pfs_sizes_forget(const void *first, size_t bytes)
{
	uintptr_t from = (uintptr_t)first / GRANULE, end = ((uintptr_t)first + bytes) / GRANULE;
	if (known.count == 0)
		return;
	for (uintptr_t number = from; number <= end; number++)
		memset(find(known.granules, known.room, number)->sizes, 0, GRANULE);
}
