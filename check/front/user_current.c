/*
 * user_current.c - the threads of the checked program, and which of them runs.
 */
#include "check/front/thread_local.h"
#include "check/front/user.h"

struct pfs_user pfs_user;

void pfs_user_close(void)
{
	void (*close)(void) = pfs_user.closes;
	pfs_user.closes = NULL;
	close();
}

void pfs_user_arrive(void)
{
	pfs_tls_switch(pfs_user_current()->id);
}
