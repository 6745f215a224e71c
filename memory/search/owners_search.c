/*
 * owners_search.c - the command that searches every schedule of a small memory trace: guards,
 * reservations and limits. See docs/explanation/search-results.md.
 *
 * The source is memory/trace/add.c, compiled with PFS_SIM. There are four owners: one at the top,
 * two below it, and one below the first of these. All threads share one guard besides their own.
 */
#include <stdio.h>
#include <string.h>

#include "memory/trace/owner.h"
#include "memory/search/scene_command.h"

#define OWNERS 4u
#define TOP 0u
#define LEFT 1u
#define RIGHT 2u
#define LEAF 3u /* below the left one */
#define THREADS_MAX 4u
#define GUARDS_MAX 6u
#define NONE PFS_OWNER_NO_LIMIT

struct scene {
	struct pfs_scene scene;
	uint64_t top, left;           /* limits */
	enum pfs_owner_action action; /* of the top */
	uint64_t shared;              /* bytes of the shared guard; 0: it is empty */
};

/* clang-format off */
static const struct scene scenes[] = {
	{ { "adds", "le,re,o", "adds without a limit" }, NONE, NONE, 0, 0 },
	{ { "limit", "l,re,q", "two adds, and room for one" }, 3, NONE, 0, 0 },
	{ { "limits", "l,r,l", "three adds, and room for one" }, 3, 9, 0, 0 },
	{ { "room", "x,r,qq", "one thread adds the bytes that another one frees" }, 2, NONE, 0, 2 },
	{ { "rooms", "x,le,re", "the same with a third thread" }, 2, NONE, 0, 2 },
	{ { "undo", "le,re,le", "an add that the top refuses is undone below it" }, 3, 4, 0, 0 },
	{ { "undone", "L,l,x", "the next add gets the undone bytes" }, 6, 5, 0, 2 },
	{ { "twice", "x,x", "a guard ends twice" }, NONE, NONE, 0, 2 },
	{ { "several", "x,x,l", "the same during an add of its owner" }, NONE, NONE, 0, 2 },
	{ { "thrice", "xl,xr,x", "a guard ends three times" }, 3, NONE, 0, 2 },
	{ { "late", "lee,x", "a guard is also ended by its own thread" }, NONE, NONE, 0, 2 },
	{ { "used", "A,A,x", "a guard is used for two adds" }, NONE, NONE, 0, 0 },
	{ { "resize", "lgs,r", "adds grow and shrink" }, 6, NONE, 0, 0 },
	{ { "resized", "X,x,q", "a guard is resized while it ends" }, 5, NONE, 0, 2 },
	{ { "move", "lme,r", "bytes move to another owner" }, 5, 2, 0, 0 },
	{ { "moved", "y,x", "the same while the guard ends" }, NONE, NONE, 0, 2 },
	{ { "moves", "y,Y,q", "two threads move a guard" }, 2, 2, 0, 2 },
	{ { "hand", "lhe,x", "a guard is handed on" }, NONE, NONE, 0, 2 },
	{ { "report", "l,r,o", "a limit only reports" }, 3, NONE, PFS_OWNER_REPORT, 0 },
	{ { "call", "l,r", "a limit's call makes room" }, 3, NONE, PFS_OWNER_CALL, 2 },
	{ .scene = { .name = NULL } },
};
/* clang-format on */

static struct world {
	struct pfs_box_owner records[OWNERS];
	_Atomic(uint64_t) outside[OWNERS];
	struct pfs_owner owners[OWNERS];
	struct pfs_owner_guard guards[THREADS_MAX][GUARDS_MAX];
	struct pfs_owner_guard shared;

	/* Not checked for races. */
	struct oracle {
		struct virtual
		{
			uint32_t id, first,
				count; /* guards: the index of the oldest, and how many */
			struct held {
				uint32_t owner; /* OWNERS: it holds nothing */
				uint64_t bytes;
			} held[GUARDS_MAX];
			char calls[PFS_SCENE_CALLS_MAX + 1];
		}
		threads[THREADS_MAX];
		/* Of each owner's sum: bounds that surely hold, and their peaks. */
		int64_t least[OWNERS], most[OWNERS], least_peak[OWNERS], most_peak[OWNERS];
		uint32_t ends, refused;
	} oracle;

	struct scene scene;
	struct pfs_machine *machine;
	uint64_t refusals, reads, ends;
} world;

/* ---- the oracle's books ---- */

/* OWNERS: none. */
static bool is_in(uint32_t owner, uint32_t at)
{
	return owner != OWNERS && (at == owner || at == TOP || (owner == LEAF && at == LEFT));
}

/* Changes the sums that include the owner's bytes but not the other one's. */
static void note(int64_t *sums, int64_t *peaks, uint32_t owner, uint32_t other, int64_t by)
{
	for (uint32_t at = 0; at < OWNERS; at++) {
		sums[at] += is_in(owner, at) && !is_in(other, at) ? by : 0;
		if (peaks[at] < sums[at])
			peaks[at] = sums[at];
	}
}

static void note_least(uint32_t owner, int64_t by)
{
	note(world.oracle.least, world.oracle.least_peak, owner, OWNERS, by);
}

static void note_most(uint32_t owner, int64_t by)
{
	note(world.oracle.most, world.oracle.most_peak, owner, OWNERS, by);
}

/* A refused add does not count. At some owner, too many bytes must have been in progress. */
static void note_refused(uint32_t owner, int64_t bytes)
{
	const struct oracle *oracle = &world.oracle;
	bool is_top = (uint64_t)oracle->most_peak[TOP] > world.scene.top;
	bool is_left = (uint64_t)oracle->most_peak[LEFT] > world.scene.left;
	PFS_MACHINE_CHECK(is_top || (is_left && is_in(owner, LEFT)),
			  "an add is refused although there was room all the time");
	note_most(owner, -bytes);
	world.oracle.refused++;
	world.refusals++;
}

/* ---- calls ---- */

static bool add(struct pfs_owner_guard *guard, uint32_t owner, uint64_t bytes)
{
	note_most(owner, (int64_t)bytes);
	bool done = pfs_owner_add(&world.owners[owner], bytes, guard);
	if (done)
		note_least(owner, (int64_t)bytes);
	else
		note_refused(owner, (int64_t)bytes);
	return done;
}

static void add_own(struct virtual *thread, uint32_t owner, uint64_t bytes)
{
	struct pfs_owner_guard *guard = &world.guards[thread->id][thread->count];
	struct held *held = &thread->held[thread->count];
	PFS_MACHINE_CHECK(thread->count++ < GUARDS_MAX, "too many adds");
	*held = (struct held){ OWNERS, bytes };
	if (add(guard, owner, bytes))
		held->owner = owner;
}

static struct pfs_owner_guard *oldest(struct virtual *thread)
{
	PFS_MACHINE_CHECK(thread->first < thread->count, "thread %u has no guard", thread->id);
	return &world.guards[thread->id][thread->first];
}

/* OWNERS: the guard holds nothing. */
static uint32_t owner_of(const struct pfs_owner_guard *guard)
{
	const struct pfs_owner *owner = (const struct pfs_owner *)(uintptr_t)guard->owner;
	return owner != NULL && (guard->state & 1) != 0 ? (uint32_t)(owner - world.owners) : OWNERS;
}

static void end_own(struct virtual *thread)
{
	struct pfs_owner_guard *guard = oldest(thread);
	struct held *held = &thread->held[thread->first];
	uint32_t owner = held->owner;
	int64_t bytes = (int64_t)held->bytes;
	note_least(owner, -bytes);
	bool ended = pfs_owner_end(guard);
	PFS_MACHINE_CHECK(ended == (owner != OWNERS), "a guard's end is %s",
			  ended ? "done twice" : "refused");
	if (ended)
		note_most(owner, -bytes);
	/* Again, at once. */
	PFS_MACHINE_CHECK(!pfs_owner_end(guard), "a guard ends twice");
	held->owner = OWNERS;
}

static void resize_own(struct virtual *thread, uint64_t bytes)
{
	struct held *held = &thread->held[thread->first];
	uint32_t owner = held->owner;
	int64_t by = (int64_t)(bytes - held->bytes);
	if (owner == OWNERS)
		return;
	if (by < 0)
		note_least(owner, by);
	else
		note_most(owner, by);
	bool done = pfs_owner_resize(oldest(thread), bytes);
	if (done)
		held->bytes = bytes;
	if (by < 0)
		note_most(owner, by);
	else if (done)
		note_least(owner, by);
	else
		note_refused(owner, by);
}

static void move_own(struct virtual *thread, uint32_t to)
{
	struct held *held = &thread->held[thread->first];
	uint32_t from = held->owner;
	int64_t bytes = (int64_t)held->bytes;
	if (from == OWNERS || from == to)
		return;
	struct oracle *oracle = &world.oracle;
	note(oracle->most, oracle->most_peak, to, from, bytes);
	note(oracle->least, oracle->least_peak, from, to, -bytes);
	PFS_MACHINE_CHECK(pfs_owner_move(oldest(thread), &world.owners[to]),
			  "a move to an owner without a limit was refused");
	note(oracle->most, oracle->most_peak, from, to, -bytes);
	note(oracle->least, oracle->least_peak, to, from, bytes);
	held->owner = to;
}

/* The shared guard: the oracle checks it when all calls are done. */
static void end_shared(void)
{
	struct oracle *oracle = &world.oracle;
	if (pfs_owner_end(&world.shared)) {
		PFS_MACHINE_CHECK(oracle->ends++ == 0, "a guard ends twice");
		world.ends++;
	}
}

static bool make_room(void *context, struct pfs_owner *over, uint64_t bytes)
{
	(void)context;
	PFS_MACHINE_CHECK(over == &world.owners[TOP] && bytes == 2,
			  "the call is for another limit");
	bool ended = pfs_owner_end(&world.shared);
	world.oracle.ends += ended;
	world.ends += ended;
	return ended;
}

/* At any moment. */
static void look(void)
{
	const struct scene *scene = &world.scene;
	const uint64_t limits[OWNERS] = { scene->top, scene->left, NONE, NONE };
	for (uint32_t at = 0; at < OWNERS; at++) {
		struct pfs_owner_sums sums;
		pfs_owner_read(&world.owners[at], &sums);
		PFS_MACHINE_CHECK((int64_t)sums.own_bytes >= 0 && (int64_t)sums.sum_bytes >= 0,
				  "owner %u is below zero", at);
		PFS_MACHINE_CHECK(scene->action == PFS_OWNER_REPORT || sums.sum_bytes <= limits[at],
				  "owner %u: sum %llu is above its limit", at,
				  (unsigned long long)sums.sum_bytes);
		PFS_MACHINE_CHECK(sums.high_bytes >= sums.sum_bytes, "a peak below the sum");
	}
	world.reads++;
}

static void call(struct virtual *thread, char letter)
{
	switch (letter) {
	case 'l': /* two bytes of the leaf */ add_own(thread, LEAF, 2); break;
	case 'L': /* four */ add_own(thread, LEAF, 4); break;
	case 'r': add_own(thread, RIGHT, 2); break;
	case 'o': add_own(thread, TOP, 2); break;
	case 'A': /* by the shared guard */
		(void)pfs_owner_add(&world.owners[LEAF], 2, &world.shared);
		break;
	case 'e': /* its oldest guard */
		end_own(thread);
		thread->first += thread->first + 1 < thread->count;
		break;
	case 'g': resize_own(thread, 5); break;
	case 's': resize_own(thread, 1); break;
	case 'm': move_own(thread, RIGHT); break;
	case 'h': /* to the next of its guards */
		PFS_MACHINE_CHECK(pfs_owner_hand(oldest(thread), oldest(thread) + 1),
				  "a guard is not handed on");
		thread->held[thread->first + 1] = thread->held[thread->first];
		thread->first++;
		thread->count++;
		break;
	case 'x': /* the shared guard */ end_shared(); break;
	case 'X': (void)pfs_owner_resize(&world.shared, 4); break;
	case 'y': (void)pfs_owner_move(&world.shared, &world.owners[RIGHT]); break;
	case 'Y': (void)pfs_owner_move(&world.shared, &world.owners[LEFT]); break;
	default: PFS_MACHINE_CHECK(letter == 'q', "'%c' is not a call", letter); look();
	}
}

static void body(void *opaque)
{
	struct virtual *thread = opaque;
	for (const char *at = thread->calls; *at != '\0'; at++)
		call(thread, *at);
}

/* ---- at rest ---- */

static struct pfs_owner_sums sums_of(uint32_t owner)
{
	struct pfs_owner_sums sums;
	pfs_owner_read(&world.owners[owner], &sums);
	return sums;
}

/* Sums are the bytes of all guards that are held, and no others. */
static void check_sums(void)
{
	int64_t held[OWNERS] = { 0 }, none[OWNERS] = { 0 };
	struct pfs_owner_guard *guard = &world.guards[0][0];
	for (uint32_t i = 0; i < THREADS_MAX * GUARDS_MAX + 1; i++) {
		if (i == THREADS_MAX * GUARDS_MAX)
			guard = &world.shared;
		uint32_t owner = owner_of(guard);
		PFS_MACHINE_CHECK((guard->state & 2) == 0, "a guard is locked for good");
		if (owner != OWNERS)
			note(held, none, owner, OWNERS, (int64_t)guard->bytes);
		guard++;
	}
	for (uint32_t at = 0; at < OWNERS; at++) {
		/* relaxed: at rest */
		uint64_t reserved = pfs_load_relaxed(&world.records[at].reserved);
		uint64_t sum = sums_of(at).sum_bytes, below = 0;
		for (uint32_t one = 1; one < OWNERS; one++)
			if (world.owners[one].parent == &world.owners[at])
				below += sums_of(one).sum_bytes;
		PFS_MACHINE_CHECK(sum == (uint64_t)held[at], "owner %u: sum %llu, not %lld", at,
				  (unsigned long long)sum, (long long)held[at]);
		PFS_MACHINE_CHECK(reserved == sum, "owner %u: %llu are reserved, not %llu", at,
				  (unsigned long long)reserved, (unsigned long long)sum);
		PFS_MACHINE_CHECK(sums_of(at).own_bytes + below == sum, "owner %u: parts", at);
	}
}

/* At rest, an add of all the room is granted, and one byte more is refused. */
static void check_room(void)
{
	struct pfs_owner_guard guard = { 0, 0, 0 };
	uint64_t room = world.scene.top - sums_of(TOP).sum_bytes;
	if (world.scene.top == NONE || world.scene.action != PFS_OWNER_REFUSE)
		return;
	PFS_MACHINE_CHECK(!pfs_owner_add(&world.owners[RIGHT], room + 1, &guard),
			  "a limit is not kept at rest");
	PFS_MACHINE_CHECK(pfs_owner_add(&world.owners[RIGHT], room, &guard),
			  "%llu bytes of room are refused for good", (unsigned long long)room);
	(void)pfs_owner_end(&guard);
}

static void finish(struct pfs_machine *machine, void *context)
{
	const struct oracle *oracle = &world.oracle;
	(void)machine, (void)context;
	look();
	check_sums();
	for (uint32_t at = 0;
	     world.scene.shared == 0 && strchr(world.scene.scene.calls, 'A') == NULL && at < OWNERS;
	     at++) {
		uint64_t high = sums_of(at).high_bytes;
		PFS_MACHINE_CHECK(high >= (uint64_t)oracle->least_peak[at] &&
					  high <= (uint64_t)oracle->most_peak[at],
				  "owner %u: a peak of %llu, not %lld to %lld", at,
				  (unsigned long long)high, (long long)oracle->least_peak[at],
				  (long long)oracle->most_peak[at]);
	}
	if (world.scene.action == PFS_OWNER_CALL)
		PFS_MACHINE_CHECK(oracle->ends == 1, "a limit's call made no room");
	if (world.scene.action == PFS_OWNER_REPORT)
		PFS_MACHINE_CHECK(sums_of(TOP).over == 2 && oracle->refused == 0,
				  "of three adds %llu are over the limit",
				  (unsigned long long)sums_of(TOP).over);
	check_room();
}

static void setup(struct pfs_machine *machine, void *context)
{
	static const uint32_t parents[OWNERS] = { OWNERS, TOP, TOP, LEFT };
	(void)context;
	memset((void *)&world, 0, offsetof(struct world, scene));
	machine->setup.oracle = &world.oracle;
	machine->setup.oracle_bytes = sizeof(world.oracle);
	for (uint32_t at = 0; at < OWNERS; at++) {
		struct pfs_owner *parent = parents[at] != OWNERS ? &world.owners[parents[at]]
								 : NULL;
		world.owners[at] = (struct pfs_owner){
			.record = &world.records[at],
			.outside = &world.outside[at],
			.parent = parent,
			.depth = parent != NULL ? parent->depth + 1 : 1,
		};
		world.records[at].limit = at == TOP    ? world.scene.top
					  : at == LEFT ? world.scene.left
						       : NONE;
	}
	world.records[TOP].action = world.scene.action;
	world.owners[TOP].call = make_room;
	if (world.scene.shared != 0)
		(void)pfs_owner_add(&world.owners[LEAF], world.scene.shared, &world.shared);
	/* Whatever ends it: its bytes were in use, and may be freed. */
	note_most(LEAF, (int64_t)world.scene.shared);
	for (uint32_t id = 0; id < pfs_scene_threads(world.scene.scene.calls); id++) {
		struct virtual *thread = &world.oracle.threads[id];
		thread->id = id;
		(void)pfs_scene_calls_of(world.scene.scene.calls, id, thread->calls);
		(void)pfs_machine_spawn(machine, 0, body, thread);
	}
}

/* ---- the command ---- */

static bool name(void *context, const void *address, char *to, size_t bytes)
{
	static const char *const fields[] = { "reserved", "own",    "sum",  "high", "limit",
					      "refused",  "action", "over", "bad" };
	uintptr_t offset = (uintptr_t)address - (uintptr_t)world.records;
	(void)context;
	if (address == &world.shared.state || address == &world.shared.owner) {
		(void)snprintf(to, bytes, "shared.%s",
			       address == &world.shared.state ? "state" : "owner");
		return true;
	}
	if (offset >= sizeof(world.records))
		return false;
	uint32_t field = (uint32_t)(offset % sizeof(world.records[0]) / sizeof(uint64_t));
	(void)snprintf(to, bytes, "owner[%u].%s", (unsigned)(offset / sizeof(world.records[0])),
		       field < sizeof(fields) / sizeof(fields[0]) ? fields[field] : "other");
	return true;
}

static void choose(const struct pfs_scene *scene, const char *calls)
{
	world.scene = *(const struct scene *)(const void *)scene;
	if (calls != NULL)
		world.scene.scene.calls = calls;
}

int main(int argc, char **argv)
{
	/* clang-format off */
	const struct pfs_scene_command command = {
		.program = "owners_search",
		.letters = "Calls: l L add 2, 4 bytes to the leaf; r to the right, o to the top;\n"
			   "e end the oldest guard, twice; g s resize it to 5, to 1; m move it to "
			   "the right;\n"
			   "h hand it on; A x X y Y add, end, resize, move right, move left the "
			   "shared guard;\n"
			   "q read all sums.\n",
		.scenes = scenes,
		.scene_bytes = sizeof(scenes[0]),
		.threads_max = THREADS_MAX,
		.choose = choose,
		.scenario = { .name = "owners", .setup = setup, .finish = finish,
			      .context = &world, .name_address = name },
		.machine = &world.machine,
		.sums = { { "refused", &world.refusals },
			  { "reads", &world.reads },
			  { "ends", &world.ends } }
	};
	/* clang-format on */
	return pfs_scene_command(&command, argc, argv);
}
