/*
 * cut.h - a mapped box whose file is truncated. Its pages are gone, and the next access raises
 * SIGBUS, in the program and in readers. A handler replaces the mapping by private memory, so that
 * both go on: the program uncounted, the reader with a refusal.
 *
 * The program's own action for SIGBUS stays: what is not a box's goes to it (containers/action.h).
 */
#ifndef PFS_BOX_CUT_H
#define PFS_BOX_CUT_H

#include <stdbool.h>

#include "containers/atomic.h"
#include "layout.h"

struct pfs_cut {
	char *base;
	uint64_t bytes;
	const char *line;        /* written to stderr when it happens; NULL: none */
	_Atomic(uint32_t) state; /* enum pfs_cut_state */
	bool is_watched;
	struct pfs_box_head head; /* as it was when the watch began; the program's side only */
};
enum pfs_cut_state { PFS_CUT_NOT, PFS_CUT_BEGUN, PFS_CUT_DONE, PFS_CUT_FAILED };

/* Was the file truncated? From then on the mapping has zeroes, and limits that refuse nothing. */
static inline bool pfs_cut_is(struct pfs_cut *self)
{
	return pfs_load_relaxed(&self->state) != PFS_CUT_NOT; /* relaxed: a flag that stays */
}

/* pfs_cut_watch - watch a mapping, until pfs_cut_forget, before it is unmapped. The handler is
 * there while a mapping is watched. is_ours: the program's side, with a head to restore. If there
 * are too many mappings, this one is not watched.
 */
void pfs_cut_watch(struct pfs_cut *self, char *base, uint64_t bytes, bool is_ours);
void pfs_cut_forget(struct pfs_cut *self);

/* Was any box of this process truncated? */
bool pfs_cut_happened(void);

/* In a forked child: the program's action for SIGBUS is the child's from now on. */
void pfs_cut_child(void);

#endif
