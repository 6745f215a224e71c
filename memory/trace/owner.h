/*
 * owner.h - the inside of a memory trace: what the process keeps of an owner beside its record.
 */
#ifndef PFS_OWNER_H
#define PFS_OWNER_H

#include <pfslab/memory_trace.h>

#include "memory/box/layout.h"

_Static_assert(PFS_OWNER_BYTES_MOST == PFS_BOX_OWNER_MOST, "as readers know it");

/* Written when it is registered, but for the call. */
struct pfs_owner {
	struct pfs_box_owner *record;
	_Atomic(uint64_t) *outside; /* its limit in the control area, plus 1; 0: none */
	struct pfs_owner *parent;
	uint32_t depth; /* 1: at the top */
	uint32_t reference;
	struct pfs_books *books;
	struct pfs_owner *next; /* of all of the books */
	pfs_owner_caller call;  /* before the first add */
	void *context;
};

/* The books are closed: what the process keeps of owners goes. */
void pfs_owners_forget(struct pfs_books *self);

#endif
