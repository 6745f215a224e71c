/*
 * idle.c - see idle.h. Threads of a program are modelled, so a call that sleeps for one of them (a
 * read of a pipe that another should fill, a futex inside a library) sleeps for all.
 */
#define _GNU_SOURCE
#include "base/now.h"
#include "check/front/idle.h"

#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "check/front/places.h"
#include "check/front/refuse.h"
#include "check/front/signals.h"
#include "check/front/user.h"

#define TICKS 8   /* of the patience */
#define BUSY 0.01 /* with less of a tick as CPU time the process slept */

static struct {
	double tick, processor;
	uint64_t seen;  /* executions and steps, at the last tick */
	uint32_t ticks; /* slept through */
} idle;

static void on_alarm(int signal_number)
{
	const struct pfs_machine *machine = pfs_user.machine;
	double processor = pfs_now_seconds(CLOCK_PROCESS_CPUTIME_ID);
	(void)signal_number;
	bool is_of_program = pfs_user_runs() && !pfs_places_are_asked();
	uint64_t now = pfs_user.executions * UINT64_C(0x9E3779B97F4A7C15) +
		       (machine != NULL ? machine->run.step_count : 0);
	bool slept = is_of_program && now == idle.seen &&
		     processor - idle.processor < BUSY * idle.tick;
	idle.ticks = slept ? idle.ticks + 1 : 0;
	idle.seen = now;
	idle.processor = processor;
	if (idle.ticks == TICKS)
		pfs_refuse_now("leave the call out of the scenario",
			       "sleeps in a call that is not modelled"); /* none of our code is
									  * active */
}

bool pfs_check_idle_begin(double patience)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART };
	idle.tick = patience / TICKS;
	return patience <= 0 || (sigaction(SIGALRM, &action, NULL) == 0 &&
				 pfs_check_timer_start(ITIMER_REAL, idle.tick));
}

void pfs_check_idle_forked(void)
{
	idle.ticks = 0;
	(void)pfs_check_idle_begin(idle.tick * TICKS);
}
