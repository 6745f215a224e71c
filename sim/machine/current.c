#include "sim/machine/current.h"

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
	self->running = NULL;
	pfs_fiber_switch(&from->fiber, &self->caller);
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
	if (self->end != PFS_END_FAILED)
		(void)vsnprintf(self->message, sizeof(self->message), format, arguments);
	va_end(arguments);
	self->end = PFS_END_FAILED;
	pfs_current_quiet = 0; /* it ends where it stood, perhaps in a quiet part */
	if (self->running != NULL)
		pfs_current_leave(self, self->running);
	if (self->is_aside)
		pfs_fiber_switch(&self->aside, &self->caller);
}
