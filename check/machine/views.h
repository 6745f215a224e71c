/*
 * views.h - weak memory as C11 defines it: old values stay readable until something forbids it.
 *
 * For each location all values are kept, in modification order (messages). A thread has a view: for
 * each location the oldest message that it may still read. Reading or writing advances it. A
 * release writes the view into the message, an acquire that reads the message joins it, and a
 * read-modify-write passes on what it read (release sequences). views_seq.h has the further
 * restrictions of seq operations, views_psc.h those of seq fences.
 *
 *	load           any message from the view on
 *	store          placed after any message from the view on, but never between a message
 *	               and the read-modify-write that read it
 *	rmw            as a load, of a message that no other rmw has read; placed right after it
 *	failed cas     a relaxed load
 *
 * With choice k a thread reads, or writes after, the message that is k older than the newest.
 * Choices count in modification order, so a choice means the same message until a thread writes to
 * the location. k = 0 is always possible.
 *
 * Memory itself holds the newest message. Every execution is one of RC11 (append-only unless a
 * store chooses k > 0); docs/explanation/memory-model.md says which executions of C11 it never
 * shows.
 *
 * Source: promising semantics without promises, as in J. Kang et al., POPL 2017; RC11 is O. Lahav
 * et al., PLDI 2017.
 */
#ifndef PFS_SIM_VIEWS_H
#define PFS_SIM_VIEWS_H

#include "check/machine/clocks.h"
#include "check/machine/views_psc.h"
#include "check/machine/views_seq.h"

struct pfs_machine;
struct pfs_vthread;
struct pfs_step;

/* setup.repeats_max of a new machine: one thread reads the same message, without another one in
 * between, at most this often while a newer one exists. */
#define PFS_VIEWS_REPEATS_MAX 12u

struct pfs_view_message {
	uint64_t value;
	const uint32_t *view;  /* of view_count locations, beyond them the first message; or NULL */
	const uint32_t *clock; /* happens-before; or NULL */
	uint32_t view_count;
	uint32_t step; /* that wrote it; PFS_STEP_NONE: set-up, or plain */
	uint32_t at;   /* in modification order */
	bool rmw;
};

struct pfs_location {
	void *address;
	uint32_t size_bytes;
	uint32_t count, room, order_room;
	struct pfs_view_message *messages; /* in the order of writing; 0 was there before */
	uint32_t *order;                   /* modification order */
	struct pfs_seq_access *seq;        /* seq operations, in the order of execution */
	uint32_t seq_count, seq_room;
};

/* Of a thread and a location. */
struct pfs_glimpse {
	uint32_t read;    /* last message read */
	uint32_t repeats; /* how often, while it was not the newest */
};

struct pfs_views {
	struct pfs_hash_table table; /* of locations, by address */
	struct pfs_location *locations;
	uint32_t location_room;
	uint32_t threads;
	uint32_t **view; /* [threads][location_room] */
	struct pfs_glimpse **glimpses;
	uint32_t *view_room, *glimpse_room;
	uint32_t thread_room[4];
	struct pfs_scratch arena;
	struct pfs_seq seq;
	struct pfs_view_message told; /* by calls that have ended, where the clock ticks */
	struct pfs_psc psc;
	struct pfs_view_message fence;   /* what was known at the fences of all threads */
	struct pfs_view_message barrier; /* and of those before the last barrier */
	struct pfs_view_message *fenced; /* [threads] and at each thread's last fence */
	uint32_t fenced_room;
};

void pfs_views_fini(struct pfs_views *self);

/* Before a run: all threads know all that memory holds. */
void pfs_views_begin(struct pfs_views *self, uint32_t threads);

/* All that an execution changes. */
struct pfs_machine_snapshot;
void pfs_views_keep(struct pfs_views *self, struct pfs_machine_snapshot *snapshot);

/* May the thread's pending operation take this choice? */
bool pfs_views_can(const struct pfs_machine *machine, const struct pfs_vthread *thread,
		   uint32_t choice);

/* The number of choices, some of which may be impossible. At least 1. */
uint32_t pfs_views_choices(const struct pfs_machine *machine, const struct pfs_vthread *thread);

/* For a choice that is impossible only because of other threads' steps: the steps that exclude it.
 * Returns how many, at most room; 0 for all other choices. */
uint32_t pfs_views_rivals(const struct pfs_machine *machine, const struct pfs_vthread *thread,
			  uint32_t choice, uint32_t *steps, uint32_t room);

/* The step that wrote what the pending operation would read, or PFS_STEP_NONE. */
uint32_t pfs_views_source(const struct pfs_machine *machine, const struct pfs_vthread *thread,
			  uint32_t choice);

/* The value that an operation would read. */
uint64_t pfs_views_peek(const struct pfs_machine *machine,
			const struct pfs_sim_operation *operation, uint32_t choice);

/* Fills seen, written, wrote, source and older of the step, and changes memory. */
void pfs_views_execute(struct pfs_machine *machine, struct pfs_vthread *thread,
		       struct pfs_step *step, uint32_t choice);

/* The clock ticks: what was known when a call ended is known to all calls that begin later, as if
 * their threads had been told. */
void pfs_views_tick(struct pfs_machine *machine, uint32_t thread, bool begins);

/*
 * A part of a barrier, in this thread: it knows what was known at each earlier such part and at
 * each earlier seq fence, and what comes after the messages that it has read; what it writes from
 * now on carries what it knows. Not modelled: the order of barriers with seq operations, which
 * RC11's psc also has.
 */
void pfs_views_fence(struct pfs_machine *machine, uint32_t thread);

/* For fences.h. remember: add what the message carries to what is known. The others: a thread
 * acquires that; it keeps what it knows for what it writes, with this clock; a seq fence comes
 * after all earlier barriers, and has its place in psc. */
void pfs_views_remember(struct pfs_views *self, struct pfs_view_message *known,
			const struct pfs_view_message *message);
void pfs_views_fence_acquire(struct pfs_machine *machine, uint32_t thread,
			     const struct pfs_view_message *known);
void pfs_views_fence_release(struct pfs_machine *machine, uint32_t thread, const uint32_t *clock);
void pfs_views_fence_seq(struct pfs_machine *machine, uint32_t thread);

/* The steps that wrote a location, in modification order; returns how many, 0: never accessed. */
uint32_t pfs_views_order(const struct pfs_views *self, const void *address, uint32_t *steps,
			 uint32_t room);

/* The thread yields: it will not read again what it read last, if a different value comes after
 * that. */
void pfs_views_yield(struct pfs_machine *machine, const struct pfs_vthread *thread);

/* For news.h: the message that the thread has read or written last at an address that it has
 * accessed; whether a message comes after another in modification order; whether a different value
 * comes after the one that was read. */
struct pfs_news_read;
uint32_t pfs_views_last(const struct pfs_views *self, uint32_t thread, const void *address);
bool pfs_views_is_behind(const struct pfs_views *self, const void *address, uint32_t message,
			 uint32_t other);
bool pfs_views_has_news(const struct pfs_views *self, const struct pfs_news_read *read);

#endif
