/*
 * search.h - look for a schedule under which a scenario fails; shorten it; show it.
 */
#ifndef PFS_SIM_SEARCH_H
#define PFS_SIM_SEARCH_H

#include <stdio.h>

#include "check/machine/machine.h"
#include "check/search/part.h"
#include "check/search/searches.h"
#include "check/machine/schedule.h"
#include "check/machine/snapshot.h"
#include "check/machine/trace.h"

/*
 * What a search executes repeatedly. setup makes the containers and spawns the threads;
 * finish checks the final state and destroys them, and is called only after an execution that
 * ended PFS_END_DONE. Both, and the threads' bodies, report failures by pfs_machine_fail.
 */
struct pfs_scenario {
	const char *name;
	void (*setup)(struct pfs_machine *machine, void *context);
	void (*finish)(struct pfs_machine *machine, void *context);
	pfs_name_address *name_address; /* optional, for traces */
	/* Optional: what a thread waits for, for messages of deadlocks; see struct pfs_hooks. */
	bool (*awaits)(void *context, uint32_t thread, struct pfs_awaited *awaited);
	void *context;
	/* Optional; called after the run, outside all fibers: may judge how the run ended, free
	 * threads and run again. The end is what it leaves in machine->run.end. */
	void (*settle)(struct pfs_machine *machine, void *context);
	/*
	 * A search by states needs these, and calls them between two steps. known: a hash of what
	 * the checks remember of the execution so far, if it can affect later checks. leave: called
	 * at a state met before; checks what `known` leaves out. keep: puts what the checks
	 * remember into the snapshot.
	 */
	uint64_t (*known)(struct pfs_machine *machine, void *context);
	void (*leave)(struct pfs_machine *machine, void *context);
	void (*keep)(struct pfs_machine_snapshot *snapshot, void *context);
	/* For a search to a fixpoint, which needs a keep that puts the same places each time: how
	 * to compare the words of a state (image.h); NULL: as they are. */
	const struct pfs_normal *normal;
	bool is_endless; /* its threads loop forever: only for a search to a fixpoint */
	/* Optional: called in a forked process, which continues the search; see jobs.h. */
	void (*forked)(void *context);
	/* Optional; with it a search goes back by snapshots (rewind.h). Called between two steps:
	 * puts into the snapshot all that an execution, finish included, changes outside the
	 * machine and its heap. */
	void (*keep_whole)(struct pfs_machine_snapshot *snapshot, void *context);
};

enum pfs_search_kind {
	PFS_SEARCH_ALL, /* exhaustive: DPOR, or SLEEP where DPOR cannot be used */
	PFS_SEARCH_LIST(PFS_SEARCH_KIND, PFS_SEARCH_KIND) PFS_SEARCH_KINDS
};

#define PFS_PREEMPTIONS_ANY UINT32_MAX

struct pfs_search_options {
	enum pfs_search_kind kind;
	uint64_t seed;
	uint64_t execution_max;   /* 0: no bound */
	double seconds_max;       /* 0: no bound */
	uint32_t preemption_max;  /* PFS_SEARCH_BOUNDED, PFS_SEARCH_FIXPOINT */
	bool append_only;         /* exhaustive, views: see explore.h */
	uint32_t part_executions; /* jobs.h: of the first part, before it is split; 0: 500 */
	uint64_t memory_max;      /* bytes that PFS_SEARCH_FIXPOINT may keep; 0: no bound */
};

#define PFS_SEARCH_SEGMENTS_MAX 4096u

struct pfs_search_result {
	uint64_t executions;
	uint64_t redundant;  /* of these, those that repeated a class */
	uint64_t incomplete; /* of these, those given up at the bound on steps: unknown */
	uint64_t pruned;     /* of these, those that ended PFS_END_PRUNED */
	uint64_t steps;
	uint64_t states;   /* PFS_SEARCH_STATES, PFS_SEARCH_FIXPOINT */
	uint64_t frontier; /* PFS_SEARCH_FIXPOINT: states not explored, if it was cut */
	uint64_t memory_bytes; /* PFS_SEARCH_FIXPOINT: the maximum */
	uint32_t depth;        /* PFS_SEARCH_FIXPOINT: choices on the way to the last state */
	bool complete;         /* nothing is left out but what `bounded` says */
	uint32_t left_out;     /* bits of enum pfs_search_left */
	bool stopped;          /* by a bound of the options on executions or seconds */
	bool bounded;          /* preemption_max or append_only left schedules out */
	const char *refusal;   /* not NULL: what this search does not support; nothing is known */
	bool failed;
	enum pfs_machine_end end;
	char message[PFS_FAILURE_BYTES];
	struct pfs_segment segments[PFS_SEARCH_SEGMENTS_MAX]; /* of the failing schedule */
	uint32_t segment_count;
};

/* One execution. Returns how it ended, finish included. */
enum pfs_machine_end pfs_scenario_run(const struct pfs_scenario *scenario,
				      struct pfs_machine *machine, struct pfs_scheduler *scheduler);

/* The enum pfs_search_kind of a name listed by pfs-sim --help, or -1. */
int pfs_search_kind_of(const char *name);

/* true: it chooses at random, so it is never complete. */
bool pfs_search_is_random(enum pfs_search_kind kind);

/* true: it goes on from each state once, in one process. */
bool pfs_search_is_by_states(enum pfs_search_kind kind);

/*
 * pfs_search - execute the scenario under many schedules, up to the first that fails.
 *
 * Returns   true if none failed; *result says what was done, and if complete is false, that
 *           more schedules exist.
 * Errors    none besides.
 * Progress  blocking: until a bound of the options, or forever.
 * Order     none.
 */
bool pfs_search(struct pfs_machine *machine, const struct pfs_scenario *scenario,
		const struct pfs_search_options *options, struct pfs_search_result *result);

/*
 * pfs_search_part - like pfs_search, for one part of a search, not of PFS_SEARCH_ALL; see part.h.
 *
 * Returns   true if none failed. *rest: what is left of the part, if it was too large; complete
 *           then says that nothing was cut so far.
 * Errors    none besides.
 * Progress  blocking: until a bound of the options or of the part, or forever.
 * Order     none.
 */
bool pfs_search_part(struct pfs_machine *machine, const struct pfs_scenario *scenario,
		     const struct pfs_search_options *options, const struct pfs_part *part,
		     struct pfs_search_result *result, struct pfs_parts *rest);

/* How much was searched, in a few words; valid until the next call. */
const char *pfs_search_extent(const struct pfs_search_options *options,
			      const struct pfs_search_result *result);

/* What bit number n of left_out means, in a few words. */
const char *pfs_search_left_words(uint32_t n);

/* true: it is the same failure: the same end, and a message that differs in numbers only. */
bool pfs_search_is_same(const struct pfs_search_result *failure, enum pfs_machine_end end,
			const char *message);

/* Shorten the schedule: fewer switches, then fewer steps, same failure. Returns the
 * number of replays. */
uint32_t pfs_search_shrink(struct pfs_machine *machine, const struct pfs_scenario *scenario,
			   struct pfs_search_result *result);

/* Replay the failing schedule with tracing, and print it with its one-line token. */
void pfs_search_show(struct pfs_machine *machine, const struct pfs_scenario *scenario,
		     const struct pfs_search_result *result, FILE *out);

/* Parse the token "0x12 1x3 0x4" (actor x steps); returns false if text is not one. */
bool pfs_segments_parse(const char *text, struct pfs_segment *segments, uint32_t *count);

#endif
