/*
 * owner.h - the inside of a memory trace: the process's private part of an owner.
 */
#ifndef PFS_OWNER_H
#define PFS_OWNER_H

#include <pfslab/memory_trace.h>

#include "memory/box/layout.h"

_Static_assert(PFS_OWNER_BYTES_MOST == PFS_BOX_OWNER_MOST, "as readers know it");

/* Written at registration, except the call. */
struct pfs_owner {
	struct pfs_box_owner *record;
	_Atomic(uint64_t) *outside; /* its limit in the control area plus 1; 0: none */
	struct pfs_owner *parent;
	uint32_t depth; /* 1: at the top */
	uint32_t reference;
	struct pfs_books *books;
	struct pfs_owner *next; /* in the list of all owners of the books */
	pfs_owner_caller call;  /* set before the first add */
	void *context;
};

/* Frees the private parts of all owners, when the books are closed. */
void pfs_owners_forget(struct pfs_books *self);

#endif
