/*
 * modules.h - which file of the program is mapped where, in the box: so that whoever asks can name
 * the addresses of stacks, also when the program is gone.
 *
 * A file is written down when a new stack meets it, by the loader's own lock-free call, for the
 * thread may hold the loader's locks (dlopen calls malloc). What has gone is seen at a tick, or
 * when another file is met in its place. `epoch` changes whenever a file may have gone: then
 * addresses that are known may be another file's, and are looked at again.
 */
#ifndef PFS_PROFILE_MODULES_H
#define PFS_PROFILE_MODULES_H

#include "containers/mutex.h"
#include "memory/box/box.h"

#define PFS_MODULES_MAX 2048u

/* A file that is there, as the loader says it; gone: begin is 0. */
struct pfs_module_known {
	const void *map;
	uintptr_t begin, end;
};

struct pfs_modules {
	struct pfs_box *box;
	struct pfs_box_region *region;
	_Atomic(uint32_t) epoch;
	struct pfs_mutex lock; /* all below. Inside pfs_gate alone, so no fork meets it */
	uint32_t count;        /* of records */
	struct pfs_module_known known[PFS_MODULES_MAX];
};

void pfs_modules_begin(struct pfs_modules *self, struct pfs_box *box);

/* pfs_modules_see - which files these addresses are of, as a hash of their numbers; those that are
 * not known are written down. What finds no room is counted as lost, at each look. */
uint32_t pfs_modules_see(struct pfs_modules *self, const uint64_t *addresses, uint32_t count);

/* pfs_modules_tick - mark what has gone. Inside the gate. */
void pfs_modules_tick(struct pfs_modules *self);

/* pfs_modules_changed - a file was closed, by whoever. Wait-free. */
void pfs_modules_changed(struct pfs_modules *self);

#endif
