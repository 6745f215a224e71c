#define _GNU_SOURCE
#include "base/now.h"
#include "check/front/limit.h"

#include <time.h>

#include "check/machine/machine.h"

static struct {
	double time;
	bool is_setup, was_met;
} limit;

size_t pfs_limit_left = PFS_LIMIT_WORK;

double pfs_limit_now(void)
{
	return pfs_now_seconds(CLOCK_MONOTONIC);
}

void pfs_limit_set(double time)
{
	limit.time = time;
}

void pfs_limit_setup(bool runs)
{
	limit.is_setup = runs;
}

bool pfs_limit_was_met(void)
{
	bool was_met = limit.was_met;
	limit.was_met = false;
	return was_met;
}

/* Not in the final check: what it finds counts. */
void pfs_limit_look(void)
{
	const struct pfs_machine *machine = pfs_machine_current();
	pfs_limit_left = PFS_LIMIT_WORK;
	if (limit.time <= 0 || machine == NULL ||
	    (machine->run.running == NULL && !limit.is_setup) || pfs_limit_now() < limit.time)
		return;
	limit.was_met = true;
	pfs_machine_fail("--seconds are over");
}
