/*
 * catch.c - handles SIGSEGV.
 */
#define _GNU_SOURCE
#include "catch.h"

#include <errno.h>
#include <ucontext.h>

#include "containers/action.h"
#include "corruption.h"

static struct pfs_action front PFS_SELDOM; /* of SIGSEGV */

#if defined(__x86_64__)
#define WRITES 2 /* bit of the page fault's error code */
#define CODE(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RIP])
#define ACCESS(context) \
	(((context)->uc_mcontext.gregs[REG_ERR] & WRITES) != 0 ? PFS_ACCESS_WRITE : PFS_ACCESS_READ)
#elif defined(__aarch64__)
#define CODE(context) ((uintptr_t)(context)->uc_mcontext.pc)
#define ACCESS(context) PFS_ACCESS_ANY
#else
#define CODE(context) ((uintptr_t)0)
#define ACCESS(context) PFS_ACCESS_ANY
#endif

static void on_fault(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	int errno_before = errno;
	if (info->si_code == SEGV_ACCERR)
		(void)pfs_corruption_accessed((uintptr_t)info->si_addr, CODE(at), ACCESS(at));
	errno = errno_before;
	pfs_action_pass_on(&front, number, info, context);
}

void pfs_catch_begin(void)
{
	pfs_action_begin(&front, SIGSEGV, on_fault);
}

void pfs_catch_child(void)
{
	pfs_action_child(&front);
}
