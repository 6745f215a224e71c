/*
 * user.h - the threads of the checked program, on the machine: all their operations pass through
 * here.
 */
#ifndef PFS_CHECK_USER_H
#define PFS_CHECK_USER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "check/machine/machine.h"

#define PFS_USER_THREADS_MAX 16u
#define PFS_USER_FAULTS_MAX 4u
#define PFS_USER_CALLS_MAX 512u
/* The failure of an execution that has too few slots; the search starts again with one more. */
#define PFS_USER_SLOT_WANTED "one more thread of pthread_create"
/* The same where other threads meet at a barrier than were known (barriers.h). */
#define PFS_USER_MEETS_WANTED "one more thread at a barrier"
/* The same where a thread accesses another one's stack, and it was not known that one does. */
#define PFS_USER_STACKS_WANTED "an access to another thread's stack"
#define PFS_USER_BARRIERS_MAX 4u /* that a thread initializes, and whose threads are known */
#define PFS_USER_MEETS_MAX ((PFS_USER_THREADS_MAX + 1) * PFS_USER_BARRIERS_MAX)
#define PFS_USER_MEETS_ORDERS UINT32_MAX /* any threads: orders of arrival matter */

/* An event that may happen spuriously, and does: a weak compare-and-swap that fails, a condition
 * variable that wakes. The one of a thread with this number. */
struct pfs_user_fault {
	uint32_t thread, number;
};

/* A function of the program that was entered, from its caller. */
struct pfs_user_call {
	const void *code;   /* return address, into the caller */
	const void *inside; /* its own beginning */
	uintptr_t frame;    /* just below its variables, which are below those of its caller */
};

struct pfs_user_look {
	const void *address;
	const struct pfs_sim_place *place;
	uint64_t seen;
	uint32_t size_bytes;
};

/* Bytes of a thread's stack. */
struct pfs_user_range {
	const char *first;
	size_t bytes;
};
#define PFS_USER_SHARED_MAX 8u

struct pfs_user_thread {
	void (*body)(void *argument);
	void *(*start)(void *argument); /* of pthread_create */
	void *argument, *result;
	uint32_t id;
	uint32_t begun, ended; /* words of the machine, of a thread of pthread_create */
	uint32_t sleeps;       /* waits for conditions and futexes, so far */
	uint32_t woken;        /* a word of the machine: how many of them were ended */
	uint32_t barriers;     /* initialized so far */
	const struct pfs_sim_place *thrown; /* where its last exception was */
	struct pfs_user_once *once;         /* the innermost routine of pthread_once that it runs */
	uint32_t assumed;    /* never set: what a thread waits for whose assumption does not hold */
	bool is_pruned;      /* it waits for that */
	const void *awaited; /* what it sleeps for: a condition variable, or a futex */
	bool is_slot;        /* for pthread_create */
	bool is_taken, is_joined, is_detached;
	uint32_t may_fail;    /* how many faults it could have had */
	bool has_limit;       /* waits with a time limit */
	uint32_t plain_count; /* accesses since its last step */
	/* Of loops.h, since its last effect. */
	const struct pfs_user_visit *visits; /* the last first */
	uint64_t visited;                    /* bits, by the places of these */
	bool has_look, fenced;
	uint32_t rushes; /* loads that need not be steps */
	/* Of loops.h, since it began. */
	const char *stack_end;
	uint32_t sections, held, inputs, releases, readings;
	uint32_t shared_count;
	uint32_t call_depth;
	/* Not cleared between executions: only what the fields above say is there is read. */
	struct pfs_user_look look; /* the last */
	struct pfs_user_range shared[PFS_USER_SHARED_MAX];
	struct pfs_user_call calls[PFS_USER_CALLS_MAX];
};

struct pfs_user {
	struct pfs_machine *machine;
	volatile sig_atomic_t is_late; /* it reaches no operation: reported at a plain access */
	uint64_t executions;           /* begun */
	struct pfs_user_thread threads[PFS_USER_THREADS_MAX + 1]; /* the last: none of them */
	uint32_t thread_count;
	uint32_t slots; /* threads of pthread_create that an execution may have */
	uint32_t meets[PFS_USER_MEETS_MAX]; /* a bit of each thread that uses a barrier */
	bool meets_on_stacks; /* threads may access each other's stacks: see is_private of user.c */
	bool in_setup;
	void (*at_rest)(void *argument);
	void *at_rest_argument;
	/* At the running thread's next call of our code: once, before anything else; see
	 * volatile.h. */
	void (*closes)(void);
	bool one_size;      /* a place has one size: see sizes.h */
	uint32_t looks_max; /* iterations of a loop that reads and counts; 0: no bound */
	struct pfs_user_fault faults[PFS_USER_FAULTS_MAX];
	uint32_t fault_count, fault_max;
	uint32_t may_fail[PFS_USER_THREADS_MAX]; /* the most of any execution */
};
extern struct pfs_user pfs_user;

/* By the library's function: for a size that it knows, a compiler takes a string instruction, which
 * begins slowly. */
static inline void pfs_user_zero(void *first, size_t bytes)
{
	__asm__("" : "+r"(bytes));
	memset(first, 0, bytes);
}

/* Is code of the program running: a thread, the set-up or the final check? */
static inline bool pfs_user_runs(void)
{
	const struct pfs_machine *machine = pfs_user.machine;
	return machine != NULL && (machine->run.running != NULL || machine->aside.is_on);
}

/* Before the set-up of an execution. */
void pfs_user_begin(void);

/* All that an execution changes here: see keep_whole of struct pfs_scenario. */
struct pfs_machine_snapshot;
void pfs_user_put(struct pfs_machine_snapshot *snapshot);

/* One more thread; NULL: too many. */
struct pfs_user_thread *pfs_user_add(void);

/* The running thread, or the one that stands for set-up and final check. */
void pfs_user_close(void); /* calls pfs_user.closes */
static inline struct pfs_user_thread *pfs_user_current(void)
{
	if (__builtin_expect(pfs_user.closes != NULL, 0))
		pfs_user_close();
	const struct pfs_machine *machine = pfs_user.machine;
	bool runs = machine != NULL && machine->run.running != NULL;
	return &pfs_user.threads[runs ? machine->run.running->id : PFS_USER_THREADS_MAX];
}

/* All threads of an execution have stacks. */
void pfs_user_cover_stacks(void);

/* The thread on whose stack it is, PFS_USER_THREADS_MAX for that of the set-up and the final check,
 * or PFS_THREAD_NONE. */
uint32_t pfs_user_stack_of(const void *address);

/* "f+8 on T1's stack", for a variable of f; false: on no thread's. */
bool pfs_user_stack_name(const void *address, char *name, size_t name_bytes);

/* The place in the program's own code that led to the call which returns to `code`. */
const struct pfs_sim_place *pfs_user_place(const void *code, const void **own);

/* One operation of the running thread, or outside of a run. Returns what was seen. */
uint64_t pfs_user_execute(const struct pfs_sim_operation *operation);
/* The thread continues after an operation: restore its private state. */
void pfs_user_arrive(void);

/* A plain access. */
void pfs_user_plain(const void *address, size_t size_bytes, bool writes, const void *code);

/* End the execution as failed, and say after which operation. late: because it reached no further
 * operation; clears is_late. */
void pfs_user_fail(enum pfs_finding_kind kind, const char *what);
void pfs_user_fail_late(void);

/* Does a possible spurious event happen this time? */
bool pfs_user_fails(void);

/* Wait until the predicate holds for a value of the machine, which is returned; or for a word. */
uint64_t pfs_user_await_at(void *address, uint8_t size_bytes, enum pfs_sim_order order,
			   pfs_machine_predicate *predicate, uint64_t argument,
			   const struct pfs_sim_place *place);
void pfs_user_await(uint32_t *word, enum pfs_sim_order order, pfs_machine_predicate *predicate,
		    uint64_t argument, const struct pfs_sim_place *place);

#endif
