/*
 * host.h - what the program around the machine supplies; each host defines all of it, once.
 *
 * pfs-check names places of the program that it has loaded, and keeps no entries. The kit names
 * places of its own code, and its page map has an entry for each OS page of the machine's memory.
 */
#ifndef PFS_SIM_HOST_H
#define PFS_SIM_HOST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * pfs_place_of_code - the source place of an address of the program's code, for messages.
 *
 * Returns   function, file and line; without a file, the function's text has all that is known: at
 *           least the address. Valid until many others were asked for.
 *           Calls addr2line of the binutils once for each address.
 * Errors    none.
 * Progress  blocking: starts a process.
 * Order     none.
 */
struct pfs_sim_place;
const struct pfs_sim_place *pfs_place_of_code(const void *code);

/* Are plain accesses of threads reported (plain.h)? plain.c answers for hosts whose code the
 * compiler instruments; a host with such functions of its own defines this too. */
bool pfs_plain_is_seen(void);

/* One pointer for each OS page of the machine's memory, in an array, which snapshots keep. */
struct pfs_host_entries {
	bool (*reserve)(const void *first, size_t size_bytes); /* false: no memory */
	void (*clear)(const void *first, size_t size_bytes);
	void *(*of)(const void *first); /* the first entry */
};
extern const struct pfs_host_entries *const pfs_host_entries; /* NULL: it keeps none */

#endif
