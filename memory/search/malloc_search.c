/*
 * malloc_search.c - the command that searches every schedule of the allocator's protocols at small
 * sizes. See docs/explanation/search-results.md.
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
/* clang-format off */
static const struct pfs_malloc_scene scenes[] = {
	/* Words, and the hints that lead to them. */
	{ { "word", "gtgt,gtgt", "regions of one word" }, TWO, "01", "", 0, true, false },
	{ { "words", "gtgt,gtgt", "the same with neighbouring words" }, FOUR, "0-1-", "", 0, true,
	  false },
	{ { "words3", "gt,gt,gt", "three threads" }, FOUR, "012-", "", 0, true, false },
	{ { "slabs", "gt,gt,t", "slabs are added and end" }, ONE, "01", "", 0, false, false },
	{ { "empty", "gtg,gt", "a slab is added while a region is freed" }, ONE, "01", "", 0, false,
	  false },
	{ { "spare", "gtgk,gtg", "the same, and the spare slab ends" }, ONE, "01", "", 0, false,
	  false },
	{ { "groups", "gttg,gtg", "slabs of two groups" }, ONE, "0-1-", "", 0, false, false },
	{ { "last_bit", "gtt,gtg", "groups that share one bit" }, ONE, ".-0---1-", "k,", 0, false,
	  false },
	{ { "late", "g,gkTg", "late hints" }, TWO, "01", "", 0, false, false },
	{ { "late3", "g,gk,tt", "the same with two takers" }, TWO, "01", "", 0, false, false },
	{ { "pages", "GkT,GT", "slabs of three pages" }, PAGES, "0011", "", 0, false, false },
	/* Rings. */
	{ { "ring", "mfmf,tt", "a ring is taken back" }, TWO, "00-1", "ff,", 4, false, true },
	{ { "fills", "mmfm,t", "the ring's front is filled twice" }, TWO, "0000", "ff,", 4, false,
	  true },
	{ { "ring3", "mf,t,t", "two threads take a ring back" }, TWO, "00-1", "ff,", 3, false,
	  true },
	{ { "idle", "mfm,rt", "a tick takes all rings" }, TWO, "00-1", "ff,", 4, false, true },
	{ { "own", "mfm,rt", "the same, by a thread with a ring" }, TWO, "0011", "ff,ff,", 4, false,
	  true },
	{ { "both", "m,r,t", "a tick, and a thread that needs a region" }, TWO, "00-1", "ff,", 3,
	  false, true },
	{ { "flush", "lmf,t", "its owner flushes the ring" }, TWO, "00-1", "ff,", 3, false, true },
	{ { "full", "fmf,t", "a ring of one entry overflows" }, TWO, "0000", "f,", 1, false, true },
	{ { "grows", "fmm,t", "a ring that grows" }, FOUR, "0000", "ff,", 15, false, true },
	{ { "first", "ffm,t", "the thread has no cache yet" }, TWO, "00-1", "", 3, false, true },
	{ { "stock", "ffm,tk", "a ring overflows to the stock" }, TWO, "0000", "ff,", 2, false,
	  true },
	{ { "ticks", "ffm,eee", "the same, and ticks empty the stock" }, TWO, "0000", "ff,", 2,
	  false, true },
	{ { "refill", "mmmmm,ee", "the same, and a refill wants the stock" }, TWO, "0000", "ffff,",
	  2, false, true },
	{ { "arenas", "fff,mm,ee", "blocks of two arenas" }, TWO, "0a0a11", "f,f", 2, false, true },
	{ { "ends", "mx,tg", "the ring's thread ends" }, TWO, "00-1", "ff,", 3, false, true },
	{ { "ticked", "mx,r", "the same, with a tick" }, TWO, "00-1", "ff,", 3, false, true },
	/* Descriptors. */
	{ { "wiped", "ggkuw,gk", "a neighbour's descriptor is wiped" }, ONE, "001a", "", 0, true,
	  false },
	{ { "late_wiped", "gkuw,gtg", "late hints to a wiped descriptor" }, ONE, "011", "", 0,
	  false, false },
	/* The page map. */
	{ { "root", "p,p,p", "threads want one leaf of the page map" }, ONE, "", "", 0, true,
	  false },
	{ .scene = { .name = NULL } },
};
/* clang-format on */

static struct session {
	struct pfs_malloc_scene scene;
	uint64_t barriers; /* the number of the first that fails, as do all after it; 0: none */
} session;

/* ---- set-up and end ---- */

static uint32_t owner_of(char letter)
{
	return (uint32_t)(letter >= 'a' ? letter - 'a' : letter - '0') & 3;
}

/* Of two arenas. */
static uint32_t arena_of(char letter)
{
	bool is_owned = letter != '.' && letter != '-';
	return is_owned ? (owner_of(letter) + (letter >= 'a')) % 2 : 0;
}

/* Gives each region of the first slabs to its first owner. */
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
	/* Now the hints of room are clear at every level. */
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

/* Nothing: a search by states knows all that is checked. */
static void leave(struct pfs_machine *machine, void *context)
{
	(void)machine, (void)context;
}

/* ---- the command ---- */

static void choose(const struct pfs_scene *chosen, const char *calls)
{
	struct pfs_malloc_scene *scene = &session.scene;
	*scene = *(const struct pfs_malloc_scene *)(const void *)chosen;
	if (calls != NULL) {
		scene->scene.calls = calls;
		scene->grows_not = false; /* only true of the scene's own calls */
	}
	pfs_malloc_world.scene = scene;
	pfs_malloc_world.calls = scene->scene.calls;
	pfs_malloc_world.arena_count = strpbrk(scene->blocks, "ab") != NULL ? 2 : 1;
}

int main(int argc, char **argv)
{
	struct pfs_malloc_world *world = &pfs_malloc_world;
	/* clang-format off */
	const struct pfs_scene_command command = {
		.program = "malloc_search",
		.letters = "Calls: t T take one, two regions past the rings; g G free one, two;\n"
			   "m f malloc and free; b take other threads' rings; r a tick takes all "
			   "rings;\n"
			   "k the spare slab ends; e a tick of the bin; l flush its own rings;\n"
			   "x the thread ends; p reserve a leaf of the page map; u purge; w wipe "
			   "idle descriptors.\n",
		.scenes = scenes,
		.scene_bytes = sizeof(scenes[0]),
		.threads_max = PFS_MALLOC_THREADS_MAX,
		.choose = choose,
		.scenario = { .name = "malloc", .setup = setup, .finish = finish, .context = world,
			      .name_address = pfs_malloc_world_name,
			      .known = pfs_malloc_world_known, .leave = leave,
			      .keep = pfs_malloc_world_keep },
		.machine = &world->machine,
		.sums = { { "slabs made", &world->slabs_made },
			  { "ended", &world->slabs_ended },
			  { "rings taken back", &world->taken_back } },
		.option = "lost-barrier",
		.option_help = "the N-th heavy barrier and all after it fail",
		.option_value = &session.barriers
	};
	/* clang-format on */
	return pfs_scene_command(&command, argc, argv);
}
