/*
 * litmus.h - small programs whose weak outcomes are known, run on the machine, and counted a second
 * time from the axioms.
 *
 * A program is a text: threads separated by |, operations by ;
 *
 *	W x rel 1       store            A x ar 1        fetch-add
 *	R x acq         load             X x sc 1        exchange
 *	C x acq 0 1     compare 0, swap 1               T rel   fence of its thread
 *	C x ar 0 1 acq  the same, acquires on failure   F       barrier of all threads
 *
 * Orders: rlx acq rel ar sc. Everything begins with 0. Each operation that reads has a register,
 * r0, r1, ... from left to right. An outcome is a text of registers and final values: "r0=1 x=2".
 */
#ifndef PFS_SIM_LITMUS_H
#define PFS_SIM_LITMUS_H

#include "check/machine/machine.h"

#define PFS_LITMUS_THREADS 4u
#define PFS_LITMUS_EVENTS 12u
#define PFS_LITMUS_LOCATIONS 4u
#define PFS_LITMUS_INITIAL 0xFEu /* read from what was there before */
#define PFS_LITMUS_NO_EVENT 0xFFu
#define PFS_LITMUS_NO_LOCATION 0xFFu /* of a fence */
#define PFS_LITMUS_TEXT 256u

struct pfs_litmus_event {
	uint8_t kind;    /* enum pfs_sim_kind */
	uint8_t order;   /* enum pfs_sim_order */
	uint8_t failure; /* the same, of a compare-and-swap that fails */
	uint8_t thread;
	uint8_t location;
	uint8_t reg; /* or PFS_LITMUS_NO_EVENT */
	uint32_t value, expected;
};

/* An execution: what each event read from, and each location's writes in modification order. */
struct pfs_litmus_graph {
	uint8_t source[PFS_LITMUS_EVENTS];
	uint8_t order[PFS_LITMUS_LOCATIONS][PFS_LITMUS_EVENTS];
};

/* The result of an execution: registers and final values. */
struct pfs_litmus_outcome {
	uint32_t registers[PFS_LITMUS_EVENTS], final[PFS_LITMUS_LOCATIONS];
};

/* Graphs and outcomes, each once. */
struct pfs_litmus_graphs {
	struct pfs_litmus_graph *all;
	uint32_t count, room;
	bool met; /* the outcome looked for was in one of them */
	/* Of the machine alone. */
	struct pfs_litmus_outcome *outcomes;
	uint32_t outcome_count, outcome_room;
	uint64_t executions; /* classes */
};

struct pfs_litmus_wish {
	uint8_t reg; /* or PFS_LITMUS_NO_EVENT: a final value */
	uint8_t location;
	uint32_t value;
};

struct pfs_litmus_program {
	uint32_t thread_count, event_count, reg_count, wish_count;
	struct pfs_litmus_event events[PFS_LITMUS_EVENTS];
	struct pfs_litmus_wish wishes[PFS_LITMUS_EVENTS];
	bool has_barrier; /* which the axioms do not know */
	bool has_fence, has_seq_fence;
};

/* A line of the table. */
struct pfs_litmus {
	const char *name;
	const char *program;
	const char *outcome;
	/* By model: A allowed, F forbidden; none of later models. Then, if C11 or RC11 differs from
	 * the views, how. */
	const char *verdicts;
};

extern const struct pfs_litmus pfs_litmus_table[];
extern const size_t pfs_litmus_count;

/*
 * Random program `number` of a seed: valid C11, with fences in half of them, and in turn without
 * seq, of seq alone, of any orders, and half of seq. No outcome is looked for.
 */
void pfs_litmus_draw(struct pfs_litmus_program *program, uint64_t seed, uint32_t number);

/* The program as text; text: PFS_LITMUS_TEXT bytes. */
void pfs_litmus_write(const struct pfs_litmus_program *program, char *text);

/* false: the texts do not have the form above. */
bool pfs_litmus_parse(const struct pfs_litmus *litmus, struct pfs_litmus_program *program);

/* Execute every class on a machine; graphs are kept if the model keeps old values. False: the
 * search did not end. */
bool pfs_litmus_run(const struct pfs_litmus_program *program, const struct pfs_memory_model *model,
		    struct pfs_litmus_graphs *graphs);

/*
 * pfs_litmus_axioms - every execution that RC11 allows, by trying all: each read from each write,
 * each modification order; release sequences as in C++20.
 *
 * Returns   nothing; the graphs in *graphs, which must be zero or used before.
 * Errors    none.
 * Progress  wait-free; the programs are small.
 * Order     none.
 * Source    O. Lahav et al., Repairing sequential consistency in C/C++11, PLDI 2017.
 */
void pfs_litmus_axioms(const struct pfs_litmus_program *program, struct pfs_litmus_graphs *graphs);

void pfs_litmus_add(struct pfs_litmus_graphs *graphs, const struct pfs_litmus_graph *graph);
/* How many of a are not in b? */
uint32_t pfs_litmus_missing(const struct pfs_litmus_graphs *a, const struct pfs_litmus_graphs *b);
void pfs_litmus_add_outcome(struct pfs_litmus_graphs *graphs,
			    const struct pfs_litmus_outcome *outcome);
/* Do registers and final values satisfy the outcome? */
bool pfs_litmus_meets(const struct pfs_litmus_program *program, const uint32_t *registers,
		      const uint32_t *final);

static inline bool pfs_litmus_reads(uint8_t kind)
{
	return kind != PFS_SIM_STORE && kind != PFS_SIM_BARRIER && kind != PFS_SIM_FENCE;
}

#endif
