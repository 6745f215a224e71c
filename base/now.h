/*
 * now.h - the time of a clock, as one number.
 */
#ifndef PFS_NOW_H
#define PFS_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t pfs_now_ns(clockid_t clock)
{
	struct timespec now;
	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline double pfs_now_seconds(clockid_t clock)
{
	return (double)pfs_now_ns(clock) * 1e-9;
}

#endif
