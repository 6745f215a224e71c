#include "check/machine/current.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

void pfs_machine_fail(const char *format, ...)
{
	struct pfs_machine *self = pfs_current;
	va_list arguments;
	va_start(arguments, format);
	if (self == NULL) {
		(void)vfprintf(stderr, format, arguments);
		(void)fputc('\n', stderr);
		abort();
	}
	if (self->run.end != PFS_END_FAILED)
		(void)vsnprintf(self->run.message, sizeof(self->run.message), format, arguments);
	va_end(arguments);
	self->run.end = PFS_END_FAILED;
	pfs_current_quiet = 0; /* it ends where it stood, perhaps in a quiet part */
	if (self->run.running != NULL)
		pfs_current_leave(self, self->run.running);
	if (self->aside.is_on)
		pfs_fiber_switch(&self->aside.fiber, &self->run.caller);
}
