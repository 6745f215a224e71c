/*
 * slots_search.c - the command that searches every schedule of the memory of rings' slots. See
 * docs/explanation/search-results.md.
 */
#include <stdio.h>
#include <string.h>

#include "memory/search/slots_world.h"

struct pfs_slots_world pfs_slots_world;

/* clang-format off */
static const struct pfs_slots_scene scenes[] = {
	{ { "purge", "nf,p", "a purge, while a thread takes a piece" }, "nf", false },
	{ { "twice", "nf,p,p", "two threads purge" }, "nf", false },
	{ { "several", "ffn,pp,c", "two chunks; what a forked child finds" }, "nn,nnff", false },
	{ { "full", "fnf,fn,p", "chunks become full and empty" }, "nn,nn", false },
	{ { "alone", "naf,ofn,p", "the last thread but one ends; others start" }, "n,n", false },
	/* Threads that loop forever. */
	{ { "loop", "nf,pc", "pieces come and go; purges" }, "", true },
	{ { "loop_purge", "nf,p,p", "two threads purge" }, "", true },
	{ .scene = { .name = NULL } },
};
/* clang-format on */

static struct pfs_slots_scene scene;

static void setup(struct pfs_machine *machine, void *context)
{
	struct pfs_slots_world *self = context;
	machine->setup.oracle = &self->oracle;
	machine->setup.oracle_bytes = sizeof(self->oracle);
	machine->setup.free_yields = self->scene->loops;
	memset((void *)self, 0, offsetof(struct pfs_slots_world, scene));
	pfs_slots_reset();
	for (uint32_t id = 0; id < pfs_scene_threads(self->calls); id++) {
		struct pfs_slots_actor *actor = &self->oracle.actors[id];
		actor->id = id;
		if (pfs_scene_calls_of(self->scene->before, id, actor->calls))
			pfs_slots_calls_make(actor, actor->calls);
		(void)pfs_scene_calls_of(self->calls, id, actor->calls);
		(void)pfs_machine_spawn(machine, 0, pfs_slots_body, actor);
	}
}

static void finish(struct pfs_machine *machine, void *context)
{
	(void)machine, (void)context;
	pfs_slots_check_purged();
}

static void keep(struct pfs_machine_snapshot *snapshot, void *context)
{
	(void)context;
	pfs_slots_keep(snapshot);
}

static bool name(void *context, const void *address, char *to, size_t bytes)
{
	(void)context;
	bool is_registry = address == &pfs_registry.lock;
	if (is_registry)
		(void)snprintf(to, bytes, "registry");
	return is_registry;
}

/* clang-format off */
static struct pfs_scene_command command = {
	.program = "slots_search",
	.letters = "Calls: n take a piece; f free one; p purge; c check what a child would find;\n"
		   "a the other threads have ended; o there are others.\n",
	.scenes = scenes,
	.scene_bytes = sizeof(scenes[0]),
	.threads_max = PFS_SLOTS_THREADS_MAX,
	.scenario = { .name = "slots", .setup = setup, .finish = finish, .keep = keep,
		      .context = &pfs_slots_world, .name_address = name },
	.machine = &pfs_slots_world.machine,
	.sums = { { "pieces", &pfs_slots_world.taken }, { "purged", &pfs_slots_world.purged } }
};
/* clang-format on */

static void choose(const struct pfs_scene *chosen, const char *calls)
{
	scene = *(const struct pfs_slots_scene *)(const void *)chosen;
	pfs_slots_world.scene = &scene;
	pfs_slots_world.calls = calls != NULL ? calls : chosen->calls;
	command.scenario.is_endless = scene.loops;
}

int main(int argc, char **argv)
{
	command.choose = choose;
	return pfs_scene_command(&command, argc, argv);
}
