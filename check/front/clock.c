#define _GNU_SOURCE
#include "check/front/clock.h"

#include "check/front/user.h"

#define SECOND UINT64_C(1000000000)
#define BEGIN (UINT64_C(1000000000) * SECOND) /* in 2001 */
#define LOOK UINT64_C(1000)
#define LIMIT (3600 * SECOND)

static uint64_t *own(void)
{
	return &pfs_user_current()->elapsed_ns;
}

static uint64_t look(void)
{
	return BEGIN + (*own() += LOOK);
}

void pfs_clock_pass_limit(void)
{
	*own() += LIMIT;
}

int pfs_clock_gettime(clockid_t clock, struct timespec *now)
{
	uint64_t ns = look();
	(void)clock;
	*now = (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) };
	return 0;
}

int pfs_clock_gettimeofday(struct timeval *now, void *zone)
{
	uint64_t ns = look();
	(void)zone;
	*now = (struct timeval){ (time_t)(ns / SECOND), (suseconds_t)(ns % SECOND / 1000) };
	return 0;
}

time_t pfs_clock_time(time_t *now)
{
	time_t seconds = (time_t)(look() / SECOND);
	if (now != NULL)
		*now = seconds;
	return seconds;
}

clock_t pfs_clock_cpu(void)
{
	return (clock_t)(look() - BEGIN) / (clock_t)(SECOND / CLOCKS_PER_SEC);
}

int64_t pfs_clock_ns(void)
{
	return (int64_t)look();
}

int64_t pfs_clock_us(void)
{
	return (int64_t)look() / 1000;
}

int pfs_clock_timespec_get(struct timespec *now, int base)
{
	(void)pfs_clock_gettime(CLOCK_REALTIME, now);
	return base;
}

static int pass(uint64_t ns)
{
	*own() += ns;
	return 0;
}

int pfs_clock_sleep(unsigned seconds)
{
	return pass(seconds * SECOND);
}

int pfs_clock_usleep(unsigned microseconds)
{
	return pass(microseconds * UINT64_C(1000));
}

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * SECOND + (uint64_t)time->tv_nsec;
}

int pfs_clock_nanosleep(const struct timespec *time, struct timespec *rest)
{
	(void)rest;
	return pass(ns_of(time));
}

int pfs_clock_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			      struct timespec *rest)
{
	(void)clock, (void)rest;
	uint64_t ns = ns_of(time);
	if ((flags & TIMER_ABSTIME) == 0)
		return pass(ns);
	return ns > BEGIN + *own() ? pass(ns - BEGIN - *own()) : 0;
}
