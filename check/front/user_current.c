/*
 * user_current.c - the threads of the checked program, and which of them runs.
 */
#include "check/front/thread_local.h"
#include "check/front/user.h"

struct pfs_user pfs_user;

struct pfs_user_thread *pfs_user_current(void)
{
	const struct pfs_machine *machine = pfs_user.machine;
	uint32_t id = PFS_USER_THREADS_MAX;
	if (__builtin_expect(pfs_user.closes != NULL, 0)) {
		void (*close)(void) = pfs_user.closes;
		pfs_user.closes = NULL;
		close();
	}
	if (machine != NULL && machine->run.running != NULL)
		id = machine->run.running->id;
	return &pfs_user.threads[id];
}

void pfs_user_arrive(void)
{
	pfs_tls_switch(pfs_user_current()->id);
}
