/*
 * holders.h - who holds most of a profile: its stacks, added up by the program's own frame, or by
 * the name that rules give.
 */
#ifndef PFS_MEM_HOLDERS_H
#define PFS_MEM_HOLDERS_H

#include "owner.h"

struct pfs_holder {
	struct pfs_frame_of frame, caller; /* of the stack with the most; location: PFS_HEAP_NONE */
	const char *name;                  /* the rules'; NULL: none */
	struct pfs_heap_values now, base;
	uint32_t stack;
	uint32_t found; /* its number as it was found */
	double stack_bytes, weight;
};

struct pfs_holders {
	struct pfs_holder *holders; /* the largest first; in a comparison, what changed most */
	uint32_t count;
	uint32_t *of_stack; /* by the heap's stacks: a holder, or more than count: of none */
	double bytes;       /* of all */
};

struct pfs_holders_options {
	bool of_total;  /* of all since the start */
	bool by_name;   /* by rules' names; stacks without one by their frame */
	bool by_growth; /* of a comparison: what grew most first, and also what did not change */
};

/* pfs_holders_make - rules may be NULL. False: no memory. */
bool pfs_holders_make(struct pfs_holders *self, const struct pfs_heap *heap,
		      const struct pfs_rules *rules, const struct pfs_holders_options *options);
void pfs_holders_drop(struct pfs_holders *self);

/* "Desk::open sessions.cc:43 from Server::answer sessions.cc:88", with the rules' name in front.
 * Returns text. */
const char *pfs_holder_text(const struct pfs_heap *heap, const struct pfs_holder *holder,
			    char *text, size_t text_bytes);
/* One standard deviation of live_bytes: "\u00b1 4.6 %"; "": it is not known. */
const char *pfs_error_text(const struct pfs_heap *heap, const struct pfs_heap_values *values,
			   char text[32]);
/* The age of a moment: "12 s", "3.5 min"; "": not known. */
const char *pfs_age_text(const struct pfs_heap *heap, uint64_t since_ns, char text[32]);

#endif
