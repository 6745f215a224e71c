/*
 * profile_search.c - the command that searches every schedule of a small intern table, in which
 * equal keys must get one record. See docs/explanation/search-results.md.
 */
#include <stdio.h>
#include <string.h>

#include "memory/search/profile_world.h"

/* clang-format off */
static const struct scene {
	struct pfs_scene scene;
	uint32_t records; /* of each thread */
} scenes[] = {
	{ { "same", "a,a,a", "three threads add the same key" }, 4 },
	{ { "twice", "aa,aa", "two threads add a key and look it up again" }, 4 },
	{ { "collide", "ab,ba", "two keys that differ only in their records" }, 4 },
	{ { "neighbours", "cd,dc", "one key takes the other's slot" }, 4 },
	{ { "walk", "ac,cb,ba", "three keys in a row of slots" }, 4 },
	{ { "scarce", "ab,ba", "each thread has room for one record" }, 1 },
	{ .scene = { .name = NULL } },
};
/* clang-format on */

static void setup(struct pfs_machine *machine, void *context)
{
	struct pfs_profile_world *self = context;
	machine->setup.oracle = &self->oracle;
	machine->setup.oracle_bytes = sizeof(self->oracle);
	for (uint32_t at = 0; at < PFS_PROFILE_SLOTS; at++)
		pfs_store_relaxed(&self->slots[at], 0); /* relaxed: no other thread runs */
	memset(self->records, 0, sizeof(self->records));
	memset(&self->oracle, 0, sizeof(self->oracle));
	for (uint32_t id = 0; id < pfs_scene_threads(self->calls); id++) {
		struct pfs_profile_actor *actor = &self->oracle.actors[id];
		actor->id = id;
		(void)pfs_scene_calls_of(self->calls, id, actor->calls);
		(void)pfs_machine_spawn(machine, 0, pfs_profile_calls_body, actor);
	}
}

static void finish(struct pfs_machine *machine, void *context)
{
	(void)machine;
	pfs_profile_check(context);
}

static void choose(const struct pfs_scene *scene, const char *calls)
{
	pfs_profile_world.calls = calls != NULL ? calls : scene->calls;
	pfs_profile_world.records_each = ((const struct scene *)(const void *)scene)->records;
}

int main(int argc, char **argv)
{
	struct pfs_profile_world *world = &pfs_profile_world;
	/* clang-format off */
	const struct pfs_scene_command command = {
		.program = "profile_search",
		.letters = "Calls: a b c d look up a key, and add it if it is missing.\n",
		.scenes = scenes,
		.scene_bytes = sizeof(scenes[0]),
		.threads_max = PFS_PROFILE_THREADS_MAX,
		.choose = choose,
		.scenario = { .name = "profile", .setup = setup, .finish = finish,
			      .context = world },
		.machine = &world->machine,
		.sums = { { "found", &world->found }, { "made", &world->made },
			  { "dropped", &world->dropped } }
	};
	/* clang-format on */
	return pfs_scene_command(&command, argc, argv);
}
