/*
 * signals.c - the calls by which a program sets the action of a signal. Where a handler of the
 * library is in front (containers/action.h), it stays there, and passes on to the program's:
 * SIGSEGV from the first guarded block on (catch.c), and in libpfsmem.so SIGBUS (memory/box/cut.c).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>

#include "containers/action.h"
#include "next.h"

#define PUBLIC __attribute__((visibility("default")))

typedef void handler(int number);
typedef handler *signal_call(int number, handler *action);

PUBLIC int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	typedef int call(int, const struct sigaction *, struct sigaction *);
	static _Atomic(void *) known;
	struct pfs_action *front = pfs_action_of(number);
	if (front != NULL)
		return pfs_action_set(front, action, before);
	call *next = (call *)pfs_next("sigaction", &known);
	if (next != NULL)
		return next(number, action, before);
	errno = ENOSYS;
	return -1;
}

/* The action of signal and its variants, which differ in the flags. */
static handler *set(struct pfs_action *front, handler *action, int flags)
{
	struct sigaction before, after = { .sa_handler = action, .sa_flags = flags };
	(void)sigemptyset(&after.sa_mask);
	if ((flags & SA_NODEFER) == 0)
		(void)sigaddset(&after.sa_mask, front->number);
	return pfs_action_set(front, &after, &before) == 0 ? before.sa_handler : SIG_ERR;
}

static handler *call(const char *name, _Atomic(void *) *known, int number, handler *action)
{
	signal_call *next = (signal_call *)pfs_next(name, known);
	return next != NULL ? next(number, action) : SIG_ERR;
}

PUBLIC handler *signal(int number, handler *action)
{
	static _Atomic(void *) known;
	struct pfs_action *front = pfs_action_of(number);
	if (front != NULL)
		return set(front, action, SA_RESTART);
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
	struct pfs_action *front = pfs_action_of(number);
	if (front != NULL)
		return set(front, action, (int)(SA_RESETHAND | SA_NODEFER));
	return call("__sysv_signal", &known, number, action);
}

PUBLIC handler *sysv_signal(int number, handler *action)
{
	return __sysv_signal(number, action);
}
