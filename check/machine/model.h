/*
 * model.h - a memory model: what an operation does to memory, and what a thread may do next.
 *
 * Each model is a table of functions in a file of its own: sequential consistency (model_sc.c),
 * store buffers (model_tso.c), C11's orders (model_views.c, views.h). Other code does not ask which
 * model a machine has. It calls the functions, or asks for one of two properties:
 *	buffers    stores wait in their thread's buffer: threads have drains
 *	keeps_old  old values stay readable: steps have choices, and what has been read follows
 *	           from clocks and not from the order of steps
 * A further model is another file and a line in models.h.
 */
#ifndef PFS_SIM_MODEL_H
#define PFS_SIM_MODEL_H

#include <string.h>

#include "check/machine/machine.h"

struct pfs_news_read;
struct pfs_machine_snapshot;
struct pfs_view_message;

/* Choices are counted from the newest value, which is 0; without keeps_old there is no other. The
 * comments name the functions that may be NULL. */
struct pfs_memory_model {
	const char *name; /* --memory */
	bool buffers;
	bool keeps_old;
	bool strengthens; /* orders count for more than declared: it misses data races */

	/* Make room for the model's data of a thread, once for each fiber; false: no memory. May be
	 * NULL. */
	bool (*thread_init)(struct pfs_vthread *thread);
	void (*thread_fini)(struct pfs_vthread *thread); /* may be NULL */
	/* Before a run: all threads know all that memory holds. May be NULL. */
	void (*begin)(struct pfs_machine *machine);
	void (*fini)(struct pfs_machine *machine); /* may be NULL */
	/* Puts all that an execution changes, except the threads' buffers. May be NULL. */
	void (*keep)(struct pfs_machine *machine, struct pfs_machine_snapshot *snapshot);

	/* May the thread's pending operation be executed with this choice? It is neither
	 * a yield nor the lock of a mutex that is taken. */
	bool (*can)(const struct pfs_machine *machine, const struct pfs_vthread *thread,
		    uint32_t choice);
	/* What an operation of the thread would see. */
	uint64_t (*peek)(const struct pfs_vthread *thread,
			 const struct pfs_sim_operation *operation, uint32_t choice);
	/* Executes the step: fills seen, written, wrote, older and source. */
	void (*execute)(struct pfs_machine *machine, struct pfs_vthread *thread,
			struct pfs_step *step, uint32_t choice);
	/* A fence of C11, after what all models do; released: the thread's clock if it is a
	 * release. May be NULL. */
	void (*fence)(struct pfs_machine *machine, uint32_t thread, uint8_t order,
		      const struct pfs_view_message *known, const uint32_t *released);

	/* With buffers: the drain that a thread with a buffered store may make, and makes. */
	struct pfs_sim_operation (*oldest)(const struct pfs_vthread *thread);
	void (*drain)(struct pfs_machine *machine, struct pfs_vthread *thread,
		      struct pfs_step *step);

	/* With keeps_old: the number of choices, some of which may be impossible. At least 1. */
	uint32_t (*choices)(const struct pfs_machine *machine, const struct pfs_vthread *thread);
	/* With keeps_old, for news.h: the message that the thread has read or written last at an
	 * address that it has accessed; whether a message there comes after the one that was read;
	 * whether a different value comes after it. */
	uint32_t (*last)(const struct pfs_machine *machine, uint32_t thread, const void *address);
	bool (*is_behind)(const struct pfs_machine *machine, const struct pfs_news_read *read,
			  uint32_t message);
	bool (*has_news)(const struct pfs_machine *machine, const struct pfs_news_read *read);
	/* With keeps_old, for searches: the steps that exclude a choice, only because of
	 * other threads' steps; and the step that wrote what it would read, or PFS_STEP_NONE. */
	uint32_t (*rivals)(const struct pfs_machine *machine, const struct pfs_vthread *thread,
			   uint32_t choice, uint32_t *steps, uint32_t room);
	uint32_t (*source)(const struct pfs_machine *machine, const struct pfs_vthread *thread,
			   uint32_t choice);
	/* With keeps_old: the steps that wrote a location, in modification order; returns how many,
	 * 0: never accessed. */
	uint32_t (*order)(const struct pfs_machine *machine, const void *address, uint32_t *steps,
			  uint32_t room);
};

/* ---- for schedulers and searches, with any model ---- */

/* What memory holds. Most operations are of whole words. */
static inline uint64_t pfs_model_bytes(const void *address, uint32_t size_bytes)
{
	uint64_t value = 0;
	uint32_t half = 0;
	if (size_bytes == 8) {
		memcpy(&value, address, 8);
	} else if (size_bytes == 4) {
		memcpy(&half, address, 4);
		value = half;
	} else {
		memcpy(&value, address, size_bytes < 8 ? size_bytes : 8); /* little endian */
	}
	return value;
}

/* May the thread's pending operation be executed now, with this choice? */
static inline bool pfs_model_can(const struct pfs_machine *self, const struct pfs_vthread *thread,
				 uint32_t choice)
{
	const struct pfs_sim_operation *next = &thread->pending;
	if (next->kind == PFS_SIM_CHOOSE)
		return choice < next->operand;
	if (next->kind == PFS_SIM_YIELD)
		return (thread->looks.news || self->setup.free_yields) && choice == 0 &&
		       (next->operand != PFS_YIELD_LOOP || !self->setup.loops_end);
	return (next->kind != PFS_SIM_LOCK || pfs_model_bytes(next->address, 4) == 0) &&
	       self->model->can(self, thread, choice);
}

/* Does the store wait in its thread's buffer? */
static inline bool pfs_model_buffers(const struct pfs_machine *self,
				     const struct pfs_sim_operation *operation)
{
	return self->model->buffers && operation->kind == PFS_SIM_STORE &&
	       operation->order != PFS_SIM_SEQ;
}

/* An operation that is no step: outside of a run (thread NULL), or of metrics. */
uint64_t pfs_model_at_once(struct pfs_vthread *thread, const struct pfs_sim_operation *operation);

/* Of an await: does its predicate hold for the value? */
bool pfs_model_may_return(const struct pfs_sim_operation *operation, uint64_t value);

/* ---- for models ---- */

/* Does the operation touch bytes of memory? Otherwise it is a yield, a note, an unmap, a fence or a
 * choice. */
static inline bool pfs_model_has_bytes(const struct pfs_sim_operation *operation)
{
	return operation->kind != PFS_SIM_YIELD && operation->kind != PFS_SIM_NOTE &&
	       operation->kind != PFS_SIM_UNMAP && operation->kind != PFS_SIM_BARRIER &&
	       operation->kind != PFS_SIM_FENCE && operation->kind != PFS_SIM_CHOOSE;
}

/* Does the operation write, having seen `seen`? *written is cut to its size. id: of the thread, for
 * mutexes. */
bool pfs_model_result(const struct pfs_sim_operation *operation, uint32_t id, uint64_t seen,
		      uint64_t *written);
/* Store what pfs_model_result computed. */
void pfs_model_put(const struct pfs_sim_operation *operation, uint64_t written);

/* Happens-before, for models where memory holds one value at a time. */
void pfs_model_synchronise(struct pfs_machine *self, uint32_t thread, const struct pfs_step *step);

#endif
