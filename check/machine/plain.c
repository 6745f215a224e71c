#include "check/machine/plain.h"

#include <stddef.h>

#include "check/machine/current.h"
#include "check/machine/host.h"

bool pfs_plain_is_seen(void)
{
#ifdef PFS_SIM_PLAIN
	return true;
#else
	return false;
#endif
}

/* In a sanitizer's build these names belong to the sanitizer. */
#ifdef PFS_SIM_PLAIN
static inline void report(const void *address, size_t size_bytes, bool writes, const void *code)
{
	if (pfs_current_quiet != 0)
		return;
	struct pfs_machine *machine = pfs_current;
	if (machine == NULL || machine->hooks.plain == NULL || machine->run.running == NULL ||
	    (!writes && machine->setup.only_writes))
		return;
	const struct pfs_fiber *fiber = &machine->run.running->fiber;
	if ((uintptr_t)address - (uintptr_t)fiber->stack < fiber->stack_bytes)
		return;
	struct pfs_plain access = { address, code, (uint32_t)size_bytes, writes };
	machine->hooks.plain(machine, &access);
}

#define PFS_PLAIN_REPORT report
#include "check/machine/plain_entries.h"

void __tsan_init(void) {}

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void) {}
#endif
