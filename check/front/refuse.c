#define _GNU_SOURCE
#include "check/front/refuse.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/command_line.h"
#include "check/front/compile.h"
#include "check/front/json.h"
#include "check/front/user.h"
#include "check/front/warn.h"
#include "check/machine/trace.h"

static const char *program_name = "the program";

void pfs_refuse_begin(const char *program)
{
	program_name = program;
}

void pfs_refuse_now(const char *advice, const char *what, ...)
{
	const struct pfs_machine *machine = pfs_user.machine;
	const struct pfs_vthread *running = machine != NULL ? machine->run.running : NULL;
	char who[64] = "a constructor of a global", text[256];
	va_list values;
	va_start(values, what);
	(void)vsnprintf(text, sizeof(text), what, values);
	va_end(values);
	if (running != NULL)
		(void)snprintf(who, sizeof(who), "thread %u", running->id);
	else if (pfs_user_runs())
		(void)snprintf(who, sizeof(who), "the set-up or final check");
	if (ftrylockfile(stdout) == 0)
		(void)fflush(stdout);
	pfs_warn("%s: %s %s%s%s: %s", program_name, who, text, running != NULL ? ", " : "",
		 running != NULL ? pfs_trace_after(running->pending.place) : "", advice);
	(void)pfs_check_json_end(PFS_EXIT_WRONG_USE);
	pfs_compile_end();
	_exit(PFS_EXIT_WRONG_USE);
}
