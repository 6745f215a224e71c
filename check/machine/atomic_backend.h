/*
 * atomic_backend.h - containers/atomic.h on the simulated machine: every operation is a scheduling
 * point, and reports what it is, to which bytes, and from where in the source.
 *
 * The names and arguments are those of the C11 back end. Values are passed as 64 bits; the macros
 * only convert. Outside a running machine (set-up, tear-down) an operation is executed at once.
 */
#ifndef PFS_SIM_ATOMIC_BACKEND_H
#define PFS_SIM_ATOMIC_BACKEND_H

#include "check/machine/operation.h"

/* The type of *object without its _Atomic. */
#define PFS_SIM_TYPE(object) __typeof__(((void)0, *(object)))
#define PFS_SIM_BITS(object, value) ((uint64_t)(uintptr_t)(PFS_SIM_TYPE(object))(value))
#define PFS_SIM_AT(object) ((void *)(uintptr_t)(object)), (uint32_t)sizeof(*(object))

#define PFS_SIM_LOAD_WITH(object, order)                                            \
	((PFS_SIM_TYPE(object))(uintptr_t)pfs_sim_load(PFS_SIM_AT(object), (order), \
						       PFS_SIM_PLACE(#object)))
#define pfs_load_relaxed(object) PFS_SIM_LOAD_WITH(object, PFS_SIM_RELAXED)
#define pfs_load_acquire(object) PFS_SIM_LOAD_WITH(object, PFS_SIM_ACQUIRE)
#define pfs_load_seq(object) PFS_SIM_LOAD_WITH(object, PFS_SIM_SEQ)

#define PFS_SIM_STORE_WITH(object, value, order)                                \
	pfs_sim_store(PFS_SIM_AT(object), PFS_SIM_BITS(object, value), (order), \
		      PFS_SIM_PLACE(#object))
#define pfs_store_relaxed(object, value) PFS_SIM_STORE_WITH(object, value, PFS_SIM_RELAXED)
#define pfs_store_release(object, value) PFS_SIM_STORE_WITH(object, value, PFS_SIM_RELEASE)
#define pfs_store_seq(object, value) PFS_SIM_STORE_WITH(object, value, PFS_SIM_SEQ)

#define PFS_SIM_CAS_WITH(object, seen, value, order)                                  \
	pfs_sim_cas(PFS_SIM_AT(object), (seen), PFS_SIM_BITS(object, value), (order), \
		    PFS_SIM_PLACE(#object))
#define pfs_cas_relaxed(object, seen, value) PFS_SIM_CAS_WITH(object, seen, value, PFS_SIM_RELAXED)
#define pfs_cas_acquire(object, seen, value) PFS_SIM_CAS_WITH(object, seen, value, PFS_SIM_ACQUIRE)
#define pfs_cas_release(object, seen, value) PFS_SIM_CAS_WITH(object, seen, value, PFS_SIM_RELEASE)
#define pfs_cas_acq_rel(object, seen, value) PFS_SIM_CAS_WITH(object, seen, value, PFS_SIM_ACQ_REL)
#define pfs_cas_seq(object, seen, value) PFS_SIM_CAS_WITH(object, seen, value, PFS_SIM_SEQ)

/* For reading or counting metrics: not an operation of the machine, and not instrumented. */
#define PFS_SIM_UNSEEN __attribute__((no_sanitize("thread")))
#define PFS_SIM_RAW(object) (*(volatile PFS_SIM_TYPE(object) *)(uintptr_t)(object))

#define PFS_SIM_CHANGE_WITH(kind, object, value, order)                                      \
	((PFS_SIM_TYPE(object))(uintptr_t)pfs_sim_change(PFS_SIM_##kind, PFS_SIM_AT(object), \
							 PFS_SIM_BITS(object, value),        \
							 PFS_SIM_##order, PFS_SIM_PLACE(#object)))
#define pfs_exchange_relaxed(object, value) PFS_SIM_CHANGE_WITH(EXCHANGE, object, value, RELAXED)
#define pfs_exchange_acquire(object, value) PFS_SIM_CHANGE_WITH(EXCHANGE, object, value, ACQUIRE)
#define pfs_exchange_release(object, value) PFS_SIM_CHANGE_WITH(EXCHANGE, object, value, RELEASE)
#define pfs_exchange_acq_rel(object, value) PFS_SIM_CHANGE_WITH(EXCHANGE, object, value, ACQ_REL)
#define pfs_exchange_seq(object, value) PFS_SIM_CHANGE_WITH(EXCHANGE, object, value, SEQ)
#define pfs_fetch_add_relaxed(object, value) PFS_SIM_CHANGE_WITH(ADD, object, value, RELAXED)
#define pfs_fetch_add_acquire(object, value) PFS_SIM_CHANGE_WITH(ADD, object, value, ACQUIRE)
#define pfs_fetch_add_release(object, value) PFS_SIM_CHANGE_WITH(ADD, object, value, RELEASE)
#define pfs_fetch_add_acq_rel(object, value) PFS_SIM_CHANGE_WITH(ADD, object, value, ACQ_REL)
#define pfs_fetch_add_seq(object, value) PFS_SIM_CHANGE_WITH(ADD, object, value, SEQ)
#define pfs_fetch_or_relaxed(object, value) PFS_SIM_CHANGE_WITH(OR, object, value, RELAXED)
#define pfs_fetch_or_acquire(object, value) PFS_SIM_CHANGE_WITH(OR, object, value, ACQUIRE)
#define pfs_fetch_or_release(object, value) PFS_SIM_CHANGE_WITH(OR, object, value, RELEASE)
#define pfs_fetch_or_acq_rel(object, value) PFS_SIM_CHANGE_WITH(OR, object, value, ACQ_REL)
#define pfs_fetch_or_seq(object, value) PFS_SIM_CHANGE_WITH(OR, object, value, SEQ)
#define pfs_fetch_and_relaxed(object, value) PFS_SIM_CHANGE_WITH(AND, object, value, RELAXED)
#define pfs_fetch_and_acquire(object, value) PFS_SIM_CHANGE_WITH(AND, object, value, ACQUIRE)
#define pfs_fetch_and_release(object, value) PFS_SIM_CHANGE_WITH(AND, object, value, RELEASE)
#define pfs_fetch_and_acq_rel(object, value) PFS_SIM_CHANGE_WITH(AND, object, value, ACQ_REL)
#define pfs_fetch_and_seq(object, value) PFS_SIM_CHANGE_WITH(AND, object, value, SEQ)

#endif
