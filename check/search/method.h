/*
 * method.h - what a search consists of; searches.h has a line for each.
 */
#ifndef PFS_SEARCH_METHOD_H
#define PFS_SEARCH_METHOD_H

#include "check/search/search.h"

struct pfs_search_method;

/* A search, or a part of one, in progress. */
struct pfs_searching {
	struct pfs_machine *machine;
	const struct pfs_scenario *scenario;
	const struct pfs_search_options *options;
	const struct pfs_search_method *method;
	struct pfs_search_result *result;
	const struct pfs_part *part;
	struct pfs_parts *rest; /* or NULL */
	uint32_t longest;       /* steps of the longest execution so far */
	void *own;              /* the method's, zeroed at first */
};

struct pfs_search_method {
	const char *name;   /* as --search has it */
	size_t bytes;       /* of own */
	bool is_random;     /* parts are numbers of executions; nothing is ever complete */
	bool takes_endless; /* threads that loop forever */

	/* False, or result->refusal is set: there is nothing to execute. */
	bool (*begin)(struct pfs_searching *self);
	/* Of execution number n. */
	struct pfs_scheduler *(*scheduler)(struct pfs_searching *self, uint64_t n);
	/* NULL: pfs_scenario_run. */
	enum pfs_machine_end (*run)(struct pfs_searching *self, struct pfs_scheduler *scheduler);
	/* Does a failure count? NULL: each does. */
	bool (*has_failed)(struct pfs_searching *self);
	/* After an execution, or before the first of a part that waits: is there another schedule?
	 * If not, result says how complete the search was. */
	bool (*next)(struct pfs_searching *self);
	/* Splits the rest of the part into parts. False: it cannot be split. NULL: never. */
	bool (*split)(struct pfs_searching *self);
	void (*end)(struct pfs_searching *self); /* may be NULL */
};

/* By enum pfs_search_kind; PFS_SEARCH_ALL has none, for it is two of the others. */
extern const struct pfs_search_method *const pfs_search_methods[PFS_SEARCH_KINDS];

PFS_SEARCH_LIST(PFS_SEARCH_EXTERN, PFS_SEARCH_EXTERN)

/* Ends an execution whose threads have run. */
enum pfs_machine_end pfs_scenario_end(const struct pfs_scenario *scenario,
				      struct pfs_machine *machine);

#endif
