/*
 * program.h - small programs to test searches on: a few fixed ones, which share its memory, and
 * random ones.
 */
#ifndef PFS_SIM_PROGRAM_H
#define PFS_SIM_PROGRAM_H

#include "check/machine/atomic_backend.h"
#include "check/machine/mutex_backend.h"
#include "check/machine/machine.h"

/* What its threads use. */
extern struct pfs_program {
	_Atomic(uint32_t) cursor, slots[4];
	_Atomic(uint64_t) head;
	_Atomic(uint32_t) next[4];
	struct pfs_mutex lock;
	uint64_t token;
	uint64_t note;
	uint32_t threads;
	void (*bodies[3])(void *);
	uint32_t links;   /* in the list at first */
	uint64_t seen[3]; /* by a thread of a random program: a hash of all it has seen */
} pfs_program;

/* As setup of struct pfs_scenario. */
void pfs_program_setup(struct pfs_machine *machine, void *context);

#define PFS_PROGRAM_OPS_MAX 4u
enum {
	PFS_OP_LOAD,
	PFS_OP_STORE,
	PFS_OP_CAS,
	PFS_OP_ADD,
	PFS_OP_SECTION,
	PFS_OP_TRY,
	PFS_OP_AWAIT,
	PFS_OP_BEGIN,
	PFS_OP_END,
	PFS_OP_BARRIER,
	PFS_OP_COUNT
};
enum { PFS_OP_EXCHANGE = PFS_OP_COUNT, PFS_OP_COUNT_VIEWS, PFS_OP_YIELD, PFS_OP_SPIN };

/* The random program that was drawn last. */
extern struct pfs_program_drawn {
	uint32_t count[3];
	struct pfs_program_op {
		uint32_t kind, at, value, order;
		uint32_t unless; /* skip if what was seen last has this parity; 2: never */
	} ops[3][PFS_PROGRAM_OPS_MAX];
} pfs_program_drawn;

extern bool pfs_program_half_seq; /* of the orders, with views */
extern bool pfs_program_simple;   /* no mutexes, awaits and barriers */
extern bool pfs_program_yields;   /* in place of barriers, notes, and half of the rest */

void pfs_program_draw(uint64_t *random, const struct pfs_memory_model *model);
/* The bodies of drawn programs. */
void pfs_program_take_bodies(void);
void pfs_program_print(void);

#endif
