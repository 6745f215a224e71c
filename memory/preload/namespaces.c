/*
 * namespaces.c - the calls that a process with two threads is refused: the library's own thread
 * does not count as one. It ends before the call and is started again after it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counter.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int unshare(int flags)
{
	bool was_there = pfs_ticker_pause();
	int result = (int)syscall(SYS_unshare, flags);
	pfs_ticker_resume(was_there);
	return result;
}

PUBLIC int setns(int file, int kind)
{
	bool was_there = pfs_ticker_pause();
	int result = (int)syscall(SYS_setns, file, kind);
	pfs_ticker_resume(was_there);
	return result;
}
