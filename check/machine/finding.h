/*
 * finding.h - what failed in an execution: its kind, the source places that it names, and its text.
 *
 * The text is for people, and is made of the other fields: nothing reads it back. Two failures are
 * the same if their kinds and texts are (pfs_search_is_same); so the text of a failure depends on
 * the schedule alone.
 */
#ifndef PFS_SIM_FINDING_H
#define PFS_SIM_FINDING_H

#include <stdint.h>
#include <stdio.h>

#include "check/machine/operation.h"

/* NAME, words. The last: the program cannot be checked, which says nothing about it. */
/* clang-format off */
#define PFS_FINDINGS(_)                         \
	_(FAILURE, "failure")                   \
	_(DATA_RACE, "data race")               \
	_(ASSERTION, "assertion")               \
	_(DEADLOCK, "deadlock")                 \
	_(LIVELOCK, "livelock")                 \
	_(ENDLESS, "endless loop")              \
	_(BAD_ACCESS, "bad access")             \
	_(USE_AFTER_FREE, "use after free")     \
	_(DOUBLE_FREE, "double free")           \
	_(BAD_FREE, "bad free")                 \
	_(OUT_OF_BOUNDS, "out of bounds")       \
	_(STACK, "use after return")            \
	_(UNINITIALIZED, "uninitialized read")  \
	_(LEAK, "leak")                         \
	_(MISUSE, "misuse")                     \
	_(NOT_LINEARIZABLE, "not linearizable") \
	_(EXIT, "exit")                         \
	_(UNCHECKED, "not checked")
/* clang-format on */
enum pfs_finding_kind {
#define PFS_FINDING_NAME(name, words) PFS_FOUND_##name,
	PFS_FINDINGS(PFS_FINDING_NAME)
#undef PFS_FINDING_NAME
};

/* A side of it: what was done, where. */
struct pfs_finding_side {
	uint32_t thread;             /* or PFS_THREAD_NONE */
	const char *does;            /* a word or two; NULL: unknown */
	const char *function, *file; /* NULL: unknown; in full */
	int line;
};

#define PFS_FINDING_SIDES_MAX 16u
#define PFS_FAILURE_BYTES 1024

struct pfs_finding {
	enum pfs_finding_kind kind;
	uint32_t side_count;
	struct pfs_finding_side sides[PFS_FINDING_SIDES_MAX];
};

const char *pfs_finding_words(enum pfs_finding_kind kind);

/* In a format of pfs_machine_find: the place of its first, second or third side, as "function
 * (file:line)". */
#define PFS_SIDE_1 "\1"
#define PFS_SIDE_2 "\2"
#define PFS_SIDE_3 "\3"

struct pfs_finding_side pfs_side(uint32_t thread, const char *does,
				 const struct pfs_sim_place *place);
/* Of the running thread. */
struct pfs_finding_side pfs_side_here(const char *does, const struct pfs_sim_place *place);

/* The last operation of a thread, after which it failed. Returns 0 if it had none, else 1. */
struct pfs_vthread;
uint32_t pfs_side_after(const struct pfs_vthread *thread, struct pfs_finding_side *side);

/*
 * pfs_machine_find - end the execution here, as pfs_machine_fail does, with up to
 * PFS_FINDING_SIDES_MAX sides, in the order in which the text names them.
 */
__attribute__((format(printf, 4, 5))) void pfs_machine_find(enum pfs_finding_kind kind,
							    const struct pfs_finding_side *sides,
							    uint32_t count, const char *format,
							    ...);
#define PFS_SIDES(...)                                                                \
	(const struct pfs_finding_side[]){ __VA_ARGS__ },                             \
		(uint32_t)(sizeof((const struct pfs_finding_side[]){ __VA_ARGS__ }) / \
			   sizeof(struct pfs_finding_side))
#define PFS_NO_SIDES NULL, 0

/* The end of an execution in which threads are left: who waits for what, and who would have to end
 * the wait. */
struct pfs_machine;
void pfs_finding_waits(struct pfs_machine *machine);

/* Long names of functions are shortened in texts, each to another. Visit those of the sides. */
void pfs_finding_short_names(const struct pfs_finding *self,
			     void (*visit)(void *context, const char *name, const char *whole),
			     void *context);

/* A name in at most PFS_SHORT_CHARS and two more: in full, or without what is in brackets, or
 * without its middle. Others may become the same. text has PFS_SHORT_BYTES. */
#define PFS_SHORT_CHARS 60u
#define PFS_SHORT_BYTES 120u
void pfs_finding_shorten(const char *name, char *text);

#endif
