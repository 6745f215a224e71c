/*
 * profile_search.c - equal things have one record, under every schedule, in small: the command. See
 * docs/explanation/search-results.md.
 */
#include <stdio.h>
#include <string.h>

#include "memory/search/profile_world.h"

static const struct scene {
	const char *name, *calls, *summary;
	uint32_t records; /* of each thread */
} scenes[] = {
	{ "same", "a,a,a", "three add the same", 4 },
	{ "twice", "aa,aa", "and look again", 4 },
	{ "collide", "ab,ba", "two that only their records tell apart", 4 },
	{ "neighbours", "cd,dc", "one takes the other's slot", 4 },
	{ "walk", "ac,cb,ba", "three in a row of slots", 4 },
	{ "scarce", "ab,ba", "each has room for one", 1 },
	{ .name = NULL },
};

static void setup(struct pfs_machine *machine, void *context)
{
	struct pfs_profile_world *self = context;
	machine->setup.oracle = &self->oracle;
	machine->setup.oracle_bytes = sizeof(self->oracle);
	for (uint32_t at = 0; at < PFS_PROFILE_SLOTS; at++)
		pfs_store_relaxed(&self->slots[at], 0); /* relaxed: nobody else is there */
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

static bool choose(const char *name, size_t length, const char *calls)
{
	const struct scene *at = scenes;
	while (at->name != NULL &&
	       (strlen(at->name) != length || strncmp(at->name, name, length) != 0))
		at++;
	if (at->name == NULL)
		return false;
	pfs_profile_world.calls = calls != NULL ? calls : at->calls;
	pfs_profile_world.records_each = at->records;
	return pfs_scene_threads(pfs_profile_world.calls) <= PFS_PROFILE_THREADS_MAX;
}

static void list(void)
{
	for (const struct scene *at = scenes; at->name != NULL; at++)
		(void)printf("  %-12s %-12s %s\n", at->name, at->calls, at->summary);
}

int main(int argc, char **argv)
{
	struct pfs_profile_world *world = &pfs_profile_world;
	/* clang-format off */
	const struct pfs_scene_command command = {
		.program = "profile_search",
		.letters = "Calls: a b c d look for a key, and add it.\n",
		.choose = choose,
		.list = list,
		.scenario = { .name = "profile", .setup = setup, .finish = finish,
			      .context = world },
		.machine = &world->machine,
		.sums = { { "found", &world->found }, { "made", &world->made },
			  { "dropped", &world->dropped } }
	};
	/* clang-format on */
	return pfs_scene_command(&command, argc, argv);
}
