/*
 * view.h - the heap profile of a box by the program's own lines: what top, report, the page and the
 * table memory_lines show.
 */
#ifndef PFS_MEM_VIEW_H
#define PFS_MEM_VIEW_H

#include "holders.h"
#include "symbols.h"

struct pfs_reader;

struct pfs_view {
	struct pfs_heap *heap; /* NULL: the box has no profile */
	struct pfs_rules *rules;
	struct pfs_holders holders;
	uint32_t late; /* addresses that were not looked up, because a bound was reached */
};

/*
 * pfs_view_take - read the profile, look its names up, and add its stacks up by line, with the
 * rules that are shipped for the program.
 *
 * bounds: of looking up names; NULL: none.
 * Returns   true, also for a box without a profile; false: failed, see message. In any case the
 *           caller drops self.
 */
bool pfs_view_take(struct pfs_view *self, struct pfs_reader *reader, bool at_peak,
		   const struct pfs_symbols_bounds *bounds, struct pfs_message *message);
void pfs_view_drop(struct pfs_view *self);

#endif
