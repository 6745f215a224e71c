/*
 * mcs_test.c - random searches with views put a write before an existing newer one: the lost
 * wake-up of an MCS lock whose swap of the tail does not release. The next thread may then store
 * its link, in modification order, before the owner's own store that cleared it; the owner waits
 * forever for a link that is no longer the last value.
 * Source: J. Mellor-Crummey, M. Scott, ACM TOCS 9(1), 1991.
 */
#include <stdio.h>

#include "check/machine/atomic_backend.h"
#include "check/tests/expect.h"
#include "check/search/search.h"

#define EXECUTIONS 20000u

static struct mcs {
	_Atomic(uint32_t) tail; /* thread + 1, or 0 */
	struct mcs_link {
		_Atomic(uint32_t) next, locked;
	} links[2];
	uint32_t entered; /* plain: a data race if the lock does not exclude */
	bool releases;    /* the swap of the tail does */
} mcs;

static bool is_not(uint64_t value, uint64_t argument)
{
	return value != argument;
}

static void enter(struct mcs *self, uint32_t id)
{
	struct mcs_link *link = &self->links[id];
	pfs_store_relaxed(&link->next, 0);
	pfs_store_relaxed(&link->locked, 1);
	uint32_t before = self->releases ? pfs_exchange_acq_rel(&self->tail, id + 1)
					 : pfs_exchange_acquire(&self->tail, id + 1);
	if (before == 0)
		return;
	pfs_store_release(&self->links[before - 1].next, id + 1);
	(void)pfs_machine_await(&link->locked, 4, PFS_SIM_ACQUIRE, is_not, 1);
}

static void leave(struct mcs *self, uint32_t id)
{
	uint32_t own = id + 1;
	if (pfs_load_relaxed(&self->links[id].next) == 0 && pfs_cas_release(&self->tail, &own, 0))
		return;
	uint32_t next = (uint32_t)pfs_machine_await(&self->links[id].next, 4, PFS_SIM_ACQUIRE,
						    is_not, 0);
	pfs_store_release(&self->links[next - 1].locked, 0);
}

PFS_BODY(run)
{
	uint32_t id = pfs_machine_current()->run.running->id;
	enter(&mcs, id);
	mcs.entered++;
	leave(&mcs, id);
}

static void setup(struct pfs_machine *machine, void *context)
{
	struct mcs *self = context;
	pfs_store_relaxed(&self->tail, 0);
	self->entered = 0;
	for (uint32_t id = 0; id < 2; id++) {
		pfs_store_relaxed(&self->links[id].next, 0);
		pfs_store_relaxed(&self->links[id].locked, 0);
		(void)pfs_machine_spawn(machine, 0, run, self);
	}
}

static void finish(struct pfs_machine *machine, void *context)
{
	const struct mcs *self = context;
	(void)machine;
	PFS_MACHINE_CHECK(self->entered == 2, "%u have entered", self->entered);
}

static void search(enum pfs_search_kind kind, bool releases, const char *what)
{
	static struct pfs_search_result result;
	const struct pfs_scenario scenario = {
		.name = "mcs", .setup = setup, .finish = finish, .context = &mcs
	};
	const struct pfs_search_options options = { .kind = kind,
						    .seed = 1,
						    .execution_max = EXECUTIONS };
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_views);
	mcs.releases = releases;
	bool fine = pfs_search(machine, &scenario, &options, &result);
	(void)printf("%-12s %-12s %6llu executions: %s\n", what, releases ? "acq_rel" : "acquire",
		     (unsigned long long)result.executions, fine ? "fine" : machine->run.message);
	pfs_expect(fine == releases, what);
	pfs_expect(fine || result.end == PFS_END_DEADLOCK, "it is a lost wake-up");
	pfs_machine_destroy(machine);
}

int main(void)
{
	static const struct {
		enum pfs_search_kind kind;
		const char *name;
	} kinds[] = { { PFS_SEARCH_RANDOM, "random" }, { PFS_SEARCH_PCT, "pct" },
		      { PFS_SEARCH_POS, "pos" },       { PFS_SEARCH_URW, "urw" },
		      { PFS_SEARCH_SLOW, "slow" },     { PFS_SEARCH_ROTATE, "rotate" },
		      { PFS_SEARCH_ALL, "exhaustive" } };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		search(kinds[i].kind, false, kinds[i].name);
		search(kinds[i].kind, true, kinds[i].name);
	}
	return pfs_expect_report();
}
