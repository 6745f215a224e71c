/*
 * timed.h - the simulated machine in virtual time: threads on the PUs of a topology, each shared
 * access at the price that the state of the caches gives it.
 *
 * It is the machine of machine.h with an engine in place of its schedulers: the thread whose clock
 * is earliest runs. The same plan, seed and bodies give the same times, byte for byte, whatever
 * addresses malloc returns. docs/explanation/virtual-time.md says what is modelled and what is not.
 *
 * The place of an object in its cache line matters. Static, malloc and container memory has the
 * same places in every process; the OS thread's stack only below pfs_timed_in_place.
 */
#ifndef PFS_SIM_TIMED_H
#define PFS_SIM_TIMED_H

#include <stdbool.h>
#include <stdint.h>

#include <pfslab/status.h>

#include "sim/timed/costs.h"
#include "sim/timed/topology.h"

enum pfs_timed_placement {
	PFS_TIMED_COMPACT, /* fill a core, then a node, then the next */
	PFS_TIMED_SCATTER  /* one node after the other; siblings last */
};

struct pfs_timed_plan {
	const struct pfs_topology *topology; /* both outlive the machine */
	const struct pfs_costs *costs;
	uint32_t thread_count; /* 1 .. 1024; if there are more than PUs, they take turns */
	enum pfs_timed_placement placement;
	uint64_t seed; /* jitter, time slices */
	/* Called when the earliest clock of all threads passes a multiple of tick_ns. Optional. */
	void (*tick)(void *context, uint64_t now_ns);
	uint64_t tick_ns;
	void *context;
};

/* Since the last pfs_timed_run began. Each access is in exactly one of the counts from hits to
 * memory_far. */
struct pfs_timed_stats {
	uint64_t accesses; /* atomic ones and, if they are seen, plain ones */
	uint64_t atomics;
	uint64_t hits;             /* in the core's own cache */
	uint64_t transfers_core;   /* from the sibling of the same core */
	uint64_t transfers_l3;     /* from the L3, or a core on it */
	uint64_t transfers_node;   /* from another L3 of the node */
	uint64_t transfers_remote; /* from another node */
	uint64_t memory_near;      /* from memory of the own node */
	uint64_t memory_far;
	uint64_t queue_ns;    /* spent waiting for others' turns on a line */
	uint64_t preemptions; /* a time slice ended while another thread waited */
	uint64_t end_ns;      /* when the last thread ended, from the start of the run */
};

/*
 * pfs_timed_create - a machine in virtual time, with its memory; it becomes the current one of this
 * OS thread (pfs_machine_current).
 *
 * Returns   the machine, or NULL with a line in *message.
 * Errors    a plan out of range; no memory.
 * Progress  blocking (set-up).
 * Order     none.
 */
struct pfs_timed *pfs_timed_create(const struct pfs_timed_plan *plan, struct pfs_message *message);
void pfs_timed_destroy(struct pfs_timed *self);

/*
 * pfs_timed_aside - a call by thread t at no cost, while no other runs, on t's own node: for
 * set-up, settling and final checks. Memory that it touches first is on t's node.
 *
 * Returns   whether it came to its end; if not, pfs_timed_message says why: a failure, a panic or a
 *           bad access ends the call and not the process.
 * Errors    as returned.
 * Progress  that of the call.
 * Order     none.
 */
bool pfs_timed_aside(struct pfs_timed *self, uint32_t thread, void (*call)(void *argument),
		     void *argument);

/*
 * pfs_timed_run - run body(arguments[t]) on each thread t to its end. All clocks start at 0; caches
 * and memory keep their state.
 *
 * Returns   whether all came to their ends; if not, pfs_timed_message says why.
 * Errors    as returned; a deadlock is one.
 * Progress  that of the bodies; a thread that spins for ever keeps it busy for ever.
 * Order     the caller sees all effects.
 */
bool pfs_timed_run(struct pfs_timed *self, void (*body)(void *argument), void **arguments);

/* The clock of the calling virtual thread; 0 outside of a run. Costs nothing. */
uint64_t pfs_timed_now_ns(void);
void pfs_timed_work_ns(uint64_t ns);  /* the calling thread computes for this long */
void pfs_timed_turn(void);            /* until no other thread is earlier: before reading what is
				       * not memory of the machine */
void pfs_timed_sleep_ns(uint64_t ns); /* it leaves its PU for this long */

const char *pfs_timed_message(const struct pfs_timed *self);
void pfs_timed_get_stats(const struct pfs_timed *self, struct pfs_timed_stats *stats);

/* Call a function with the stack at the same place of a cache line in every process: virtual
 * threads may share what is on it from there on. Returns what the function returns. */
int pfs_timed_in_place(int (*call)(int argc, char **argv), int argc, char **argv);

/* The PU on which a thread runs. */
uint32_t pfs_timed_pu_of(const struct pfs_timed *self, uint32_t thread);

#endif
