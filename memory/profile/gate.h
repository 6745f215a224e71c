/*
 * gate.h - a fork waits until no thread is inside the profile, and threads that come meanwhile wait
 * for the fork. So the child's copy of the box and its copy of the process's memory show the same
 * moment.
 *
 * Ordering:  [PG1] leave: fetch-add, acq_rel  <->  [PG2] close: load, acquire
 *            carries: all that was written to the box inside, to the thread that copies it
 *            [PG3] enter: fetch-add, acq_rel  <->  [PG4] close, open: fetch-or, fetch-and, seq
 *            carries: which of the two came first; both change the same word
 * Progress   wait-free, except while a fork copies the box.
 */
#ifndef PFS_PROFILE_GATE_H
#define PFS_PROFILE_GATE_H

#include <stdint.h>

#include "containers/atomic.h"
#include "containers/compiler.h"
#include "containers/yield.h"

#define PFS_GATE_CLOSED (UINT32_C(1) << 31)

struct pfs_sample_gate {
	_Atomic(uint32_t) word; /* the number of threads inside, and CLOSED */
};

static inline void pfs_gate_leave(struct pfs_sample_gate *self)
{
	/* [PG1] acq_rel, pairs with [PG2]. */
	(void)pfs_fetch_add_acq_rel(&self->word, UINT32_MAX);
}

static PFS_COLD void pfs_gate_wait(struct pfs_sample_gate *self)
{
	do {
		pfs_gate_leave(self);
		/* relaxed: a hint, the addition decides. */
		while ((pfs_load_relaxed(&self->word) & PFS_GATE_CLOSED) != 0)
			pfs_yield();
		/* [PG3] acq_rel, pairs with [PG4]. */
	} while ((pfs_fetch_add_acq_rel(&self->word, 1) & PFS_GATE_CLOSED) != 0);
}

static inline void pfs_gate_enter(struct pfs_sample_gate *self)
{
	/* [PG3] acq_rel, pairs with [PG4]: either before the close, which then waits, or after it.
	 * */
	if (!pfs_likely((pfs_fetch_add_acq_rel(&self->word, 1) & PFS_GATE_CLOSED) == 0))
		pfs_gate_wait(self);
}

/* Called in the parent by the forking thread. It opens the gate again; the child begins a new one.
 * */
static inline void pfs_gate_close(struct pfs_sample_gate *self)
{
	(void)pfs_fetch_or_seq(&self->word, PFS_GATE_CLOSED); /* [PG4] seq, pairs with [PG3] */
	/* [PG2] acquire, pairs with [PG1]. */
	while (pfs_load_acquire(&self->word) != PFS_GATE_CLOSED)
		pfs_yield();
}

static inline void pfs_gate_open(struct pfs_sample_gate *self)
{
	(void)pfs_fetch_and_seq(&self->word, ~PFS_GATE_CLOSED); /* [PG4] seq, pairs with [PG3] */
}

static inline void pfs_gate_begin(struct pfs_sample_gate *self)
{
	pfs_store_relaxed(&self->word, 0); /* relaxed: one thread */
}

#endif
