/*
 * accounts_search.c - the command that searches every schedule of the crediting of blocks at small
 * sizes. See docs/explanation/search-results.md.
 */
#include <stdio.h>
#include <string.h>

#include "memory/search/accounts_world.h"

/* clang-format off */
static const struct pfs_accounts_scene scenes[] = {
	/* A life ends while other threads free its blocks. */
	{ { "retire", "afe,f", "a life ends, another thread frees" }, "baap,b0", 3, 0 },
	{ { "retire2", "affe,fbae,fe", "the same; two other threads free" }, "baaapp,b0,b1", 5, 0 },
	{ { "last", ",fe,fe", "two threads free the last blocks of a life" }, "baappe,b0,b1", 3,
	  0 },
	{ { "last3", "fe,f,fae,fe", "three threads do, and the life ends" }, "baaaappp,b0,b1,b2", 5,
	  0 },
	{ { "waiting", ",f,fa", "two threads free the last blocks of two lives" }, "bapebape,b0,b1",
	  4, 0 },
	{ { "handed", "aape,0fae", "a block is handed over and freed, its life ends" }, "b,b", 3,
	  0 },
	{ { "nobody", "ae,f", "a thread without a life frees" }, "bap,0", 3, 0 },
	/* Records that are reused. */
	{ { "again", ",fae,aFae", "lives begin, an old one's last block is freed" }, "bape,b0,b", 4,
	  0 },
	{ { "again1", "e,fFa,aae", "the same with one record" }, "bafebap,b0,b", 2, 0 },
	{ { "scarce", "e,fF,aa", "the same without a record for a life" }, "bap,b0,b", 2, 0 },
	{ { "reused", "ebafe,fe", "a thread's reference is reused" }, "baap,b0", 4, 0 },
	{ { "taken", "ebae,bfafe", "the same by another thread" }, "baap,0", 5, 0 },
	{ { "lives", "febae,febafe", "many lives" }, "baap,b0", 5, 0 },
	/* Blocks that change hands. */
	{ { "resize", "safsfe,sfe", "blocks are resized" }, "baap,b0", 4, 0 },
	{ { "claim", "ce,cfe", "blocks are claimed" }, "baap,b0", 3, 0 },
	{ { "claims", "ae,cfe,cfe", "the same by two threads" }, "baapp,b0,b1", 4, 0 },
	/* Readers. */
	{ { "reads", "faa,f,rr", "a reader runs during allocations and frees" }, "baap,b0", 2, 0 },
	{ { "reads_new", "aap,0fa,r", "another thread frees the block" }, "b,b", 3, 0 },
	{ { "reads_end", "afe,f,rr", "a life ends" }, "baap,b0", 2, 0 },
	{ { "reads_ends", "fe,fF,r", "a life ends and is folded" }, "baap,b0", 2, 0 },
	{ { "reads_short", "aafe,r", "a life begins and ends" }, "b", 2, 0 },
	{ { "reads_fold", "e,fF,rr", "a life is folded" }, "bap,b0", 2, 0 },
	{ { "reads_still", "F,rr", "only a fold happens" }, "bape,b0af", 3, 0 },
	{ { "reads_again", ",fF,aaa,r", "a record is reused" }, "bape,b0,b", 2, 0 },
	{ { "box", "faa,f,R", "the box's reader runs" }, "baap,b0", 2, 0 },
	{ { "box_new", "aap,0fa,R", "another thread frees the block" }, "b,b", 3, 0 },
	{ { "box_short", "aff,R", "blocks are allocated and freed" }, "ba", 2, 0 },
	{ { "box_fold", "e,fF,RR", "a life is folded" }, "bap,b0", 2, 0 },
	{ { "box_again", ",fF,aaa,R", "a record is reused" }, "bape,b0,b", 2, 0 },
	/* Marks, and instruments that are switched. */
	{ { "marks", "faaa,f", "a high mark rises while another thread frees" }, "baap,b0", 2, 0 },
	{ { "truncate", "aa,tt", "a TRUNCATE during allocations" }, "ba", 2, 0 },
	{ { "truncates", "faa,f,t", "a TRUNCATE during allocations and frees" }, "baap,b0", 2, 0 },
	{ { "ticks", "fae,f,k", "a tick while a life ends" }, "baap,b0", 2, 0 },
	{ { "disabled", "aa,td", "a TRUNCATE while an instrument is disabled" }, "ba", 2, 0 },
	{ { "opened", "aa,d", "the same while a cell is opened" }, "b", 2, 0 },
	{ { "enabled", "dp,a0a", "an instrument is disabled" }, "ba,b", 3, 0 },
	/* A limit of the account. Blocks of the first thread have 1, 4, 16, .. bytes, those of the
	 * second 1024, .. */
	{ { "limit", "a,a", "two threads allocate, and one has room" }, "b,b", 3, 1024 },
	{ { "limit_room", "f,aa", "one thread allocates what another one frees" }, "ba,b", 3,
	  1024 },
	{ { "limit_handed", "a,fa", "the same with a block that was handed over" }, "bap,b0", 3,
	  1024 },
	{ { "limit_ended", ",fa", "the same with a block of a life that has ended" }, "bape,b0", 4,
	  1024 },
	{ { "limit_ends", "ae,fa", "the same with a life that ends" }, "bap,b0", 4, 1025 },
	{ { "limit_resize", "S,a", "a resize and an allocation" }, "ba,b", 3, 1026 },
	{ { "limit_resized", "Sf,Sa", "two resizes" }, "baa,ba", 3, 5124 },
	{ .scene = { .name = NULL } },
};
/* clang-format on */

static struct pfs_accounts_scene scene;

/* Does no call allocate, free, resize or claim? */
static bool is_frozen(const char *calls)
{
	return strpbrk(calls, "afsc") == NULL;
}

static void setup(struct pfs_machine *machine, void *context)
{
	struct pfs_accounts_world *self = context;
	uint32_t threads = pfs_scene_threads(self->calls);
	machine->setup.oracle = &self->oracle;
	machine->setup.oracle_bytes = sizeof(self->oracle);
	pfs_accounts_world_reset(self);
	for (uint32_t id = 0; id < threads; id++) {
		struct pfs_accounts_thread *thread = &self->oracle.threads[id];
		(void)pfs_scene_calls_of(self->scene->before, id, thread->calls);
		pfs_accounts_calls_make(thread, thread->calls);
	}
	self->oracle.at_first = pfs_accounts_lives(self);
	self->oracle.frozen = is_frozen(self->calls);
	for (uint32_t id = 0; id < threads; id++) {
		struct pfs_accounts_thread *thread = &self->oracle.threads[id];
		(void)pfs_scene_calls_of(self->calls, id, thread->calls);
		(void)pfs_machine_spawn(machine, 0, pfs_accounts_calls_body, thread);
	}
}

static void finish(struct pfs_machine *machine, void *context)
{
	(void)machine;
	pfs_accounts_check(context);
}

static void choose(const struct pfs_scene *chosen, const char *calls)
{
	scene = *(const struct pfs_accounts_scene *)(const void *)chosen;
	if (calls != NULL)
		scene.scene.calls = calls;
	pfs_accounts_world.scene = &scene;
	pfs_accounts_world.calls = scene.scene.calls;
	pfs_accounts_world_make(&pfs_accounts_world);
}

int main(int argc, char **argv)
{
	struct pfs_accounts_world *world = &pfs_accounts_world;
	/* clang-format off */
	const struct pfs_scene_command command = {
		.program = "accounts_search",
		.letters = "Calls: b e a life begins, ends; a f allocate, free the oldest block; "
			   "s c resize, claim it; S resize it if the limit has room;\n"
			   "p hand it over; 0 1 2 3 4 wait for a block that thread 0 hands over;\n"
			   "F open the desk, which folds; k a tick; t TRUNCATE; "
			   "d disable;\n"
			   "r read the row's sums; R read them by the box's reader.\n",
		.scenes = scenes,
		.scene_bytes = sizeof(scenes[0]),
		.threads_max = PFS_ACCOUNTS_THREADS_MAX,
		.choose = choose,
		.scenario = { .name = "accounts", .setup = setup, .finish = finish,
			      .context = world, .name_address = pfs_accounts_world_name },
		.machine = &world->machine,
		.sums = { { "folds", &world->folds },
			  { "rows read", &world->rows },
			  { "missed", &world->rows_missed },
			  { "refused", &world->refused } }
	};
	/* clang-format on */
	return pfs_scene_command(&command, argc, argv);
}
