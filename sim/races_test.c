/*
 * races_test.c - data races are found where they are, and nowhere else, in each memory mode.
 * Compiled with -fsanitize=thread, as the containers are: the machine sees its plain accesses.
 */
#include <string.h>

#include "containers/atomic.h"
#include "containers/mutex.h"
#include "sim/expect.h"
#include "sim/search.h"

static struct {
	_Alignas(8) unsigned char bytes[8];
	uint64_t data;
	_Atomic(uint64_t) flag;
	_Atomic(uint32_t) shared, begun;
	struct pfs_mutex lock;
	uint64_t sum; /* so that reads are not optimised away */
} world;

struct bodies {
	const char *name;
	void (*bodies[3])(void *);
	bool race;
};

static void setup(struct pfs_machine *machine, void *context)
{
	const struct bodies *self = context;
	memset(&world, 0, sizeof(world));
	for (uint32_t i = 0; i < 3 && self->bodies[i] != NULL; i++)
		(void)pfs_machine_spawn(machine, 0, self->bodies[i], NULL);
}

/* A step that orders nothing, so that the plain accesses of the threads interleave, too. */
static void begin(void)
{
	(void)pfs_load_relaxed(&world.begun);
}

static void write_low(void *unused)
{
	(void)unused;
	begin();
	world.bytes[1] = 1;
}
static void write_next(void *unused)
{
	(void)unused;
	begin();
	world.bytes[2] = 2;
}
static void read_both(void *unused)
{
	(void)unused;
	begin();
	world.sum = *(volatile uint16_t *)(void *)&world.bytes[0];
}
static void read_only(void *unused)
{
	uint64_t seen;
	(void)unused;
	begin();
	seen = *(volatile uint64_t *)&world.data;
	(void)seen;
}
static void send_release(void *unused)
{
	(void)unused;
	begin();
	world.data = 1;
	pfs_store_release(&world.flag, 1);
}
static void send_relaxed(void *unused)
{
	(void)unused;
	begin();
	world.data = 1;
	pfs_store_relaxed(&world.flag, 1);
}
static void send_overwritten(void *unused)
{
	(void)unused;
	begin();
	world.data = 1;
	pfs_store_release(&world.flag, 1);
	pfs_store_relaxed(&world.flag, 2); /* ends the release sequence */
}
static void pass_on(void *unused)
{
	(void)unused;
	(void)pfs_fetch_add_relaxed(&world.flag, 2); /* goes on with it */
}
static void receive_acquire(void *unused)
{
	(void)unused;
	if (pfs_load_acquire(&world.flag) % 2 == 1)
		world.sum = world.data;
}
static void receive_two(void *unused)
{
	(void)unused;
	if (pfs_load_acquire(&world.flag) == 2)
		world.sum = world.data;
}
static void receive_relaxed(void *unused)
{
	(void)unused;
	if (pfs_load_relaxed(&world.flag) == 1)
		world.sum = world.data;
}
static void receive_cas(void *unused)
{
	uint64_t seen = 5; /* fails: orders nothing, although it sees the flag */
	(void)unused;
	if (!pfs_cas_acquire(&world.flag, &seen, 6) && seen == 1)
		world.sum = world.data;
}
static void locked(void *unused)
{
	(void)unused;
	pfs_mutex_lock(&world.lock);
	world.data++;
	pfs_mutex_unlock(&world.lock);
}
static void atomic_add(void *unused)
{
	(void)unused;
	(void)pfs_fetch_add_seq(&world.shared, 1);
}
static void plain_look(void *unused)
{
	(void)unused;
	begin();
	world.sum = *(volatile uint32_t *)(void *)&world.shared;
}

static const struct bodies tests[] = {
	{ "two writers of a byte", { write_low, write_low }, true },
	{ "neighbouring bytes", { write_low, write_next }, false },
	{ "a wide read over a written byte", { write_low, read_both }, true },
	{ "two readers", { read_only, read_only }, false },
	{ "release and acquire", { send_release, receive_acquire }, false },
	{ "relaxed store", { send_relaxed, receive_acquire }, true },
	{ "relaxed load", { send_release, receive_relaxed }, true },
	{ "through a read-modify-write", { send_release, pass_on, receive_acquire }, false },
	{ "behind a relaxed store", { send_overwritten, receive_two }, true },
	{ "a compare-and-swap that fails", { send_release, receive_cas }, true },
	{ "under a mutex", { locked, locked, locked }, false },
	{ "atomic and plain", { atomic_add, plain_look }, true },
};

static void check(const struct bodies *test, enum pfs_machine_model model, bool watch)
{
	static struct pfs_search_result result;
	struct bodies copy = *test;
	const struct pfs_scenario scenario = { test->name, setup, NULL, NULL, &copy, NULL };
	const struct pfs_search_options options = { .kind = PFS_SEARCH_SLEEP };
	struct pfs_machine *machine = pfs_machine_create(model);
	machine->watch = watch;
	bool fine = pfs_search(machine, &scenario, &options, &result);
	pfs_machine_destroy(machine);
	bool wanted = test->race && watch;
	bool good = fine != wanted && (fine ? result.complete
					    : strncmp(result.message, "data race", 9) == 0 &&
						      strstr(result.message, "races_test.c") !=
							      NULL);
	if (good)
		return;
	pfs_failures++;
	(void)printf("FAILED: %s, mode %d: %s\n", test->name, (int)model,
		     fine ? "no race found" : result.message);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		for (int model = PFS_MACHINE_SC; model <= PFS_MACHINE_VIEWS; model++)
			check(&tests[i], (enum pfs_machine_model)model, true);
		check(&tests[i], PFS_MACHINE_SC, false);
	}
	return pfs_expect_report();
}
