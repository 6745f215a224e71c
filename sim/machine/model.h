/*
 * model.h - what an operation does to memory: sequential consistency, store buffers, or views
 * (views.h).
 *
 * Store buffers (TSO): a store that is not seq waits in its thread's buffer; the thread's own
 * loads find it there; it reaches memory when the scheduler drains it. A seq store,
 * compare-and-swap, exchange, fetch-add, the mutex and unmap wait until the buffer is empty, as
 * locked instructions and system calls do. So are x86-64 machines; plain (non-atomic) stores are
 * not buffered here. Every execution is one that C11 allows.
 */
#ifndef PFS_SIM_MODEL_H
#define PFS_SIM_MODEL_H

#include "sim/machine/machine.h"

/* May the thread's pending operation be executed now? With views, an await: with some choice
 * (pfs_views_can). */
bool pfs_model_is_ready(const struct pfs_machine *self, const struct pfs_vthread *thread);

/* Fills seen, written, wrote, older and source of the step. */
void pfs_model_execute(struct pfs_machine *self, struct pfs_vthread *thread,
		       struct pfs_step *step);

/* An operation that is no step: outside of a run (thread NULL), or of metrics. */
uint64_t pfs_model_at_once(struct pfs_vthread *thread,
			   const struct pfs_sim_operation *operation);

/* The oldest store of the thread's buffer reaches memory. */
void pfs_model_drain(struct pfs_machine *self, struct pfs_vthread *thread, struct pfs_step *step);
struct pfs_sim_operation pfs_model_oldest(const struct pfs_vthread *thread);

/* What a load of the thread would see now, of the newest if there are several. */
uint64_t pfs_model_peek(const struct pfs_vthread *thread,
			const struct pfs_sim_operation *operation);

/* Does the store wait in its thread's buffer? */
static inline bool pfs_model_buffers(const struct pfs_machine *self,
				     const struct pfs_sim_operation *operation)
{
	return self->model == PFS_MACHINE_TSO && operation->kind == PFS_SIM_STORE &&
	       operation->order != PFS_SIM_SEQ;
}

/* Of an await: does its predicate hold for the value? */
bool pfs_model_may_return(const struct pfs_sim_operation *operation, uint64_t value);

/* What memory holds. */
uint64_t pfs_model_bytes(const void *address, uint32_t size_bytes);

/* Does the operation write, having seen that? *written is cut to its size. id: of the thread,
 * for mutexes. */
bool pfs_model_result(const struct pfs_sim_operation *operation, uint32_t id, uint64_t seen,
		      uint64_t *written);

#endif
