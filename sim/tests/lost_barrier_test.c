/*
 * lost_barrier_test.c - policy magazine when the heavy barrier begins to fail during a run: on
 * every schedule no record has two owners, none is lost, and no thread waits. Others get the
 * records that a handle left in its ring once it is detached; and, if it is attached again without
 * a barrier, those that its next owner freed.
 *
 * Not checked, because it does not hold: that a page is added, or full answered, only at a moment
 * with no free record. See "Without the barrier" in variants/magazine/magazine.h.
 */
#include <string.h>

#include "containers/container.h"
#include "sim/cases/balance.h"
#include "check/tests/expect.h"
#include "check/search/search.h"
#include "sim/seams/seams.h"

#include <pfslab/variant.h>

#define THREADS_MAX 3u
#define RECORDS 4u
#ifndef SEARCH_PART
#define SEARCH_PART 1u /* runs one in so many executions, if each is slow */
#endif

static struct world {
	struct pfs_container *container;
	uint32_t threads;
	uint32_t failing; /* the number of the first barrier that fails */
	struct worker {
		struct pfs_thread *handle;
		uint32_t takes; /* records that it holds at a time, again and again */
		uint32_t turns;
	} workers[THREADS_MAX];
	uint64_t failed; /* executions in which the barrier failed */
	/* For threads that detach and attach: */
	uint64_t gone; /* the second has detached its handle */
	uint32_t got;  /* records that the first has, and keeps */
} world;

static void work(void *opaque)
{
	struct worker *self = opaque;
	void *records[RECORDS];
	for (uint32_t turn = 0; turn < self->turns; turn++) {
		uint32_t count = 0;
		for (; count < self->takes; count++) {
			struct pfs_claim claim = pfs_allocate(self->handle);
			if (claim.record == NULL)
				break;
			*(uint64_t *)claim.record = (uintptr_t)self; /* plain: races are seen */
			pfs_publish(self->handle, claim);
			records[count] = claim.record;
		}
		while (count-- != 0) {
			PFS_MACHINE_CHECK(*(uint64_t *)records[count] == (uintptr_t)self,
					  "a record has two owners");
			pfs_free(self->handle, records[count]);
		}
	}
}

static void set_up(struct world *self)
{
	struct pfs_config config;
	pfs_config_init(&config);
	config.record_size_bytes = 16;
	config.page_records = 1;
	config.page_max = RECORDS;
	config.page_prealloc = 2;
	pfs_seams_barriers = PFS_SEAMS_BARRIERS_ALWAYS;
	pfs_sim_ring_records_set(2); /* a ring that was taken back is soon open again */
	if (pfs_container_create(pfs_variant_find("magazine"), &config, &self->container, NULL) !=
	    PFS_OK) {
		pfs_machine_fail("set-up: no container");
		return;
	}
	for (uint32_t id = 0; id < self->threads; id++) {
		struct worker *worker = &self->workers[id];
		(void)pfs_thread_attach(self->container, &worker->handle);
	}
	/* Each ring holds a record from the start, as long as records last. */
	for (uint32_t id = 0; id < self->threads; id++) {
		struct pfs_claim claim = pfs_allocate(self->workers[id].handle);
		pfs_publish(self->workers[id].handle, claim);
		pfs_free(self->workers[id].handle, claim.record);
	}
	pfs_seams_barriers = self->failing;
}

static void setup(struct pfs_machine *machine, void *context)
{
	struct world *self = context;
	set_up(self);
	for (uint32_t id = 0; id < self->threads; id++)
		(void)pfs_machine_spawn(machine, 0, work, &self->workers[id]);
}

/* When all threads have made their calls, one thread can allocate every record. */
static void finish(struct pfs_machine *machine, void *context)
{
	struct world *self = context;
	uint32_t count = 0;
	self->failed += pfs_seams_barriers == 0;
	if (machine->run.end == PFS_END_DONE)
		pfs_balance_check(self->container, NULL);
	for (uint32_t id = 1; id < self->threads; id++)
		pfs_thread_detach(self->workers[id].handle);
	while (pfs_allocate(self->workers[0].handle).record != NULL)
		count++;
	if (machine->run.end == PFS_END_DONE && count != RECORDS)
		pfs_machine_fail("%u of %u records can be had", count, RECORDS);
	pfs_seams_barriers = PFS_SEAMS_BARRIERS_ALWAYS;
	pfs_thread_detach(self->workers[0].handle);
	pfs_container_destroy(self->container);
}

static bool is_gone(uint64_t value, uint64_t argument)
{
	return value != argument;
}

static void take_all(struct world *self)
{
	struct pfs_claim claim;
	while ((claim = pfs_allocate(self->workers[0].handle)).record != NULL) {
		*(uint64_t *)claim.record = 1; /* plain: races are seen */
		pfs_publish(self->workers[0].handle, claim);
		self->got++;
	}
}

/* Wants every record, and all but one after the other thread has said that it detached. */
static void want_all(void *opaque)
{
	struct world *self = opaque;
	take_all(self);
	(void)pfs_machine_await(&self->gone, sizeof(self->gone), PFS_SIM_ACQUIRE, is_gone, 0);
	take_all(self);
	PFS_MACHINE_CHECK(self->got + 1 >= RECORDS, "what a handle left is out of reach");
}

/* Detaches with a record in its ring, attaches again, and uses that record or another one. It holds
 * `growth` meanwhile, as a thread does that maps a page, so the record stays in the ring. */
static void go_and_come(void *opaque)
{
	struct world *self = opaque;
	struct worker *worker = &self->workers[1];
	pfs_mutex_lock(&self->container->growth);
	pfs_thread_detach(worker->handle);
	pfs_mutex_unlock(&self->container->growth);
	pfs_store_release((_Atomic(uint64_t) *)(void *)&self->gone, 1);
	PFS_MACHINE_CHECK(pfs_thread_attach(self->container, &worker->handle) == PFS_OK,
			  "a handle that was there is refused");
	work(worker);
}

static void setup_going(struct pfs_machine *machine, void *context)
{
	struct world *self = context;
	self->gone = self->got = 0;
	set_up(self);
	(void)pfs_machine_spawn(machine, 0, want_all, self);
	(void)pfs_machine_spawn(machine, 0, go_and_come, self);
}

/* Without a barrier from the start, the second thread need not detach again. */
static void finish_going(struct pfs_machine *machine, void *context)
{
	struct world *self = context;
	self->failed += pfs_seams_barriers == 0;
	if (machine->run.end == PFS_END_DONE)
		pfs_balance_check(self->container, NULL);
	if (self->failing != 0)
		pfs_thread_detach(self->workers[1].handle);
	while (pfs_allocate(self->workers[0].handle).record != NULL)
		self->got++;
	if (machine->run.end == PFS_END_DONE && self->got != RECORDS)
		pfs_machine_fail("%u of %u records can be had", self->got, RECORDS);
	pfs_seams_barriers = PFS_SEAMS_BARRIERS_ALWAYS;
	if (self->failing == 0)
		pfs_thread_detach(self->workers[1].handle);
	pfs_thread_detach(self->workers[0].handle);
	pfs_container_destroy(self->container);
}

static const struct pfs_scenario stays = {
	.name = "barrier", .setup = setup, .finish = finish, .context = &world
};
static const struct pfs_scenario goes = {
	.name = "going", .setup = setup_going, .finish = finish_going, .context = &world
};

static void check(const struct pfs_scenario *scenario, const struct pfs_memory_model *model,
		  struct pfs_search_options options, uint32_t failing, uint32_t threads)
{
	static struct pfs_search_result result;
	struct pfs_machine *machine = pfs_machine_create(model);
	world = (struct world){ .failing = failing, .threads = threads };
	for (uint32_t id = 0; id < threads; id++) {
		/* Refused in each turn, so that it also takes back its own ring. */
		world.workers[id].takes = id == 0 ? RECORDS + 1 : 1;
		world.workers[id].turns = id == 0 ? failing : 2;
	}
	bool passed = pfs_search(machine, scenario, &options, &result);
	pfs_expect(passed, "no schedule fails");
	if (!passed)
		pfs_search_show(machine, scenario, &result, stdout);
	pfs_expect(world.failed != 0, "the barrier fails in some of them");
	(void)printf("%s, %u threads, barrier %u fails: %llu executions (%llu in which it does),"
		     " %s\n",
		     scenario->name, threads, failing, (unsigned long long)result.executions,
		     (unsigned long long)world.failed, pfs_search_extent(&options, &result));
	pfs_machine_destroy(machine);
}

int main(void)
{
	struct pfs_search_options bounded = {
		.kind = PFS_SEARCH_BOUNDED,
		.preemption_max = 2,
		.execution_max = 20000 / SEARCH_PART,
	};
	/* clang-format off */
	struct pfs_search_options rotate = {
		.kind = PFS_SEARCH_ROTATE, .seed = 1, .execution_max = 1500 / SEARCH_PART,
	};
	/* clang-format on */
	for (uint32_t failing = 1; failing <= 2; failing++) {
		/* Two preemptions before the second barrier: 168,516 schedules. A part of them may
		 * have none in which it is reached. */
		bounded.preemption_max = failing == 1 ? 2 : 1;
		check(&stays, &pfs_model_sc, bounded, failing, 2);
		check(&stays, &pfs_model_tso, rotate, failing, 2);
		check(&stays, &pfs_model_views, rotate, failing, 2);
		check(&stays, &pfs_model_tso, rotate, failing, 3);
		check(&stays, &pfs_model_views, rotate, failing, 3);
	}
	bounded.preemption_max = 2;
	bounded.execution_max /= 4;
	for (uint32_t failing = 0; failing <= 1; failing++) {
		check(&goes, &pfs_model_sc, bounded, failing, 2);
		check(&goes, &pfs_model_tso, rotate, failing, 2);
		check(&goes, &pfs_model_views, rotate, failing, 2);
	}
	return pfs_expect_report();
}
