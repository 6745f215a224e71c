/*
 * rack_search.c - the command that searches every schedule of the allocator's racks, also for
 * threads that loop forever. See docs/explanation/search-results.md.
 */
#include <stdio.h>
#include <string.h>

#include "memory/search/rack_world.h"

struct pfs_rack_world pfs_rack_world;
struct pfs_registry pfs_registry;
struct pfs_conf pfs_conf;

/* clang-format off */
static const struct pfs_rack_scene scenes[] = {
	{ { "tick", "fMfM,kk", "a tick empties a rack that its owner uses" }, "S", "M", false, 0 },
	{ { "group", "ffmm,kk", "the same with two slots" }, "ss", "mm", false, 0 },
	{ { "turn", "fff,K", "a full rack: its owner replaces a block" }, "sss", "mmm", false, 0 },
	{ { "sizes", "fffM,k", "a larger block replaces two" }, "ssS", "mmM", false, 0 },
	{ { "slots", "ffff,K", "a rack without an empty slot" }, "ssss", "mmmm", false, 1 << 20 },
	{ { "seen", "f,k,K", "one tick marks a block, and another thread empties the slot" }, "S",
	  "M", false, 0 },
	{ { "two", "fM,K,b", "two threads empty a rack that its owner uses" }, "S", "M", false, 0 },
	{ { "back", "fM,M", "another thread takes new memory" }, "SS", "M", false, 0 },
	{ { "ends", "fxM,K", "the thread ends, and a new one has its cache" }, "S", "M", false, 0 },
	{ { "ended", "fx,k,b", "the same with two threads that empty it" }, "S", "M", false, 0 },
	{ { "bound", "fam,Kb", "the thread is bound to another arena" }, "s", "m", false, 0 },
	{ { "flush", "flM,kK", "its owner empties it as well" }, "S", "M", false, 0 },
	/* Threads that loop forever. */
	{ { "loop", "mf,kK", "an owner; ticks" }, "ss", "", true, 0 },
	{ { "loop_one", "Mfl,kK", "one block, and flushes" }, "S", "", true, 0 },
	{ { "loop_sizes", "mMf,k", "blocks of two sizes" }, "sS", "", true, 0 },
	{ { "loop_ends", "Mfx,kb", "the thread ends and starts" }, "S", "", true, 0 },
	{ { "loop_bound", "Mfa,kK", "it changes its arena, and back" }, "S", "", true, 0 },
	{ { "loop_two", "Mf,k,b", "two threads empty the rack" }, "S", "", true, 0 },
	{ { "loop_back", "Mf,Mf", "two owners, and blocks for one" }, "S", "", true, 0 },
	{ .scene = { .name = NULL } },
};
/* clang-format on */

static struct pfs_rack_scene scene;

static void make_blocks(struct pfs_rack_world *self)
{
	size_t count = strlen(self->scene->blocks);
	for (uint32_t arena = 0; arena < PFS_RACK_ARENAS; arena++) {
		for (size_t at = 0; at < count; at++) {
			uint32_t number = (uint32_t)(arena * PFS_RACK_BLOCKS_MAX + at);
			struct pfs_extent *extent = &self->extents[number];
			extent->base = (number + (uintptr_t)1) * PFS_RACK_MOST;
			extent->request_bytes = self->scene->blocks[at] == 'S' ? PFS_RACK_MOST
									       : PFS_RACK_MOST / 2;
			/* relaxed, both: no other thread runs */
			pfs_store_relaxed(&extent->arena, &self->arenas[arena]);
			pfs_store_relaxed(&extent->kind, (uint32_t)PFS_EXTENT_DIRTY);
			self->oracle.at[number] = PFS_RACK_FREE;
		}
	}
}

static void setup(struct pfs_machine *machine, void *context)
{
	struct pfs_rack_world *self = context;
	machine->setup.oracle = &self->oracle;
	machine->setup.oracle_bytes = sizeof(self->oracle);
	machine->setup.free_yields = self->scene->loops;
	machine->hooks.check = pfs_rack_check;
	machine->hooks.check_context = self;
	memset((void *)self, 0, offsetof(struct pfs_rack_world, scene));
	memset((void *)&pfs_registry, 0, sizeof(pfs_registry));
	pfs_mutex_init(&pfs_registry.lock);
	for (uint32_t arena = 0; arena < PFS_RACK_ARENAS; arena++) {
		self->arenas[arena].number = arena;
		pfs_mutex_init(&self->arenas[arena].extents.lock);
		pfs_arena_set_decay_ms(&self->arenas[arena], PFS_EXTENT_DIRTY, -1);
	}
	make_blocks(self);
	for (uint32_t id = 0; id < pfs_scene_threads(self->calls); id++) {
		struct pfs_rack_actor *actor = &self->oracle.actors[id];
		actor->id = id;
		self->own[id] = &self->caches[0];
		self->aside = id;
		(void)pfs_scene_calls_of(self->scene->before, id, actor->calls);
		pfs_rack_calls_make(actor, actor->calls);
		(void)pfs_scene_calls_of(self->calls, id, actor->calls);
		(void)pfs_machine_spawn(machine, 0, pfs_rack_calls_body, actor);
	}
	self->aside = 0;
}

static void finish(struct pfs_machine *machine, void *context)
{
	(void)machine;
	pfs_rack_check_emptied(context);
}

/* Of caches what follows the rings, and of arenas what racks use. */
static void keep(struct pfs_machine_snapshot *snapshot, void *context)
{
	struct pfs_rack_world *self = context;
	pfs_snapshot_put(snapshot, self->extents, offsetof(struct pfs_rack_world, caches));
	pfs_snapshot_put(snapshot, &pfs_registry.lock, sizeof(pfs_registry.lock));
	for (uint32_t at = 0; at <= PFS_RACK_THREADS_MAX; at++)
		pfs_snapshot_put(snapshot, &self->caches[at].arena,
				 sizeof(self->caches[at]) - offsetof(struct pfs_cache, arena));
	for (uint32_t at = 0; at < PFS_RACK_ARENAS; at++) {
		struct pfs_arena *arena = &self->arenas[at];
		pfs_snapshot_put(snapshot, arena, offsetof(struct pfs_arena, extents));
		pfs_snapshot_put(snapshot, &arena->extents.lock, sizeof(arena->extents.lock));
	}
}

/* ---- the command ---- */

static bool name(void *context, const void *address, char *to, size_t bytes)
{
	const struct pfs_rack_world *self = context;
	for (uint32_t id = 0; id < PFS_RACK_THREADS_MAX; id++) {
		const char *rack = (const char *)self->racks[1 + id].slots;
		size_t offset = (size_t)((const char *)address - rack);
		if ((const char *)address < rack || offset >= sizeof(self->racks[0].slots))
			continue;
		(void)snprintf(to, bytes, "cache[%u].rack[%zu]", id, offset / sizeof(uint64_t));
		return true;
	}
	bool is_registry = address == &pfs_registry.lock;
	if (is_registry)
		(void)snprintf(to, bytes, "registry");
	return is_registry;
}

/* clang-format off */
static struct pfs_scene_command command = {
	.program = "rack_search",
	.letters = "Calls: m M malloc of 128, of 256 KiB; f free; l empty its own rack;\n"
		   "k a tick of thread 0's rack; K a tick that empties it; b an arena takes new "
		   "memory;\n"
		   "a the thread is bound to the other arena; x it ends.\n",
	.scenes = scenes,
	.scene_bytes = sizeof(scenes[0]),
	.threads_max = PFS_RACK_THREADS_MAX,
	.scenario = { .name = "rack", .setup = setup, .finish = finish, .keep = keep,
		      .context = &pfs_rack_world, .name_address = name },
	.machine = &pfs_rack_world.machine,
	.sums = { { "from racks", &pfs_rack_world.takes },
		  { "new", &pfs_rack_world.new },
		  { "back", &pfs_rack_world.ended } }
};
/* clang-format on */

static void choose(const struct pfs_scene *chosen, const char *calls)
{
	scene = *(const struct pfs_rack_scene *)(const void *)chosen;
	pfs_rack_world.scene = &scene;
	pfs_rack_world.calls = calls != NULL ? calls : chosen->calls;
	command.scenario.is_endless = scene.loops;
}

int main(int argc, char **argv)
{
	command.choose = choose;
	return pfs_scene_command(&command, argc, argv);
}
