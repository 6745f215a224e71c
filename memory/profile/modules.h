/*
 * modules.h - records in the box which file of the program is mapped where, so that a reader can
 * resolve the addresses of stacks even after the program has ended.
 *
 * A file is recorded when a new stack first meets it, through the loader's lock-free lookup,
 * because the thread may hold the loader's locks (dlopen calls malloc). A file's absence is noticed
 * at a tick, or when another file is found in its place. `epoch` changes whenever a file may have
 * gone. Known addresses may then belong to another file, and are looked up again.
 */
#ifndef PFS_PROFILE_MODULES_H
#define PFS_PROFILE_MODULES_H

#include "containers/mutex.h"
#include "memory/box/box.h"

#define PFS_MODULES_MAX 2048u

/* A mapped file, as the loader reports it; begin 0: it has gone. */
struct pfs_module_known {
	const void *map;
	uintptr_t begin, end;
};

struct pfs_modules {
	struct pfs_box *box;
	struct pfs_box_region *region;
	_Atomic(uint32_t) epoch;
	/* for all below. Taken only inside pfs_gate, so that no fork meets it */
	struct pfs_mutex lock;
	uint32_t count; /* of records */
	struct pfs_module_known known[PFS_MODULES_MAX];
};

void pfs_modules_begin(struct pfs_modules *self, struct pfs_box *box);

/* pfs_modules_see - the files that these addresses are of, as a hash of their numbers; unknown
 * files are recorded. A file without room is counted as lost, at each lookup. */
uint32_t pfs_modules_see(struct pfs_modules *self, const uint64_t *addresses, uint32_t count);

/* pfs_module_of - describe the file that an address is of, without a record. False: it is of none.
 * Wait-free; a signal handler may call it. */
bool pfs_module_of(const struct pfs_box *box, uintptr_t address, struct pfs_box_module *module);

/* pfs_modules_tick - mark the files that have gone. Inside the gate. */
void pfs_modules_tick(struct pfs_modules *self);

/* pfs_modules_changed - a file was closed, by any thread. Wait-free. */
void pfs_modules_changed(struct pfs_modules *self);

#endif
