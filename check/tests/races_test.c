/*
 * races_test.c - data races are found where they are, and nowhere else, in each memory mode.
 * Compiled with -fsanitize=thread, as the containers are: the machine sees its plain accesses.
 */
#include <string.h>

#include "check/machine/atomic_backend.h"
#include "check/machine/mutex_backend.h"
#include "check/machine/model.h"
#include "check/tests/expect.h"
#include "check/search/search.h"

static struct {
	_Alignas(8) unsigned char bytes[16];
	uint64_t data;
	_Atomic(uint64_t) flag;
	_Atomic(uint64_t) told, told_next; /* relaxed: another thread's part is over */
	_Atomic(uint32_t) shared, begun;
	struct pfs_mutex lock;
	unsigned char *page;
	uint64_t sum; /* so that reads are not optimized away */
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
	world.page = pfs_sim_memory_map(&machine->memory, 4096, 0);
	for (uint32_t i = 0; i < 3 && self->bodies[i] != NULL; i++)
		(void)pfs_machine_spawn(machine, 0, self->bodies[i], NULL);
}

/* A step that orders nothing, so that the plain accesses of the threads interleave too. */
static void begin(void)
{
	(void)pfs_load_relaxed(&world.begun);
}

PFS_BODY(write_low)
{
	begin();
	world.bytes[1] = 1;
}
PFS_BODY(write_next)
{
	begin();
	world.bytes[2] = 2;
}
PFS_BODY(read_both)
{
	begin();
	world.sum = *(volatile uint16_t *)(void *)&world.bytes[0];
}
PFS_BODY(read_only)
{
	uint64_t seen;
	begin();
	seen = *(volatile uint64_t *)&world.data;
	(void)seen;
}
PFS_BODY(send_release)
{
	begin();
	world.data = 1;
	pfs_store_release(&world.flag, 1);
}
PFS_BODY(send_relaxed)
{
	begin();
	world.data = 1;
	pfs_store_relaxed(&world.flag, 1);
}
PFS_BODY(send_overwritten)
{
	begin();
	world.data = 1;
	pfs_store_release(&world.flag, 1);
	pfs_store_relaxed(&world.flag, 2); /* ends the release sequence */
}
PFS_BODY(pass_on)
{
	(void)pfs_fetch_add_relaxed(&world.flag, 2); /* continues it */
}
PFS_BODY(receive_acquire)
{
	if (pfs_load_acquire(&world.flag) % 2 == 1)
		world.sum = world.data;
}
static bool is_one(uint64_t value, uint64_t unused)
{
	(void)unused;
	return value == 1;
}
PFS_BODY(await_relaxed)
{
	(void)pfs_machine_await(&world.flag, 8, PFS_SIM_RELAXED, is_one, 0);
	world.sum = world.data;
}
PFS_BODY(await_acquire)
{
	(void)pfs_machine_await(&world.flag, 8, PFS_SIM_ACQUIRE, is_one, 0);
	world.sum = world.data;
}
PFS_BODY(receive_two)
{
	if (pfs_load_acquire(&world.flag) == 2)
		world.sum = world.data;
}
PFS_BODY(receive_relaxed)
{
	if (pfs_load_relaxed(&world.flag) == 1)
		world.sum = world.data;
}
PFS_BODY(receive_cas)
{
	uint64_t seen = 5; /* fails: orders nothing, although it sees the flag */
	if (!pfs_cas_acquire(&world.flag, &seen, 6) && seen == 1)
		world.sum = world.data;
}
PFS_BODY(locked)
{
	pfs_mutex_lock(&world.lock);
	world.data++;
	pfs_mutex_unlock(&world.lock);
}
PFS_BODY(atomic_add)
{
	(void)pfs_fetch_add_seq(&world.shared, 1);
}
PFS_BODY(plain_look)
{
	begin();
	world.sum = *(volatile uint32_t *)(void *)&world.shared;
}

/*
 * From here on each pair can meet in one order only, because the second thread waits for a relaxed
 * word: the race is found only if the first access is remembered correctly.
 */
static void look(const volatile void *address)
{
	(void)*(const volatile uint64_t *)address;
}
static void say(void)
{
	pfs_store_relaxed(&world.told, 1);
}
static bool is_told(void)
{
	return pfs_load_relaxed(&world.told) == 1;
}
static volatile uint32_t *plain_shared(void)
{
	return (volatile uint32_t *)(void *)&world.shared;
}

PFS_BODY(write_two_bytes)
{
	volatile unsigned char *bytes = world.bytes;
	bytes[1] = 1;
	bytes[2] = 2;
	say();
}
PFS_BODY(write_first_byte)
{
	if (is_told())
		world.bytes[1] = 3;
}
PFS_BODY(read_across)
{
	look(&world.bytes[4]);
	say();
}
PFS_BODY(write_behind)
{
	if (is_told())
		world.bytes[9] = 1;
}
PFS_BODY(write_read)
{
	*(volatile uint64_t *)&world.data = 1;
	look(&world.data);
	say();
}
PFS_BODY(read_write)
{
	look(&world.data);
	*(volatile uint64_t *)&world.data = 1;
	say();
}
PFS_BODY(read_told)
{
	if (is_told())
		look(&world.data);
}
PFS_BODY(write_release_write)
{
	*(volatile uint64_t *)&world.data = 1;
	pfs_store_release(&world.flag, 1);
	*(volatile uint64_t *)&world.data = 2; /* the release does not carry it */
	say();
}
PFS_BODY(acquire_read_told)
{
	if (pfs_load_acquire(&world.flag) == 1 && is_told())
		look(&world.data);
}
PFS_BODY(write_say_release)
{
	*(volatile uint64_t *)&world.data = 1;
	say();
	pfs_store_release(&world.flag, 1);
}
PFS_BODY(miss_release_read)
{
	if (pfs_load_acquire(&world.flag) == 0 && is_told())
		look(&world.data);
}
PFS_BODY(plain_then_atomic)
{
	*plain_shared() = 1;
	pfs_store_relaxed(&world.shared, 2);
	say();
}
PFS_BODY(atomic_then_plain)
{
	(void)pfs_load_relaxed(&world.shared);
	(void)*plain_shared();
	say();
}
PFS_BODY(atomic_load_told)
{
	if (is_told())
		(void)pfs_load_relaxed(&world.shared);
}
PFS_BODY(atomic_store_told)
{
	if (is_told())
		pfs_store_relaxed(&world.shared, 1);
}
PFS_BODY(plain_release)
{
	*plain_shared() = 1;
	pfs_store_release(&world.flag, 1);
}
PFS_BODY(acquire_atomic_store)
{
	if (pfs_load_acquire(&world.flag) != 1)
		return;
	pfs_store_relaxed(&world.shared, 2);
	say();
}
PFS_BODY(read_say)
{
	look(&world.data);
	say();
}
PFS_BODY(read_release_next)
{
	if (!is_told())
		return;
	look(&world.data);
	pfs_store_release(&world.told_next, 1);
}
PFS_BODY(acquire_next_write)
{
	if (pfs_load_acquire(&world.told_next) == 1)
		world.data = 1;
}
PFS_BODY(pass_on_release)
{
	(void)pfs_fetch_add_release(&world.flag, 2);
}
PFS_BODY(read_page)
{
	look(world.page + 2048);
	say();
}
PFS_BODY(read_page_release)
{
	look(world.page + 2048);
	pfs_store_release(&world.flag, 1);
}
static void unmap_page(void)
{
	pfs_sim_memory_unmap(&pfs_machine_current()->memory, world.page, 4096);
}
PFS_BODY(unmap_told)
{
	if (is_told())
		unmap_page();
}
PFS_BODY(acquire_unmap)
{
	if (pfs_load_acquire(&world.flag) == 1)
		unmap_page();
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
	{ "the first of two bytes", { write_two_bytes, write_first_byte }, true },
	{ "the second half of a read", { read_across, write_behind }, true },
	{ "written, then read", { write_read, read_told }, true },
	{ "read, then written", { read_write, read_told }, true },
	{ "behind a release", { write_release_write, acquire_read_told }, true },
	{ "before a release that is not read", { write_say_release, miss_release_read }, true },
	{ "plain, then atomic", { plain_then_atomic, atomic_load_told }, true },
	{ "atomic, then plain", { atomic_then_plain, atomic_store_told }, true },
	{ "plain, and another's atomic",
	  { plain_release, acquire_atomic_store, atomic_load_told },
	  true },
	{ "a reader before another one",
	  { read_say, read_release_next, acquire_next_write },
	  true },
	{ "through a read-modify-write that releases",
	  { send_release, pass_on_release, receive_acquire },
	  false },
	{ "awaited, and not acquired", { send_release, await_relaxed }, true },
	{ "awaited, and not released", { send_relaxed, await_acquire }, true },
	{ "awaited and acquired", { send_release, await_acquire }, false },
	{ "a page's end behind a read of it", { read_page, unmap_told }, true },
	{ "a page's end ordered behind a read", { read_page_release, acquire_unmap }, false },
};

static void check(const struct bodies *test, const struct pfs_memory_model *model, bool watch)
{
	static struct pfs_search_result result;
	struct bodies copy = *test;
	const struct pfs_scenario scenario = { .name = test->name,
					       .setup = setup,
					       .context = &copy };
	const struct pfs_search_options options = { .kind = PFS_SEARCH_SLEEP };
	struct pfs_machine *machine = pfs_machine_create(model);
	machine->setup.watch = watch;
	bool fine = pfs_search(machine, &scenario, &options, &result);
	pfs_machine_destroy(machine);
	bool wanted = test->race && watch;
	bool good = fine != wanted &&
		    (fine ? result.complete
			  : strncmp(result.message, "data race", 9) == 0 &&
				     strstr(result.message, "races_test.c") != NULL);
	if (good)
		return;
	pfs_failures++;
	(void)printf("FAILED: %s, %s: %s\n", test->name, model->name,
		     fine ? "no race found" : result.message);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		for (uint32_t model = 0; model < PFS_MEMORY_MODELS; model++)
			if (!pfs_memory_models[model]->strengthens)
				check(&tests[i], pfs_memory_models[model], true);
		check(&tests[i], &pfs_model_sc, false);
	}
	return pfs_expect_report();
}
