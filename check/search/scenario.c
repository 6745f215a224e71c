/*
 * scenario.c - one execution of a scenario.
 */
#include "check/search/method.h"

/* One half of a scenario, as pfs_machine_aside calls it. */
struct half {
	void (*call)(struct pfs_machine *machine, void *context);
	struct pfs_machine *machine;
	void *context;
};

static void call_half(void *opaque)
{
	const struct half *half = opaque;
	half->call(half->machine, half->context);
}

enum pfs_machine_end pfs_scenario_end(const struct pfs_scenario *scenario,
				      struct pfs_machine *machine)
{
	struct half half = { scenario->finish, machine, scenario->context };
	if (scenario->settle != NULL)
		scenario->settle(machine, scenario->context);
	if (machine->run.end == PFS_END_DEADLOCK && machine->run.message[0] == '\0')
		pfs_finding_waits(machine);
	machine->memory.hides = !machine->setup.hasty;
	if (machine->run.end == PFS_END_DONE && scenario->finish != NULL)
		pfs_machine_aside(machine, call_half, &half);
	return machine->run.end;
}

enum pfs_machine_end pfs_scenario_run(const struct pfs_scenario *scenario,
				      struct pfs_machine *machine, struct pfs_scheduler *scheduler)
{
	machine->hooks.name_address = scenario->name_address;
	machine->hooks.awaits = scenario->awaits;
	machine->hooks.name_context = scenario->context;
	pfs_machine_reset(machine);
	struct half half = { scenario->setup, machine, scenario->context };
	pfs_machine_aside(machine, call_half, &half);
	if (machine->run.end == PFS_END_DONE)
		(void)pfs_machine_run(machine, scheduler);
	return pfs_scenario_end(scenario, machine);
}
