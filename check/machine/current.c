#include "check/machine/current.h"

_Thread_local struct pfs_machine *pfs_current;
_Thread_local unsigned pfs_current_quiet;

struct pfs_machine *pfs_machine_current(void)
{
	return pfs_current;
}

void pfs_sim_quiet(void)
{
	pfs_current_quiet++;
}

void pfs_sim_loud(void)
{
	pfs_current_quiet--;
}

bool pfs_sim_is_quiet(void)
{
	return pfs_current_quiet != 0;
}

void pfs_current_leave(struct pfs_machine *self, struct pfs_vthread *from)
{
	self->run.running = NULL;
	pfs_fiber_switch(&from->fiber, &self->run.caller);
}
