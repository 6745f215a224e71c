/*
 * machine.h - a deterministic machine: virtual threads on one OS thread, one shared operation at a
 * time, in an order that a scheduler chooses.
 *
 * Every operation of containers/atomic.h and mutex.h is a scheduling point *before* it is executed:
 * the thread shows its next operation (pending), and the scheduler chooses which thread continues.
 * What a thread does between two operations belongs to the first. The same bodies and choices give
 * the same execution, byte for byte.
 *
 * An actor makes a step: a thread with one of its choices, or its store buffer (actor.h).
 *
 * Invariant: exactly one of the fibers and the caller of pfs_machine_run runs. A machine belongs to
 * one OS thread; several machines may run on several OS threads.
 */
#ifndef PFS_SIM_MACHINE_H
#define PFS_SIM_MACHINE_H

#include "check/machine/actor.h"
#include "check/machine/fences.h"
#include "check/machine/fiber.h"
#include "check/machine/finding.h"
#include "check/machine/memory.h"
#include "check/machine/models.h"
#include "check/machine/news.h"
#include "check/machine/operation.h"
#include "check/machine/plain.h"
#include "check/machine/races.h"
#include "check/machine/recording.h"
#include "check/machine/views.h"
#include "check/machine/weaken.h"

#define PFS_STEP_NONE UINT32_MAX
#define PFS_MACHINE_THREADS_MAX 1024u

enum pfs_machine_end {
	PFS_END_DONE,     /* every thread that was not stopped has finished */
	PFS_END_FAILED,   /* a check failed, or an access was wrong: see message */
	PFS_END_DEADLOCK, /* threads are left, but none can go on, or all yield forever (news.h) */
	PFS_END_STEPS,    /* the bound on steps was reached: nothing is known beyond it */
	PFS_END_PRUNED,   /* it does not count: an assumption of the program does not hold */
	PFS_END_KNOWN     /* the scheduler knows the rest: see pfs_run_state.is_known */
};

/* An operation that was executed. */
struct pfs_step {
	struct pfs_sim_operation operation;
	uint64_t seen;
	uint64_t written; /* if wrote */
	uint32_t thread;
	uint32_t source; /* the step that wrote what was seen; kept while tracing */
	uint32_t older;  /* how many values are newer than the one that was read */
	bool wrote;
};

struct pfs_buffered {
	void *address;
	uint64_t value;
	uint32_t size_bytes;
	uint32_t step;
	const struct pfs_sim_place *place;
	const uint32_t *clock;
};
#define PFS_BUFFER_MAX 32u /* a thread with a full buffer waits for its drain */

enum pfs_vthread_state { PFS_VTHREAD_READY, PFS_VTHREAD_FINISHED };

struct pfs_vthread {
	struct pfs_fiber fiber;
	struct pfs_machine *machine;
	void (*body)(void *argument);
	void *argument;
	struct pfs_sim_operation pending;
	enum pfs_vthread_state state;
	uint32_t id;
	uint32_t node;
	uint32_t steps;         /* executed by this thread */
	uint32_t stop_after;    /* stops after this many steps; UINT32_MAX: never */
	struct pfs_looks looks; /* of its last yield, or of its pending one */
	uint32_t buffer_first, buffer_count;
	struct pfs_buffered *buffer; /* [PFS_BUFFER_MAX]; model_tso.c */
};

struct pfs_machine;

/*
 * Chooses the next actor (actors.h). choose must return an actor for which pfs_machine_can_run is
 * true, or PFS_NOBODY if there is none (pfs_machine_any tells). ran is optional, and called after
 * each step.
 */
struct pfs_scheduler {
	struct pfs_actor (*choose)(struct pfs_scheduler *self, struct pfs_machine *machine);
	void (*ran)(struct pfs_scheduler *self, struct pfs_machine *machine,
		    const struct pfs_step *step);
};

/* What the caller sets before a run; no run changes it. */
struct pfs_machine_setup {
	uint32_t step_max;
	uint32_t node_count; /* 0: as many as the threads' nodes need */
	uint32_t repeats_max; /* of reads of one old value, see views.h; at most UINT32_MAX - 1 */
	bool tracing;
	bool watch;           /* report data races; true after create */
	bool only_writes;     /* plain reads are not reported */
	bool drains_end;      /* tso: a call may end when a buffer drains; true after create */
	bool has_fences;      /* threads may call pfs_machine_fence; false after create */
	bool chooses_outside; /* choose while no thread runs, so that all stacks are complete */
	bool hasty;           /* memory that a final check gives back is not hidden: memory.h */
	bool clears_stacks;   /* after each step, so that dead bytes do not make two states of
			       * one */
	bool free_yields;     /* a yield is a step like others, and does not wait for news */
	bool loops_end;       /* PFS_YIELD_LOOP never goes on: see news.h */
	/* Plain accesses to these bytes are not compared: the oracle is shared by all threads on
	 * purpose. */
	const void *oracle;
	size_t oracle_bytes;
};

/* What a thread waits for. */
struct pfs_awaited {
	char object[256]; /* its name, or "" */
	uint32_t holder;  /* the thread that holds it, or PFS_THREAD_NONE */
};

/* Functions that the machine calls, if they are set; set before a run. */
struct pfs_hooks {
	/* Between two steps, when all threads are at a scheduling point. */
	void (*check)(void *context);
	void *check_context;
	/* Before each plain access of a thread; see plain.h. It may fail the execution, and it may
	 * count. */
	void (*plain)(struct pfs_machine *machine, const struct pfs_plain *access);
	void *plain_context;
	/* A bad access: true if it can be repeated. */
	bool (*fault)(const void *address);
	/* For traces, which are printed when the containers may be gone. */
	bool (*name_address)(void *context, const void *address, char *name, size_t name_bytes);
	/* What a thread that waits forever waits for; false: its wait is no failure. Optional. */
	bool (*awaits)(void *context, uint32_t thread, struct pfs_awaited *awaited);
	void *name_context; /* of both */
};

/* Takes over all operations of threads: virtual time; timed.h sets it. */
struct pfs_engine {
	/* NULL: a scheduler chooses the next actor. */
	uint64_t (*execute)(struct pfs_machine *machine, const struct pfs_sim_operation *operation);
	void *context;
	/* Called in place of execute, which it calls; see hot_lines.h. Optional. */
	uint64_t (*around)(struct pfs_machine *machine, const struct pfs_sim_operation *operation);
};

/* A call between runs, on a stack of its own: pfs_machine_aside. */
struct pfs_aside {
	struct pfs_fiber fiber;
	void (*call)(void *argument);
	void *argument;
	uint32_t node; /* its NUMA node: the caller's choice */
	bool is_on;
};

/* The state of the runs since the last reset. The machine writes it; but an engine also writes
 * `running`, a model `cut`, a scheduler is_known, and a judge of the execution, between runs, its
 * end. */
struct pfs_run_state {
	struct pfs_scheduler *scheduler;
	struct pfs_fiber caller; /* of pfs_machine_run and pfs_machine_aside */
	struct pfs_vthread *running;
	uint32_t choice;             /* of the next step */
	struct pfs_actor last_actor; /* of the last step, without its choice */
	bool yielded;                /* the last step was a yield */
	bool priming;                /* threads run to their first operation */
	bool watching;               /* races, in this run: not with very many threads */
	bool cut;                    /* by the model, in this run: not all choices are offered */
	bool is_known;               /* set by the scheduler: this execution need not go on */
	enum pfs_machine_end end;
	struct pfs_finding finding;      /* of PFS_END_FAILED and PFS_END_DEADLOCK */
	char message[PFS_FAILURE_BYTES]; /* its text */
	uint32_t primed_count;           /* threads that have reached an operation, or have
					  * finished */
	uint32_t step_count, step_room;
	uint16_t *schedule;                      /* number of the actor of each step */
	uint64_t maps_at_start, mapped_at_start; /* of memory, when the run began */
};

struct pfs_machine {
	const struct pfs_memory_model *model; /* model.h */
	struct pfs_machine_setup setup;
	struct pfs_hooks hooks;
	struct pfs_engine engine;
	struct pfs_weaken weaken;

	struct pfs_vthread **threads; /* [thread_room]; fibers are used again */
	uint32_t thread_count, thread_room;
	uint32_t made_count; /* threads that have a fiber */

	struct pfs_run_state run;
	struct pfs_aside aside;
	struct pfs_sim_memory memory;
	struct pfs_news news; /* for threads that yield */
	struct pfs_clocks clocks;
	struct pfs_races races;
	struct pfs_views views;
	struct pfs_fences fences;
	struct pfs_recording trace; /* while tracing */
};

/*
 * pfs_machine_create - a machine without threads.
 *
 * Returns   the machine, or NULL: no memory. step_max 1 million, no tracing, no check; its setup,
 *           hooks, engine and weaken may be set before a run.
 * Errors    none besides.
 * Progress  blocking (set-up).
 * Order     none.
 */
struct pfs_machine *pfs_machine_create(const struct pfs_memory_model *model);
void pfs_machine_destroy(struct pfs_machine *self);

/*
 * pfs_machine_reset - forget threads, steps, and the memory of containers.
 *
 * Returns   nothing. Containers of an execution that did not end PFS_END_DONE are lost: their pages
 *           are taken back, their malloc memory is not.
 * Errors    none.
 * Progress  blocking.
 * Order     none.
 */
void pfs_machine_reset(struct pfs_machine *self);

/* pfs_machine_spawn - add a thread, on a node; returns its id, or PFS_THREAD_NONE: no memory or too
 * many. It begins in the next pfs_machine_run. */
uint32_t pfs_machine_spawn(struct pfs_machine *self, uint32_t node, void (*body)(void *argument),
			   void *argument);

/*
 * pfs_machine_run - run the threads until none can go on.
 *
 * Returns   how it ended; also in self->run.end. May be called again: with more threads, or with
 *           stopped ones set free by pfs_machine_stop_after(UINT32_MAX).
 * Errors    as returned.
 * Progress  at most step_max steps in all runs since the reset.
 * Order     the caller sees all effects; store buffers are empty.
 */
enum pfs_machine_end pfs_machine_run(struct pfs_machine *self, struct pfs_scheduler *scheduler);

/*
 * pfs_machine_aside - call a function on a stack of its own, between runs. Its operations are
 * executed at once and are no steps, but a failure, a panic or a bad access ends the call and the
 * execution, and not the process. For set-up and final checks.
 */
void pfs_machine_aside(struct pfs_machine *self, void (*call)(void *argument), void *argument);

/* The same from the place of a whole snapshot, which was restored. */
enum pfs_machine_end pfs_machine_resume(struct pfs_machine *self, struct pfs_scheduler *scheduler);

/* The thread stops forever before its step number `steps`; UINT32_MAX sets it free. */
void pfs_machine_stop_after(struct pfs_machine *self, uint32_t thread, uint32_t steps);

/* End the execution here with a message; does not return inside a body, a check or a call aside.
 * Elsewhere it only marks the execution as failed. The first message stays. */
__attribute__((format(printf, 1, 2))) void pfs_machine_fail(const char *format, ...);

/* Fail unless condition holds. */
#define PFS_MACHINE_CHECK(condition, ...)              \
	do {                                           \
		if (!(condition))                      \
			pfs_machine_fail(__VA_ARGS__); \
	} while (0)

/*
 * pfs_machine_note - a scheduling point of a check: searches keep the order of notes on the same
 * cell, as if each were a store to it. Without it a reduced search may miss an order of two
 * check-only events whose surrounding operations are independent.
 */
void pfs_machine_note(void *cell, const char *text);

/*
 * pfs_machine_await - wait until a word of 1 to 8 bytes satisfies a predicate, and return it. Like
 * a loop of loads of this order (relaxed, acquire or seq), but without the steps and executions of
 * a loop. With views it may return any value that a load may, if the predicate holds for it. For
 * the bodies of tests.
 */
typedef bool pfs_machine_predicate(uint64_t value, uint64_t argument);
uint64_t pfs_machine_await(void *word, uint32_t size_bytes, enum pfs_sim_order order,
			   pfs_machine_predicate *predicate, uint64_t argument);

/*
 * pfs_machine_choose - one number of 0 .. count - 1; count is at least 1. A step that a search may
 * make with each of its choices: a thread that loops forever uses it to choose what it does next.
 * What the thread does between this and its next operation must not affect other threads.
 */
uint32_t pfs_machine_choose(uint32_t count);

/* A barrier of all threads, as membarrier: each thread has passed it when this returns. */
void pfs_machine_barrier(void);

/* A fence of the running thread. Needs has_fences. */
void pfs_machine_fence(enum pfs_sim_order order, const struct pfs_sim_place *place);

/* The machine that runs on this OS thread, or NULL. */
struct pfs_machine *pfs_machine_current(void);

#endif
