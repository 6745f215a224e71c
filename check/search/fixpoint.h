/*
 * fixpoint.h - all states of threads that loop for ever: the search goes on until no new one comes.
 *
 * A bound on operations is a bound on history: what needs a second life of a ring, a page or a seat
 * is not met. Here threads have no end. They choose what to do next (pfs_machine_choose), and the
 * search goes on from each state once, breadth first, from one execution of the set-up: a state is
 * kept as the words that differ from there (image.h), so it is put back by a few copies, and the
 * first failure that is met is one of the shortest.
 *
 * How it ends:
 *
 *	all states      no new state came: nothing that these threads can ever do breaks a check
 *	a failure       with the schedule that leads there, as of any other search
 *	cut             by seconds, or memory; states, depth and the frontier are told
 *
 * Of each state a hash of 64 bits is kept: with n states the chance that two had the same one is
 * below n * n / 2^65. That states are finitely many takes a scenario whose numbers that only grow
 * are told by their distances (struct pfs_normal of image.h); if it forgets one the search does not
 * end, and says so.
 *
 * Reduction: a step that is calm (calm.h) is made at once, and where a thread chooses nothing else
 * is tried. Neither may put others off for ever: after CALM_MAX calm steps in a row all are tried;
 * and where all that a choice leads to had been met before, the others are tried as well, so every
 * circle of states has one where all were tried (D. Bosnacki and G. Holzmann, Improving Spin's
 * partial-order reduction for breadth-first search, SPIN 2005).
 *
 * With a bound on preemptions: so many between two moments of rest, at which every thread is
 * between two calls, that is at a choice. It is one to go on with another thread while the one that
 * ran last is in a call, could go on and has not yielded; calm steps, choices and stores that drain
 * are none. So histories have no end, and what a failure needs at a time has a bound (K. Qadeer and
 * J. Rehof, Context-bounded model checking, TACAS 2005, where the bound is on the whole history).
 *
 * A yield is a step as any other, and always possible: who spins comes back to a state that was
 * met. Where nobody can go on, it is a deadlock.
 *
 * How to add a configuration: in sim/cases/ a struct pfs_case_kind with PFS_CASE_LOOPS in
 * case_loops.c, whose bodies loop for ever; elsewhere (memory/search/) a struct pfs_scenario with
 *	is_endless    true; its setup sets machine->setup.free_yields, and memory.reuses if pages
 *	              come and go
 *	bodies        that loop for ever, and call pfs_machine_choose for what comes next. What a
 *	              body remembers is on its stack, or in what `keep` puts. Where its choice is to
 *	              be seen by checks it makes a step first: pfs_machine_note.
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

/* Who has been preempted since the last rest; part of a state where preemptions are bounded. */
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
	bool learns;      /* steps at random, to guess by who shares what; not judged */
	uint32_t lessons; /* so many, so far */
	bool begun;       /* the image is taken */
	/* The state that is gone on from. */
	const char *state; /* encoded; NULL: none yet */
	uint32_t node;
	uint64_t enabled;                          /* who could go on */
	uint64_t open;                             /* of them: still to be tried */
	bool partly;                               /* others were not tried yet: it chooses */
	bool some_new;                             /* a state that had not been met came of it */
	uint32_t calm_steps;                       /* in a row */
	struct pfs_fixpoint_turn turn, turn_there; /* now; at the state that is gone on from */
	bool is_calm;                              /* the step that is made */
	bool unmapped;  /* by the last step: a state that others are to see */
	uint64_t known; /* steps that led to a state that had been met */
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

/* After an execution. true: once more, from the set-up; what was guessed was wrong. */
bool pfs_fixpoint_next(struct pfs_fixpoint *self);

/* What was searched. */
void pfs_fixpoint_tell(const struct pfs_fixpoint *self, struct pfs_search_result *result);

/* After an execution that failed: all steps of the way there become the machine's schedule. false:
 * no memory. */
bool pfs_fixpoint_path(const struct pfs_fixpoint *self, struct pfs_machine *machine);

#endif
