#define _GNU_SOURCE
#include "check/front/signals.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "check/front/refuse.h"
#include "check/front/user.h"

#define TICKS 8 /* of the patience */

static struct {
	uint64_t seen;  /* executions and steps, at the last tick */
	uint32_t ticks; /* since they changed */
	double patience;
} watch;

static const char *name_of(int signal_number)
{
	switch (signal_number) {
	case SIGILL: return "a trap, or an illegal instruction";
	case SIGTRAP: return "a trap";
	case SIGFPE: return "an arithmetic fault, such as a division by zero";
	default: return strsignal(signal_number);
	}
}

static void on_fault(int signal_number)
{
	if (pfs_user_runs())
		pfs_user_fail(PFS_FOUND_FAILURE, name_of(signal_number));
	(void)signal(signal_number, SIG_DFL); /* our own: fault again */
}

/* libc found its own state in disorder, as in a double free of what it allocated itself. */
static void on_abort(int signal_number)
{
	(void)signal(signal_number, SIG_DFL);
	pfs_refuse_now("it used a function of libc that is not modelled, or overwrote memory that "
		       "it does not own",
		       "has libc abort");
}

bool pfs_check_timer_start(int timer, double tick)
{
	struct itimerval value = { .it_interval = { .tv_sec = (time_t)tick } };
	value.it_interval.tv_usec = (suseconds_t)((tick - (double)(time_t)tick) * 1e6);
	value.it_value = value.it_interval;
	return setitimer((__itimer_which_t)timer, &value, NULL) == 0;
}

static bool start(double patience)
{
	return pfs_check_timer_start(ITIMER_VIRTUAL, patience / TICKS);
}

static void on_tick(int signal_number)
{
	const struct pfs_machine *machine = pfs_user.machine;
	(void)signal_number;
	if (!pfs_user_runs())
		return;
	uint64_t now = pfs_user.executions * UINT64_C(0x9E3779B97F4A7C15) + machine->run.step_count;
	watch.ticks = now == watch.seen ? watch.ticks + 1 : 0;
	watch.seen = now;
	if (watch.ticks == TICKS) {
		pfs_user.is_late = 1; /* the next plain access reports it, where that is safe */
		/* It will happen again where the schedule is shortened and shown. */
		(void)start(watch.patience / TICKS);
	} else if (watch.ticks > TICKS) {
		pfs_user_fail_late(); /* there was no plain access; none of our code is active */
	}
}

/* As the machine's own signals: on a separate stack, and left by a switch of fibers. */
static bool take(int signal_number, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };
	action.sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART;
	return sigaction(signal_number, &action, NULL) == 0;
}

bool pfs_check_signals_begin(double patience)
{
	watch.patience = patience;
	return take(SIGABRT, on_abort) && take(SIGILL, on_fault) && take(SIGTRAP, on_fault) &&
	       take(SIGFPE, on_fault) && take(SIGVTALRM, on_tick) &&
	       (patience <= 0 || start(patience));
}

void pfs_check_signals_forked(void)
{
	if (watch.patience > 0)
		(void)start(watch.patience);
}
