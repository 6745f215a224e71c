/*
 * clock.h - the time of the checked program.
 *
 * Each thread has a clock of its own, which advances by a microsecond with each reading, by the
 * time it sleeps, and by an hour when a time limit passes. What happens before a reading, by the
 * program's synchronization, is not later. So the clock never goes back where the program could
 * tell, and only the schedule decides what is read.
 */
#ifndef PFS_CHECK_CLOCK_H
#define PFS_CHECK_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

/* The program is open: does it call a function that tells the time? */
void pfs_clock_find_readers(void);

/* Before the set-up of an execution. */
void pfs_clock_begin(void);
struct pfs_machine_snapshot;
void pfs_clock_put(struct pfs_machine_snapshot *snapshot);

/* A time limit has passed. */
void pfs_clock_pass_limit(void);

int pfs_clock_gettime(clockid_t clock, struct timespec *now);
int pfs_clock_gettimeofday(struct timeval *now, void *zone);
time_t pfs_clock_time(time_t *now);
clock_t pfs_clock_cpu(void);
/* std::chrono's clocks; those of libc++ count the system's time in microseconds. */
int64_t pfs_clock_ns(void);
int64_t pfs_clock_us(void);
int pfs_clock_timespec_get(struct timespec *now, int base);
int pfs_clock_sleep(unsigned seconds);
int pfs_clock_usleep(unsigned microseconds);
int pfs_clock_nanosleep(const struct timespec *time, struct timespec *rest);
int pfs_clock_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			      struct timespec *rest);

#endif
