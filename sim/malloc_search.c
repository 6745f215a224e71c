/*
 * malloc_search.c - the protocols of the allocator under every schedule, in small: the command.
 * See docs/simulation.md.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/jobs.h"
#include "sim/malloc_world.h"
#include "sim/seams.h"

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
	{ "ends", TWO, "00-1", "ff,", "mx,tg", "its thread ends", 3, false, true },
	{ "ticked", TWO, "00-1", "ff,", "mx,r", "and a tick comes", 3, false, true },
	/* The page map. */
	{ "root", ONE, "", "", "p,p,p", "threads want one leaf of the page map", 0, true, false },
	{ .name = NULL },
};

static struct session {
	struct pfs_malloc_scene scene;
	struct pfs_search_result result;
	char weaken[256];
	uint32_t barriers; /* the so many-th fails, and all after it; 0: none does */
} session;

/* ---- set-up and end ---- */

static uint32_t thread_count(const char *calls)
{
	uint32_t count = 1;
	for (; *calls != '\0'; calls++)
		count += *calls == ',';
	return count;
}

/* The calls of a thread, of a text with commas; false: too many. */
static bool calls_of(const char *text, uint32_t id, char *calls)
{
	for (; id != 0 && *text != '\0'; text++)
		id -= *text == ',';
	size_t length = strcspn(text, ",");
	if (length > PFS_MALLOC_CALLS_MAX)
		return false;
	memcpy(calls, text, length);
	calls[length] = '\0';
	return true;
}

/* All first slabs' regions, each to who has it at first. */
static void deal(struct pfs_malloc_world *self)
{
	const char *blocks = self->scene->blocks;
	size_t count = strlen(blocks);
	void *all[PFS_MALLOC_BLOCKS_MAX], *free[PFS_MALLOC_BLOCKS_MAX];
	uint32_t free_count = 0;
	struct pfs_bin *bin = pfs_malloc_world_bin(self);
	for (size_t at = 0; at < count; at++)
		PFS_MACHINE_CHECK(pfs_bin_take(bin, &all[at], 1) == 1, "set-up: no block");
	for (size_t at = 0; at < count; at++) {
		struct pfs_malloc_thread *thread = &self->oracle.threads[(blocks[at] - '0') & 3];
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
	(void)pfs_bin_slab_with_room(bin); /* what told of room is clear, at every level */
	pfs_blocks_give(free, free_count, "free");
}

static void setup(struct pfs_machine *machine, void *context)
{
	struct pfs_malloc_world *self = context;
	uint32_t threads = thread_count(self->calls);
	self->machine = machine;
	machine->oracle = &self->oracle;
	machine->oracle_bytes = sizeof(self->oracle);
	pfs_malloc_world_reset(self);
	pfs_seams_barriers = session.barriers != 0 ? session.barriers : PFS_SEAMS_BARRIERS_ALWAYS;
	for (uint32_t id = 0; id < PFS_MALLOC_THREADS_MAX; id++)
		self->oracle.threads[id].id = id;
	deal(self);
	for (uint32_t id = 0; id < threads; id++) {
		struct pfs_malloc_thread *thread = &self->oracle.threads[id];
		self->oracle.aside = id;
		(void)calls_of(self->scene->before, id, thread->calls);
		pfs_malloc_calls_make(thread, thread->calls);
	}
	self->oracle.aside = 0;
	self->oracle.slabs_before = pfs_malloc_world_bin(self)->slabs_made;
	for (uint32_t id = 0; id < threads; id++) {
		struct pfs_malloc_thread *thread = &self->oracle.threads[id];
		(void)calls_of(self->calls, id, thread->calls);
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
	pfs_malloc_map_check(thread_count(self->calls));
}

/* The searches by states know all that is checked. */
static void leave(struct pfs_machine *machine, void *context)
{
	(void)machine, (void)context;
}

/* ---- the command ---- */

struct arguments {
	const char *scenario, *memory, *search, *weaken;
	uint64_t seed, executions, jobs;
	double seconds;
	uint64_t preemptions, lost_barrier;
	bool quiet, no_races;
};

static int refuse(const char *what, const char *text)
{
	(void)fprintf(stderr, "malloc_search: %s %s; malloc_search --help says what there is\n",
		      what, text);
	return 2;
}

static int usage(void)
{
	(void)printf("malloc_search explore --scenario NAME[:CALLS,CALLS...]\n"
		     "  [--memory sc|tso|views] "
		     "  [--search exhaustive|states|rotate|... as pfs-sim] [--preemptions N] "
		     "[--seed N]\n"
		     "  [--executions N] [--seconds S] [--jobs N] [--weaken PLACE] [--no_races] "
		     "[--quiet]\n"
		     "  [--lost_barrier N: the N-th heavy barrier fails, and all after it]\n\n"
		     "Calls: t T take one, two regions past the rings; g G give one, two;\n"
		     "m f malloc and free; b take other threads' rings; r a tick takes all rings;\n"
		     "k the spare slab ends; l flush the own rings; x the thread ends;\n"
		     "p a leaf of the page map.\n\n");
	for (const struct pfs_malloc_scene *at = scenes; at->name != NULL; at++)
		(void)printf("  %-10s %-10s %s\n", at->name, at->calls, at->summary);
	return 0;
}

/* Options without a value, then those with one; false: unknown. */
static bool read_argument(struct arguments *self, const char *name, const char *value,
			  int *used)
{
	*used = 1;
	if (strcmp(name, "--quiet") == 0)
		return self->quiet = true;
	if (strcmp(name, "--no_races") == 0)
		return self->no_races = true;
	*used = 2;
	if (value == NULL)
		return false;
	const struct {
		const char *name;
		const char **text;
		uint64_t *number;
	} known[] = { { "--scenario", &self->scenario, NULL }, { "--memory", &self->memory, NULL },
		      { "--search", &self->search, NULL },     { "--weaken", &self->weaken, NULL },
		      { "--seed", NULL, &self->seed },         { "--jobs", NULL, &self->jobs },
		      { "--executions", NULL, &self->executions },
		      { "--preemptions", NULL, &self->preemptions },
		      { "--lost_barrier", NULL, &self->lost_barrier } };
	if (strcmp(name, "--seconds") == 0) {
		self->seconds = strtod(value, NULL);
		return true;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		if (known[i].text != NULL)
			*known[i].text = value;
		else
			*known[i].number = strtoull(value, NULL, 10);
		return true;
	}
	return false;
}

/* The scene of a name, with other calls if it says some; false: none. */
static bool find_scene(const char *name)
{
	static struct pfs_malloc_scene *scene = &session.scene;
	size_t length = strcspn(name, ":");
	const struct pfs_malloc_scene *at = scenes;
	while (at->name != NULL &&
	       (strlen(at->name) != length || strncmp(at->name, name, length) != 0))
		at++;
	if (at->name == NULL)
		return false;
	*scene = *at;
	if (name[length] == ':') {
		scene->calls = name + length + 1;
		scene->grows_not = false; /* is said of the scene's own calls */
	}
	char calls[PFS_MALLOC_CALLS_MAX + 1];
	bool fits = thread_count(scene->calls) <= PFS_MALLOC_THREADS_MAX;
	for (uint32_t id = 0; fits && id < PFS_MALLOC_THREADS_MAX; id++)
		fits = calls_of(scene->calls, id, calls);
	return fits;
}

static void report(const struct arguments *arguments, const struct pfs_search_options *options)
{
	const struct pfs_search_result *result = &session.result;
	const struct pfs_malloc_world *world = &pfs_malloc_world;
	(void)printf("%s %s %s: %llu executions (%llu repeated a class, %llu incomplete), "
		     "%llu steps, %s%s\n",
		     arguments->scenario, arguments->memory, arguments->search,
		     (unsigned long long)result->executions,
		     (unsigned long long)result->redundant,
		     (unsigned long long)result->incomplete, (unsigned long long)result->steps,
		     result->failed ? "FAILED" : pfs_search_extent(options, result),
		     result->failed ? "" : ": no violation");
	if (result->states != 0)
		(void)printf("states: %llu\n", (unsigned long long)result->states);
	(void)printf("slabs made %llu, ended %llu, rings taken back %llu\n",
		     (unsigned long long)world->slabs_made,
		     (unsigned long long)world->slabs_ended,
		     (unsigned long long)world->taken_back);
}

static int explore(const struct arguments *arguments, enum pfs_machine_model model,
		   enum pfs_search_kind kind)
{
	struct pfs_malloc_world *world = &pfs_malloc_world;
	struct pfs_search_result *result = &session.result;
	struct pfs_machine *machine = pfs_machine_create(model);
	const struct pfs_scenario scenario = {
		.name = session.scene.name, .setup = setup, .finish = finish, .context = world,
		.name_address = pfs_malloc_world_name, .known = pfs_malloc_world_known,
		.leave = leave, .keep = pfs_malloc_world_keep
	};
	const struct pfs_search_options options = {
		.kind = kind, .seed = arguments->seed, .execution_max = arguments->executions,
		.seconds_max = arguments->seconds,
		.preemption_max = (uint32_t)arguments->preemptions
	};
	const struct pfs_jobs_sums sums = { { &world->slabs_made, &world->slabs_ended,
					      &world->taken_back, &machine->weaken.met }, 4 };
	machine->step_max = 20000;
	machine->watch = !arguments->no_races;
	if (arguments->weaken != NULL) {
		(void)snprintf(session.weaken, sizeof(session.weaken), "%s", arguments->weaken);
		if (!pfs_weaken_parse(&machine->weaken, session.weaken))
			return refuse("no place:", arguments->weaken);
	}
	session.barriers = (uint32_t)arguments->lost_barrier;
	world->scene = &session.scene;
	world->calls = session.scene.calls;
	const char *error = pfs_jobs_search(machine, &scenario, &options,
					    (uint32_t)arguments->jobs, &sums, result);
	if (error != NULL || result->refusal != NULL)
		return refuse("this search can't do", error != NULL ? error : result->refusal);
	report(arguments, &options);
	if (arguments->weaken != NULL)
		(void)printf("%s: %llu operations were weaker\n", arguments->weaken,
			     (unsigned long long)machine->weaken.met);
	if (result->failed) {
		(void)printf("found: %s\n", result->message);
		(void)pfs_search_shrink(machine, &scenario, result);
		if (!arguments->quiet)
			pfs_search_show(machine, &scenario, result, stdout);
	}
	bool unchecked = result->executions == result->incomplete;
	pfs_machine_destroy(machine);
	return result->failed || unchecked;
}

int main(int argc, char **argv)
{
	static const char *const models[] = { [PFS_MACHINE_SC] = "sc", [PFS_MACHINE_TSO] = "tso",
					      [PFS_MACHINE_VIEWS] = "views" };
	struct arguments arguments = { .memory = "sc", .search = "exhaustive", .seed = 1,
				       .jobs = 1, .preemptions = 2 };
	if (argc < 2 || strcmp(argv[1], "explore") != 0)
		return usage();
	for (int at = 2, used; at < argc; at += used) {
		const char *value = at + 1 < argc ? argv[at + 1] : NULL;
		if (!read_argument(&arguments, argv[at], value, &used))
			return refuse("unknown:", argv[at]);
	}
	size_t model = 0;
	while (model < 3 && strcmp(models[model], arguments.memory) != 0)
		model++;
	int kind = pfs_search_kind_of(arguments.search);
	if (model == 3 || kind < 0)
		return refuse("no such memory or search:", model == 3 ? arguments.memory
								      : arguments.search);
	if (arguments.scenario == NULL || !find_scene(arguments.scenario))
		return refuse("no such scenario:", arguments.scenario != NULL ? arguments.scenario
									      : "");
	return explore(&arguments, (enum pfs_machine_model)model, (enum pfs_search_kind)kind);
}
