#define _GNU_SOURCE
#include "check/front/clock.h"

#include <string.h>

#include "check/front/library.h"
#include "check/front/user.h"
#include "check/machine/clocks.h"
#include "check/machine/model.h"
#include "check/machine/snapshot.h"

#define SECOND UINT64_C(1000000000)
#define BEGIN (UINT64_C(1000000000) * SECOND) /* in 2001 */
#define LOOK UINT64_C(1000)
#define LIMIT (3600 * SECOND)
#define CHANGES_MAX 64u
#define OUTSIDE PFS_USER_THREADS_MAX

/* What a thread's clock showed from this time of its vector clock on. */
struct change {
	uint32_t epoch;
	uint64_t ns;
};

static struct {
	uint32_t used; /* bits: threads with changes */
	uint32_t counts[OUTSIDE + 1];
	struct change changes[OUTSIDE + 1][CHANGES_MAX];
} clocks;

/* May the program learn the time? Else nobody can tell how long a thread has slept. */
static bool is_read;

void pfs_clock_find_readers(void)
{
	static const char *const readers[] = { "clock_gettime", "gettimeofday", "time", "clock",
					       "timespec_get" };
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
		is_read |= pfs_library_calls_whole(readers[i]);
	is_read |= pfs_library_calls("_ZNSt6chrono3_V2") || pfs_library_calls("_ZNSt3__16chrono");
}

void pfs_clock_begin(void)
{
	clocks.used = 0;
	memset(clocks.counts, 0, sizeof(clocks.counts));
}

void pfs_clock_put(struct pfs_machine_snapshot *snapshot)
{
	pfs_snapshot_put(snapshot, &clocks.used, sizeof(clocks.used));
	for (uint32_t rest = clocks.used; rest != 0; rest &= rest - 1) {
		uint32_t id = (uint32_t)__builtin_ctz(rest);
		pfs_snapshot_put(snapshot, &clocks.counts[id], sizeof(clocks.counts[id]));
		pfs_snapshot_put(snapshot, clocks.changes[id],
				 clocks.counts[id] * sizeof(clocks.changes[id][0]));
	}
}

/* Its newest change that happens before what thread `id` does now; without happens-before, and for
 * the final check, its newest. */
static uint64_t known(uint32_t other, uint32_t id, bool has_order)
{
	const struct pfs_clocks *order = &pfs_user.machine->clocks;
	uint32_t at = clocks.counts[other], epoch = UINT32_MAX;
	if (has_order && id != OUTSIDE && other != OUTSIDE && other != id)
		epoch = pfs_clock_of(order, id)[other];
	while (at != 0 && clocks.changes[other][at - 1].epoch > epoch)
		at--;
	return at != 0 ? clocks.changes[other][at - 1].ns : 0;
}

static uint64_t advance(uint64_t ns)
{
	const struct pfs_machine *machine = pfs_user.machine;
	bool has_order = machine->run.watching || machine->model->keeps_old;
	uint32_t id = (uint32_t)(pfs_user_current() - pfs_user.threads), epoch = 0;
	uint64_t now = 0;
	for (uint32_t rest = clocks.used; rest != 0; rest &= rest - 1) {
		uint64_t other = known((uint32_t)__builtin_ctz(rest), id, has_order);
		now = other > now ? other : now;
	}
	now += ns;
	if (has_order && id != OUTSIDE)
		epoch = pfs_clock_of(&machine->clocks, id)[id];
	uint32_t *count = &clocks.counts[id];
	bool is_new = *count == 0 || clocks.changes[id][*count - 1].epoch != epoch;
	if (is_new && *count < CHANGES_MAX)
		clocks.changes[id][(*count)++].epoch = epoch;
	clocks.changes[id][*count - 1].ns = now;
	clocks.used |= UINT32_C(1) << id;
	return now;
}

static uint64_t look(void)
{
	pfs_user_current()->readings++; /* the next one has another value */
	return BEGIN + advance(LOOK);
}

#define HERE __builtin_return_address(0)
#define STORE(now, ...)                                            \
	do {                                                       \
		pfs_user_plain((now), sizeof(*(now)), true, HERE); \
		*(now) = __VA_ARGS__;                              \
	} while (0)

void pfs_clock_pass_limit(void)
{
	(void)advance(LIMIT);
}

int pfs_clock_gettime(clockid_t clock, struct timespec *now)
{
	uint64_t ns = look();
	(void)clock;
	STORE(now, (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) });
	return 0;
}

int pfs_clock_gettimeofday(struct timeval *now, void *zone)
{
	uint64_t ns = look();
	(void)zone;
	STORE(now, (struct timeval){ (time_t)(ns / SECOND), (suseconds_t)(ns % SECOND / 1000) });
	return 0;
}

time_t pfs_clock_time(time_t *now)
{
	time_t seconds = (time_t)(look() / SECOND);
	if (now != NULL)
		STORE(now, seconds);
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
	uint64_t ns = look();
	STORE(now, (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) });
	return base;
}

static int pass(uint64_t ns)
{
	(void)advance(ns);
	if (is_read && ns != 0)
		pfs_user_current()->readings++; /* a later one has another value */
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
	uint64_t now = BEGIN + advance(0);
	if ((flags & TIMER_ABSTIME) == 0)
		return pass(ns);
	return ns > now ? pass(ns - now) : 0;
}
