/*
 * signals.c - the calls by which a program sets its action for SIGBUS. The library's handler stays
 * in front, for a truncated box (memory/box/cut.h), and passes everything else on to the program's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "counter.h"
#include "memory/box/cut.h"
#include "memory/malloc/next.h"

#define PUBLIC __attribute__((visibility("default")))

typedef void handler(int number);
typedef handler *signal_call(int number, handler *action);

static int system_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	static _Atomic(void *) known;
	pfs_cut_sigaction *next = (pfs_cut_sigaction *)pfs_next("sigaction", &known);
	if (next != NULL)
		return next(number, action, before);
	errno = ENOSYS;
	return -1;
}

void pfs_signals_start(void)
{
	pfs_cut_system = system_sigaction;
}

PUBLIC int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	if (number == SIGBUS && pfs_cut_handles())
		return pfs_cut_action(action, before);
	return system_sigaction(number, action, before);
}

/* The action of signal and its variants, which differ in the flags. */
static handler *set(handler *action, int flags)
{
	struct sigaction before, after = { .sa_handler = action, .sa_flags = flags };
	(void)sigemptyset(&after.sa_mask);
	if ((flags & SA_NODEFER) == 0)
		(void)sigaddset(&after.sa_mask, SIGBUS);
	return pfs_cut_action(&after, &before) == 0 ? before.sa_handler : SIG_ERR;
}

static handler *call(const char *name, _Atomic(void *) *known, int number, handler *action)
{
	signal_call *next = (signal_call *)pfs_next(name, known);
	return next != NULL ? next(number, action) : SIG_ERR;
}

PUBLIC handler *signal(int number, handler *action)
{
	static _Atomic(void *) known;
	if (number == SIGBUS && pfs_cut_handles())
		return set(action, SA_RESTART);
	return call("signal", &known, number, action);
}

signal_call bsd_signal; /* gone from POSIX, and from headers */

PUBLIC handler *bsd_signal(int number, handler *action)
{
	return signal(number, action);
}

PUBLIC handler *ssignal(int number, handler *action)
{
	return signal(number, action);
}

signal_call __sysv_signal; /* NOLINT: glibc's name, which strict ISO C programs call as signal */

PUBLIC handler *__sysv_signal(int number, handler *action)
{
	static _Atomic(void *) known;
	if (number == SIGBUS && pfs_cut_handles())
		return set(action, (int)(SA_RESETHAND | SA_NODEFER));
	return call("__sysv_signal", &known, number, action);
}

PUBLIC handler *sysv_signal(int number, handler *action)
{
	return __sysv_signal(number, action);
}
