/*
 * accounts_search.c - the crediting of blocks under every schedule, in small: the command. See
 * docs/explanation/search-results.md.
 */
#include <stdio.h>
#include <string.h>

#include "memory/search/accounts_world.h"

static const struct pfs_accounts_scene scenes[] = {
	/* An end, and frees of others. */
	{ "retire", "baap,b0", "afe,f", "a life ends, another thread frees", 3, 0 },
	{ "retire2", "baaapp,b0,b1", "affe,fbae,fe", "two others free", 5, 0 },
	{ "last", "baappe,b0,b1", ",fe,fe", "two free the last blocks of a life", 3, 0 },
	{ "last3", "baaaappp,b0,b1,b2", "fe,f,fae,fe", "it ends, and three do", 5, 0 },
	{ "waiting", "bapebape,b0,b1", ",f,fa", "the last blocks of two lives", 4, 0 },
	{ "handed", "b,b", "aape,0fae", "a block is handed over and freed, its life ends", 3, 0 },
	{ "nobody", "bap,0", "ae,f", "a thread without a life frees", 3, 0 },
	/* Records that are used again. */
	{ "again", "bape,b0,b", ",fae,aFae", "lives begin, an old one's last block is freed", 4,
	  0 },
	{ "again1", "bafebap,b0,b", "e,fFa,aae", "and there is one record", 2, 0 },
	{ "scarce", "bap,b0,b", "e,fF,aa", "and none for the account of a life", 2, 0 },
	{ "reused", "baap,b0", "ebafe,fe", "a thread's reference is used again", 4, 0 },
	{ "taken", "baap,0", "ebae,bfafe", "by another thread", 5, 0 },
	{ "lives", "baap,b0", "febae,febafe", "many lives", 5, 0 },
	/* Blocks that change hands. */
	{ "resize", "baap,b0", "safsfe,sfe", "blocks are resized", 4, 0 },
	{ "claim", "baap,b0", "ce,cfe", "blocks are claimed", 3, 0 },
	{ "claims", "baapp,b0,b1", "ae,cfe,cfe", "by two", 4, 0 },
	/* Who asks. */
	{ "reads", "baap,b0", "faa,f,rr", "a reader beside allocations and frees", 2, 0 },
	{ "reads_new", "b,b", "aap,0fa,r", "of a block that is freed elsewhere", 3, 0 },
	{ "reads_end", "baap,b0", "afe,f,rr", "of a life that ends", 2, 0 },
	{ "reads_ends", "baap,b0", "fe,fF,r", "and is folded", 2, 0 },
	{ "reads_short", "b", "aafe,r", "of a life that begins and ends", 2, 0 },
	{ "reads_fold", "bap,b0", "e,fF,rr", "of a life that is folded", 2, 0 },
	{ "reads_still", "bape,b0af", "F,rr", "of nothing but a fold", 3, 0 },
	{ "reads_again", "bape,b0,b", ",fF,aaa,r", "of a record that is used again", 2, 0 },
	{ "box", "baap,b0", "faa,f,R", "by the box's reader", 2, 0 },
	{ "box_new", "b,b", "aap,0fa,R", "of a block that is freed elsewhere", 3, 0 },
	{ "box_short", "ba", "aff,R", "of blocks that come and go", 2, 0 },
	{ "box_fold", "bap,b0", "e,fF,RR", "of a life that is folded", 2, 0 },
	{ "box_again", "bape,b0,b", ",fF,aaa,R", "of a record that is used again", 2, 0 },
	/* Marks, and switches. */
	{ "marks", "baap,b0", "faaa,f", "a high mark rises while another thread frees", 2, 0 },
	{ "truncate", "ba", "aa,tt", "a TRUNCATE beside allocations", 2, 0 },
	{ "truncates", "baap,b0", "faa,f,t", "and frees", 2, 0 },
	{ "ticks", "baap,b0", "fae,f,k", "a tick beside an end", 2, 0 },
	{ "disabled", "ba", "aa,td", "a TRUNCATE, and an instrument is disabled", 2, 0 },
	{ "opened", "b", "aa,d", "beside a cell that is opened", 2, 0 },
	{ "enabled", "ba,b", "dp,a0a", "an instrument is disabled", 3, 0 },
	/* A limit of the account: 1, 4, 16 .. bytes of the first thread, 1024 .. of the second. */
	{ "limit", "b,b", "a,a", "two allocate, and there is room for one", 3, 1024 },
	{ "limit_room", "ba,b", "f,aa", "what one frees another one allocates", 3, 1024 },
	{ "limit_handed", "bap,b0", "a,fa", "and what others free", 3, 1024 },
	{ "limit_ended", "bape,b0", ",fa", "of a life that has ended", 4, 1024 },
	{ "limit_ends", "bap,b0", "ae,fa", "and of one that ends", 4, 1025 },
	{ "limit_resize", "ba,b", "S,a", "a resize and an allocation", 3, 1026 },
	{ "limit_resized", "baa,ba", "Sf,Sa", "two resizes", 3, 5124 },
	{ .name = NULL },
};

static struct pfs_accounts_scene scene;

/* Does no thread allocate or free? */
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

static bool choose(const char *name, size_t length, const char *calls)
{
	const struct pfs_accounts_scene *at = scenes;
	while (at->name != NULL &&
	       (strlen(at->name) != length || strncmp(at->name, name, length) != 0))
		at++;
	if (at->name == NULL)
		return false;
	scene = *at;
	if (calls != NULL)
		scene.calls = calls;
	pfs_accounts_world.scene = &scene;
	pfs_accounts_world.calls = scene.calls;
	pfs_accounts_world_make(&pfs_accounts_world);
	return pfs_scene_threads(scene.calls) <= PFS_ACCOUNTS_THREADS_MAX;
}

static void list(void)
{
	for (const struct pfs_accounts_scene *at = scenes; at->name != NULL; at++)
		(void)printf("  %-12s %-12s %s\n", at->name, at->calls, at->summary);
}

int main(int argc, char **argv)
{
	struct pfs_accounts_world *world = &pfs_accounts_world;
	/* clang-format off */
	const struct pfs_scene_command command = {
		.program = "accounts_search",
		.letters = "Calls: b e a life begins, ends; a f allocate, free the oldest block; "
			   "s c resize, claim it; S resize it if the limit has room;\n"
			   "p hand it over; 0 1 2 3 4 wait for what thread 0 hands over;\n"
			   "F somebody is at the desk, and folds; k a tick; t TRUNCATE; "
			   "d disable;\n"
			   "r read the row's sums; R by the box's reader.\n",
		.choose = choose,
		.list = list,
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
