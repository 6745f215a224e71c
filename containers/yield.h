/*
 * yield.h - let another thread run; the simulated machine replaces it.
 */
#ifndef PFS_YIELD_H
#define PFS_YIELD_H

#ifdef PFS_SIM
#include "check/machine/mutex_backend.h"
#else
#include <sched.h>

static inline void pfs_yield(void)
{
	(void)sched_yield();
}
#endif
#endif
