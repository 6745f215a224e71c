#include "check/front/sizes.h"

#include <stdint.h>

#include "check/machine/machine.h"
#include "check/machine/trace.h"

#define GRANULE 8u

/* The sizes of places that begin at each byte of eight; 0: none does. */
struct granule {
	uint8_t sizes[GRANULE];
};

static struct pfs_hash_table known; /* numbers of addresses */
static struct granule *granules;    /* by their numbers in the table */
static uint32_t granule_room;

static void look(const struct pfs_sim_operation *operation, uintptr_t address)
{
	uint32_t at = address % GRANULE, size = operation->size_bytes;
	uint32_t number = pfs_table_add(&known, address / GRANULE);
	granules = pfs_widen(granules, &granule_room, number + 1, sizeof(*granules));
	struct granule *granule = &granules[number];
	if (granule->sizes[at] == size)
		return;
	for (uint32_t other = 0; other < GRANULE; other++) {
		if (granule->sizes[other] == 0 || other >= at + size ||
		    at >= other + granule->sizes[other])
			continue;
		pfs_machine_find(PFS_FOUND_UNCHECKED,
				 PFS_SIDES(pfs_side_here("accesses", operation->place)),
				 "atomic accesses of %u bytes at " PFS_SIDE_1
				 " and of %u to one place: this memory model has no mixed sizes; "
				 "use --memory sc",
				 size, granule->sizes[other]);
		return;
	}
	granule->sizes[at] = (uint8_t)size;
}

uintptr_t pfs_sizes_lowest[PFS_USER_THREADS_MAX + 1] = { [0 ... PFS_USER_THREADS_MAX] =
								 UINTPTR_MAX };

void pfs_sizes_leave(uint32_t thread, uintptr_t frame)
{
	uintptr_t lowest = pfs_sizes_lowest[thread];
	pfs_sizes_forget((const void *)lowest, frame - lowest);
	pfs_sizes_lowest[thread] = UINTPTR_MAX;
}

void pfs_sizes_look(const struct pfs_sim_operation *operation, uint32_t owner)
{
	uintptr_t address = (uintptr_t)operation->address;
	if (owner < PFS_USER_THREADS_MAX && address < pfs_sizes_lowest[owner])
		pfs_sizes_lowest[owner] = address;
	look(operation, address);
	if (operation->size_bytes > GRANULE)
		look(operation, address + GRANULE);
}

void pfs_sizes_forget(const void *first, size_t bytes)
{
	uintptr_t from = (uintptr_t)first / GRANULE, end = ((uintptr_t)first + bytes) / GRANULE;
	for (uintptr_t place = from; known.count != 0 && place <= end; place++) {
		uint32_t number = pfs_table_find(&known, place);
		if (number != PFS_TABLE_NONE)
			granules[number] = (struct granule){ { 0 } };
	}
}
