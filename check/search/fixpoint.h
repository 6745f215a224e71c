/*
 * fixpoint.h - all states of threads that loop forever: the search continues until no new state
 * appears.
 *
 * A bound on operations is a bound on history: what needs a second life of a ring, a page or a seat
 * is not met. Here threads have no end. They choose what to do next (pfs_machine_choose), and the
 * search continues from each state once, breadth first, from one execution of the set-up. A state
 * is kept as the words that differ from there (image.h), so restoring it takes a few copies, and
 * the first failure found is one of the shortest.
 *
 * How it ends:
 *
 *	all states      no new state appeared: nothing that these threads can do breaks a check
 *	a failure       with the schedule that leads there, as in any other search
 *	cut             by seconds or memory; states, depth and the frontier are reported
 *
 * For each state a hash of 64 bits is kept: with n states the chance that two had the same one is
 * below n * n / 2^65. The number of states is finite only if the scenario tells its growing numbers
 * by their distances (struct pfs_normal of image.h). If it omits one, the search does not end, and
 * says so.
 *
 * Reduction: a calm step (calm.h) is made at once, and if a thread chooses nothing else is tried.
 * Neither may delay other threads forever. After CALM_MAX calm steps in a row all are tried; and
 * if all that a choice leads to was known before, the others are tried too, so every cycle of
 * states has one where all were tried (D. Bosnacki and G. Holzmann, Improving Spin's partial-order
 * reduction for breadth-first search, SPIN 2005).
 *
 * With a bound on preemptions: at most that many between two moments of rest, at which every thread
 * is between two calls, that is at a choice. A preemption is to continue with another thread while
 * the one that ran last is in a call, could go on and has not yielded; calm steps, choices and
 * drains are not preemptions. So histories are unbounded, and only the preemptions between two
 * moments of rest are bounded (K. Qadeer and J. Rehof, Context-bounded model checking, TACAS 2005,
 * where the bound is on the whole history).
 *
 * A yield is a step like any other, and always possible: a spinning thread returns to a known
 * state. If no thread can go on, it is a deadlock.
 *
 * How to add a configuration: in sim/cases/ a struct pfs_case_kind with PFS_CASE_LOOPS in
 * case_loops.c, whose bodies loop forever; elsewhere (memory/search/) a struct pfs_scenario with
 *	is_endless    true; its setup sets machine->setup.free_yields, and memory.reuses if pages
 *	              come and go
 *	bodies        that loop forever, and call pfs_machine_choose for what comes next. What a
 *	              body remembers is on its stack, or in what `keep` puts. If checks must see
 *	              its choice it makes a step first: pfs_machine_note.
 *	keep          puts what checks and bodies remember: the same places each time
 *	normal        if something only grows: what is left out, and what is told by a distance
 */
#ifndef PFS_SIM_FIXPOINT_H
#define PFS_SIM_FIXPOINT_H

#include "check/search/calm.h"
#include "check/search/fixpoint_store.h"
#include "check/search/image.h"

struct pfs_search_options;
struct pfs_search_result;

/* The preemptions since the last rest; part of a state if preemptions are bounded. */
struct pfs_fixpoint_turn {
	uint64_t inside;  /* threads in a call */
	uint32_t running; /* the thread that ran last; PFS_THREAD_NONE: it yielded, or none yet */
	uint32_t used;    /* preemptions */
};

struct pfs_fixpoint {
	struct pfs_scheduler scheduler;
	const struct pfs_scenario *scenario;
	const struct pfs_search_options *options;
	struct pfs_image image;
	struct pfs_fixpoint_store store;
	struct pfs_calm calm;
	double deadline;
	uint64_t random;
	bool learns;      /* random steps, from which to guess what is shared; not judged */
	uint32_t lessons; /* how many so far */
	bool begun;       /* the image is taken */
	/* The state from which the search continues. */
	const char *state; /* encoded; NULL: none yet */
	uint32_t node;
	uint64_t enabled;                          /* actors that could go on */
	uint64_t open;                             /* of these: still to be tried */
	bool partly;                               /* others were not tried yet: it chooses */
	bool some_new;                             /* it led to a new state */
	uint32_t calm_steps;                       /* in a row */
	struct pfs_fixpoint_turn turn, turn_there; /* at present; and at the state from which the
						    * search continues */
	bool is_calm;                              /* the current step */
	bool unmapped;  /* by the last step: a state that others must see */
	uint64_t known; /* steps that led to a known state */
	uint64_t steps;
	bool left_out; /* steps, by the bound on preemptions */
	bool is_over;  /* no state is left */
	bool stopped;  /* by a bound */
	const char *refusal;
};

bool pfs_fixpoint_begin(struct pfs_fixpoint *self, struct pfs_machine *machine,
			const struct pfs_scenario *scenario,
			const struct pfs_search_options *options);
void pfs_fixpoint_end(struct pfs_fixpoint *self, struct pfs_machine *machine);

/* Before each execution. */
void pfs_fixpoint_execution(struct pfs_machine *machine);

/* After an execution. true: once more, from the set-up, because a guess was wrong. */
bool pfs_fixpoint_next(struct pfs_fixpoint *self);

/* Report what was searched. */
void pfs_fixpoint_tell(const struct pfs_fixpoint *self, struct pfs_search_result *result);

/* After an execution that failed: all steps of the path there become the machine's schedule. false:
 * no memory. */
bool pfs_fixpoint_path(const struct pfs_fixpoint *self, struct pfs_machine *machine);

#endif
