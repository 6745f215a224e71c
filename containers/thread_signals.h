/*
 * thread_signals.h - the signals of background threads, which inherit their creator's mask.
 *
 * Signals are the application's, so such a thread blocks them. A fault of its own is not: the
 * kernel ends a process whose thread blocks the signal of its fault, whatever handler there is.
 */
#ifndef PFS_THREAD_SIGNALS_H
#define PFS_THREAD_SIGNALS_H

#include <pthread.h>
#include <signal.h>

/* Before pthread_create. before: the caller's mask, to set again afterwards. */
static inline void pfs_thread_signals_block(sigset_t *before)
{
	static const int of_faults[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP };
	sigset_t all;
	(void)sigfillset(&all);
	for (size_t i = 0; i < sizeof(of_faults) / sizeof(of_faults[0]); i++)
		(void)sigdelset(&all, of_faults[i]);
	(void)pthread_sigmask(SIG_SETMASK, &all, before);
}

#endif
