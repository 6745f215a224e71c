/*
 * probe.h - reads the inside of a container for traces and checks, without steps.
 */
#ifndef PFS_SIM_PROBE_H
#define PFS_SIM_PROBE_H

#include <stdio.h>

#include <pfslab/container.h>

/* A name for an address of the container, e.g. "page[1].record[0]"; see pfs_name_address. */
bool pfs_probe_name(const struct pfs_container *container, const void *address, char *name,
		    size_t name_bytes);

/* The states of all records at this moment: FREE, DIRTY, ALLOCATED records of published pages. */
struct pfs_probe_states {
	uint32_t pages;
	uint32_t free, dirty, allocated;
};
void pfs_probe_states(const struct pfs_container *container, struct pfs_probe_states *states);

/* FREE records of one page; 0 if there is none. */
uint32_t pfs_probe_page_free(const struct pfs_container *container, uint32_t index);

/* The record's word in memory, by page and slot; false: no such page or slot. */
bool pfs_probe_word(const struct pfs_container *container, uint32_t index, uint32_t slot,
		    uint32_t *word);

/* The shared page cursor; 0 if the policy has none. */
uint64_t pfs_probe_cursor(const struct pfs_container *container);

/* Address of a shared variable of the policy by its name, of a page or of the container, for
 * schedules that wait for it; NULL: no such page or variable. */
#define PFS_PROBE_CONTAINER UINT32_MAX
const void *pfs_probe_line(const struct pfs_container *container, uint32_t index, const char *name);

#endif
