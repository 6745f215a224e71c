/*
 * searches.h - all searches: a line each, from which all other code takes their names.
 */
#ifndef PFS_SEARCH_SEARCHES_H
#define PFS_SEARCH_SEARCHES_H

/* PFS_SEARCH_KIND; NAME, as in pfs_method_NAME of a file method_*.c; what --help says of it.
 * Those BY_STATES are not for user programs: states do not include what libraries hold outside
 * memory and stacks. */
/* clang-format off */
#define PFS_SEARCH_LIST(SEARCH, BY_STATES) \
	SEARCH(DPOR, dpor, "source sets") \
	SEARCH(OPTIMAL, optimal, "source sets with wakeup trees, for sc") \
	SEARCH(SLEEP, sleep, "sleep sets") \
	BY_STATES(STATES, states, "from each state once") \
	BY_STATES(FIXPOINT, fixpoint, "the same, threads without end") \
	SEARCH(BOUNDED, bounded, "up to --preemptions") \
	SEARCH(NAIVE, naive, "every schedule") \
	SEARCH(RANDOM, random, "each step at random") \
	SEARCH(PCT, pct, "random priorities") \
	SEARCH(POS, pos, "partial order sampling") \
	SEARCH(URW, urw, "random by steps left") \
	SEARCH(SLOW, slow, "random, thread 0 slower than the others") \
	SEARCH(ROTATE, rotate, "random, sticky random, slow, pct, pos and urw in turn") \
	/* end of the list */
/* clang-format on */

#define PFS_SEARCH_NOTHING(KIND, name, what)
#define PFS_SEARCH_EXTERN(KIND, name, what) extern const struct pfs_search_method pfs_method_##name;
#define PFS_SEARCH_KIND(KIND, name, what) PFS_SEARCH_##KIND,

/* For --help: "exhaustive (...); dpor (...); "; and for errors: " exhaustive dpor ...". */
#define PFS_SEARCH_HELP(KIND, name, what) #name " (" what "); "
#define PFS_SEARCH_WORD(KIND, name, what) " " #name
#define PFS_SEARCH_HELP_OF(BY_STATES) \
	"exhaustive (the better of dpor and sleep); " PFS_SEARCH_LIST(PFS_SEARCH_HELP, BY_STATES)
#define PFS_SEARCH_NAMES_OF(BY_STATES) " exhaustive" PFS_SEARCH_LIST(PFS_SEARCH_WORD, BY_STATES)

#endif
