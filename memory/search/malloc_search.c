/*
 * malloc_search.c - the protocols of the allocator under every schedule, in small: the command.
 * See docs/explanation/search-results.md.
 */
#include <stdio.h>
#include <string.h>

#include "memory/search/malloc_world.h"
#include "memory/search/scene_command.h"
#include "sim/seams/seams.h"

#define OWNER_KEPT 99u

#define ONE PFS_MALLOC_ONE
#define TWO PFS_MALLOC_TWO
#define PAGES PFS_MALLOC_PAGES
#define FOUR PFS_MALLOC_FOUR
static const struct pfs_malloc_scene scenes[] = {
	/* Words, and what tells of them. */
	{ "word", TWO, "01", "", "gtgt,gtgt", "regions of one word", 0, true, false },
	{ "words", FOUR, "0-1-", "", "gtgt,gtgt", "of neighbouring words", 0, true, false },
	{ "words3", FOUR, "012-", "", "gt,gt,gt", "three threads", 0, true, false },
	{ "slabs", ONE, "01", "", "gt,gt,t", "of slabs that come and end", 0, false, false },
	{ "empty", ONE, "01", "", "gtg,gt", "a new slab, and a region is given", 0, false, false },
	{ "spare", ONE, "01", "", "gtgk,gtg", "and the spare slab ends", 0, false, false },
	{ "groups", ONE, "0-1-", "", "gttg,gtg", "of two groups", 0, false, false },
	{ "last_bit", ONE, ".-0---1-", "k,", "gtt,gtg", "behind one bit", 0, false, false },
	{ "late", TWO, "01", "", "g,gkTg", "late hints", 0, false, false },
	{ "late3", TWO, "01", "", "g,gk,tt", "two takers", 0, false, false },
	{ "pages", PAGES, "0011", "", "GkT,GT", "of slabs of three pages", 0, false, false },
	/* Rings. */
	{ "ring", TWO, "00-1", "ff,", "mfmf,tt", "a ring is taken back", 4, false, true },
	{ "fills", TWO, "0000", "ff,", "mmfm,t", "its front is filled twice", 4, false, true },
	{ "ring3", TWO, "00-1", "ff,", "mf,t,t", "by two threads", 3, false, true },
	{ "idle", TWO, "00-1", "ff,", "mfm,rt", "a tick takes all rings", 4, false, true },
	{ "both", TWO, "00-1", "ff,", "m,r,t", "a tick, and who needs a region", 3, false, true },
	{ "flush", TWO, "00-1", "ff,", "lmf,t", "its owner empties it", 3, false, true },
	{ "full", TWO, "0000", "f,", "fmf,t", "a ring of one, which overflows", 1, false, true },
	{ "grows", FOUR, "0000", "ff,", "fmm,t", "a ring that grows", 15, false, true },
	{ "first", TWO, "00-1", "", "ffm,t", "its thread has no cache yet", 3, false, true },
	{ "stock", TWO, "0000", "ff,", "ffm,tk", "it overflows to the stock", 2, false, true },
	{ "ticks", TWO, "0000", "ff,", "ffm,eee", "and ticks empty that", 2, false, true },
	{ "refill", TWO, "0000", "ffff,", "mmmmm,ee", "and a refill wants it", 2, false, true },
	{ "arenas", TWO, "0a0a11", "f,f", "fff,mm,ee", "blocks of two arenas", 2, false, true },
	{ "ends", TWO, "00-1", "ff,", "mx,tg", "its thread ends", 3, false, true },
	{ "ticked", TWO, "00-1", "ff,", "mx,r", "and a tick comes", 3, false, true },
	/* The page map. */
	{ "root", ONE, "", "", "p,p,p", "threads want one leaf of the page map", 0, true, false },
	{ .name = NULL },
};

static struct session {
	struct pfs_malloc_scene scene;
	uint64_t barriers; /* the so many-th fails, and all after it; 0: none does */
} session;

/* ---- set-up and end ---- */

static uint32_t owner_of(char letter)
{
	return (uint32_t)(letter >= 'a' ? letter - 'a' : letter - '0') & 3;
}

/* Of two: as the number of a thread. */
static uint32_t arena_of(char letter)
{
	bool is_owned = letter != '.' && letter != '-';
	return is_owned ? (owner_of(letter) + (letter >= 'a')) % 2 : 0;
}

/* All first slabs' regions, each to who has it at first. */
static void deal(struct pfs_malloc_world *self)
{
	const char *blocks = self->scene->blocks;
	size_t count = strlen(blocks);
	void *all[PFS_MALLOC_BLOCKS_MAX], *free[PFS_MALLOC_BLOCKS_MAX];
	uint32_t free_count = 0;
	for (size_t at = 0; at < count; at++) {
		struct pfs_bin *bin = pfs_malloc_thread_bin(self, arena_of(blocks[at]));
		PFS_MACHINE_CHECK(pfs_bin_take(bin, &all[at], 1) == 1, "set-up: no block");
	}
	for (size_t at = 0; at < count; at++) {
		struct pfs_malloc_thread *thread = &self->oracle.threads[owner_of(blocks[at])];
		if (blocks[at] == '.') {
			free[free_count++] = all[at];
			continue;
		}
		uint32_t id = pfs_malloc_block_id(all[at]);
		self->oracle.owner[id] = blocks[at] == '-' ? OWNER_KEPT : 1 + thread->id;
		self->stamps[id] = self->oracle.owner[id];
		if (blocks[at] != '-')
			thread->owned[thread->owned_count++] = all[at];
	}
	/* What told of room is clear, at every level. */
	for (uint32_t arena = 0; arena < pfs_arena_count(); arena++)
		(void)pfs_bin_slab_with_room(pfs_malloc_world_bin_of(self, arena));
	pfs_blocks_give(free, free_count, "free");
}

static void setup(struct pfs_machine *machine, void *context)
{
	struct pfs_malloc_world *self = context;
	uint32_t threads = pfs_scene_threads(self->calls);
	machine->setup.oracle = &self->oracle;
	machine->setup.oracle_bytes = sizeof(self->oracle);
	pfs_malloc_world_reset(self);
	pfs_seams_barriers = session.barriers != 0 ? (uint32_t)session.barriers
						   : PFS_SEAMS_BARRIERS_ALWAYS;
	for (uint32_t id = 0; id < PFS_MALLOC_THREADS_MAX; id++)
		self->oracle.threads[id].id = id;
	deal(self);
	for (uint32_t id = 0; id < threads; id++) {
		struct pfs_malloc_thread *thread = &self->oracle.threads[id];
		self->oracle.aside = id;
		(void)pfs_scene_calls_of(self->scene->before, id, thread->calls);
		pfs_malloc_calls_make(thread, thread->calls);
	}
	self->oracle.aside = 0;
	self->oracle.slabs_before = pfs_malloc_world_bin(self)->slabs_made;
	for (uint32_t id = 0; id < threads; id++) {
		struct pfs_malloc_thread *thread = &self->oracle.threads[id];
		(void)pfs_scene_calls_of(self->calls, id, thread->calls);
		(void)pfs_machine_spawn(machine, 0, pfs_malloc_calls_body, thread);
	}
}

static void finish(struct pfs_machine *machine, void *context)
{
	struct pfs_malloc_world *self = context;
	const struct pfs_bin *bin = pfs_malloc_world_bin(self);
	(void)machine;
	self->slabs_made += bin->slabs_made - self->oracle.slabs_before;
	self->slabs_ended += bin->slabs_ended;
	for (struct pfs_cache *at = pfs_registry.oldest; at != NULL; at = at->next)
		self->taken_back += pfs_ring_is_revoked(&at->rings[self->scene->class]);
	pfs_malloc_check(self);
	pfs_malloc_map_check(pfs_scene_threads(self->calls));
	pfs_malloc_check_ticks(self);
}

/* The searches by states know all that is checked. */
static void leave(struct pfs_machine *machine, void *context)
{
	(void)machine, (void)context;
}

/* ---- the command ---- */

/* The scene of a name, with other calls if it says some; false: none. */
static bool choose(const char *name, size_t length, const char *calls)
{
	static struct pfs_malloc_scene *scene = &session.scene;
	const struct pfs_malloc_scene *at = scenes;
	while (at->name != NULL &&
	       (strlen(at->name) != length || strncmp(at->name, name, length) != 0))
		at++;
	if (at->name == NULL)
		return false;
	*scene = *at;
	if (calls != NULL) {
		scene->calls = calls;
		scene->grows_not = false; /* is said of the scene's own calls */
	}
	pfs_malloc_world.scene = scene;
	pfs_malloc_world.calls = scene->calls;
	pfs_malloc_world.arena_count = strpbrk(scene->blocks, "ab") != NULL ? 2 : 1;
	return pfs_scene_threads(scene->calls) <= PFS_MALLOC_THREADS_MAX;
}

static void list(void)
{
	for (const struct pfs_malloc_scene *at = scenes; at->name != NULL; at++)
		(void)printf("  %-10s %-10s %s\n", at->name, at->calls, at->summary);
}

int main(int argc, char **argv)
{
	struct pfs_malloc_world *world = &pfs_malloc_world;
	/* clang-format off */
	const struct pfs_scene_command command = {
		.program = "malloc_search",
		.letters = "Calls: t T take one, two regions past the rings; g G give one, two;\n"
			   "m f malloc and free; b take other threads' rings; r a tick takes all "
			   "rings;\n"
			   "k the spare slab ends; e a tick of the bin; l flush the own rings;\n"
			   "x the thread ends; p a leaf of the page map.\n",
		.choose = choose,
		.list = list,
		.scenario = { .name = "malloc", .setup = setup, .finish = finish, .context = world,
			      .name_address = pfs_malloc_world_name,
			      .known = pfs_malloc_world_known, .leave = leave,
			      .keep = pfs_malloc_world_keep },
		.machine = &world->machine,
		.sums = { { "slabs made", &world->slabs_made },
			  { "ended", &world->slabs_ended },
			  { "rings taken back", &world->taken_back } },
		.option = "lost-barrier",
		.option_help = "the N-th heavy barrier fails, and all after it",
		.option_value = &session.barriers
	};
	/* clang-format on */
	return pfs_scene_command(&command, argc, argv);
}
