/* case_kinds.c - the basic scenarios: churn, growth, reclaim, readers, full containers. */
#include "check/machine/atomic_backend.h"
#include "sim/cases/case_kind.h"

/* ---- churn: allocate, publish, free ---- */

static void churn_configure(struct pfs_case *self, struct pfs_config *config)
{
	pfs_case_pages(config, 1, self->thread_count, self->thread_count + 1);
}

/* As many records as threads, and at most one in use by each: some record is always free. */
static void churn_finish(struct pfs_case *self)
{
	struct pfs_counts counts;
	if ((self->variant->traits & PFS_TRAIT_EXACT) == 0)
		return;
	pfs_case_nobody_refused(self);
	pfs_container_counts(self->container, &counts);
	if (counts.growths != 0)
		pfs_machine_fail("%llu pages added, and a record was free all the time",
				 (unsigned long long)counts.growths);
}

/* ---- full: fewer records than threads ---- */

static void full_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 1, 2, 2);
}

/* ---- token: never full ---- */

#define TOKEN_RECORDS 2u
#define TOKEN_TURNS 12u
#define TOKEN_HOLD 24u /* steps: mostly in use, and yet never all */

static void token_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 1, TOKEN_RECORDS, TOKEN_RECORDS);
}

/* turn = own * 256 + how many pass it on. */
static bool is_turn(uint64_t token, uint64_t turn)
{
	return token % (turn % 256) == turn / 256;
}

static bool is_past(uint64_t token, uint64_t first)
{
	return token >= first;
}

static void await_token(struct pfs_case *self, uint64_t own)
{
	(void)pfs_machine_await(&self->mailbox, sizeof(self->mailbox), PFS_SIM_ACQUIRE, is_turn,
				own * 256 + self->thread_count - 1);
}

static void pass_token(struct pfs_case *self)
{
	(void)pfs_fetch_add_seq((_Atomic(uint64_t) *)(void *)&self->mailbox, 1);
}

/*
 * Threads 1 and 2 pass a token; only who has it owns a record. So one of the two records is
 * free at every moment, though each of them is in use half of the time: in a first turn both
 * own one, so that each will look first for its own.
 */
static void token_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case *self = thread->own;
	uint64_t own = thread->id - 1;
	await_token(self, own);
	struct pfs_claim claim = pfs_case_take(thread);
	pass_token(self);
	for (; thread->operations < TOKEN_TURNS * self->operations; thread->operations++) {
		await_token(self, own);
		if (thread->operations != 0)
			claim = pfs_case_take(thread);
		if (claim.record != NULL) {
			pfs_case_publish(thread, claim);
			for (uint32_t i = 0; i < TOKEN_HOLD; i++)
				pfs_machine_note(&thread->operations, "in use");
			pfs_case_give(thread, claim.record);
		}
		pass_token(self);
	}
}

static void ask_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	(void)pfs_machine_await(&thread->own->mailbox, sizeof(thread->own->mailbox),
				PFS_SIM_ACQUIRE, is_past,
				2 * (uint64_t)(thread->own->thread_count - 1));
	pfs_case_churn(opaque);
}

/* Thread 0 asks; whoever has the token may have to wait for the record that thread 0 took. */
static void token_finish(struct pfs_case *self)
{
	if ((self->variant->traits & PFS_TRAIT_EXACT) != 0 && self->threads[0].refused != 0)
		pfs_machine_fail("thread 0 was refused, and a record was free all the time");
}

/* ---- growth: from nothing ---- */

static void growth_configure(struct pfs_case *self, struct pfs_config *config)
{
	pfs_case_pages(config, 1, 0, self->thread_count * self->operations);
}

static void keep_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	while (thread->operations < thread->own->operations)
		(void)pfs_case_take_and_stamp(thread);
}

/* Each thread keeps one record of one page: exactly so many pages. */
static void growth_finish(struct pfs_case *self)
{
	pfs_case_nobody_refused(self);
	if (self->operations == 1 && self->machine->memory.mapped > self->thread_count + 1)
		pfs_machine_fail("%llu pages for %u records of one page each",
				 (unsigned long long)self->machine->memory.mapped,
				 self->thread_count);
}

/* ---- share: one page is enough for all ---- */

static void share_configure(struct pfs_case *self, struct pfs_config *config)
{
	uint32_t records = self->thread_count * self->operations;
	uint32_t pages = PFS_CASE_RECORDS_MAX / records; /* that the oracle has room for */
	pfs_case_pages(config, records, 0, pages < 3 ? pages : 3);
}

static void share_finish(struct pfs_case *self)
{
	struct pfs_counts counts;
	if ((self->variant->traits & (PFS_TRAIT_STRICT | PFS_TRAIT_EXACT)) == 0)
		return;
	pfs_container_counts(self->container, &counts);
	if (counts.growths > 1)
		pfs_machine_fail("%llu pages added, and the first one had room for all",
				 (unsigned long long)counts.growths);
}

/* ---- four_pages: room in the middle, no page must be added ---- */

static void four_pages_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 2, 4, 6);
}

static void four_pages_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 8);
	for (uint64_t index = 2; index < 6 && self->machine->run.end == PFS_END_DONE; index++)
		pfs_case_unkeep(self, index);
}

static void four_pages_finish(struct pfs_case *self)
{
	struct pfs_counts counts;
	pfs_container_counts(self->container, &counts);
	if (counts.growths != 0 && self->thread_count * self->operations <= 4)
		pfs_machine_fail("%llu pages added, although two pages have room",
				 (unsigned long long)counts.growths);
}

/* ---- reclaim: allocators against passes ---- */

static void reclaim_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 1, 0, 3);
}

/* Two pages, one record in use. */
static void reclaim_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 2);
	if (self->machine->run.end == PFS_END_DONE)
		pfs_case_unkeep(self, 1);
}

void pfs_case_pass(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	(void)pfs_reclaim_pass(thread->handle);
	(void)pfs_reclaim_pass(thread->handle);
}

/* ---- beside: a pass gives a page back, and allocators need none of it ---- */

/* Two pages that stay, and one that goes. */
static void beside_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 1, 2, 4);
	config->reclaim.idle_passes = 2;
}

static void beside_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 3);
	for (uint64_t index = 0; index < 3 && self->machine->run.end == PFS_END_DONE; index++)
		pfs_case_unkeep(self, index);
	(void)pfs_reclaim_pass(self->setup); /* what a magazine holds goes to its page */
}

/* ---- handoff: one allocates, another frees ---- */

static void handoff_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 1, 1, 2);
}

static void send_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case *self = thread->own;
	_Atomic(uint64_t) *mailbox = (_Atomic(uint64_t) *)(void *)&self->mailbox;
	while (thread->operations < self->operations) {
		void *record = pfs_case_take_and_stamp(thread);
		uint64_t empty = 0;
		if (record != NULL && !pfs_cas_seq(mailbox, &empty, (uint64_t)(uintptr_t)record))
			pfs_case_give(thread, record);
	}
}

static void receive_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_case *self = thread->own;
	_Atomic(uint64_t) *mailbox = (_Atomic(uint64_t) *)(void *)&self->mailbox;
	for (; thread->operations < self->operations; thread->operations++) {
		uint64_t record = pfs_exchange_seq(mailbox, 0);
		if (record == 0)
			continue;
		pfs_case_check_stamp((void *)(uintptr_t)record);
		pfs_case_give(thread, (void *)(uintptr_t)record);
	}
}

static void handoff_finish(struct pfs_case *self)
{
	if (self->mailbox == 0)
		return;
	void *record = (void *)(uintptr_t)self->mailbox;
	self->owner[pfs_index(self->setup, record) % PFS_CASE_RECORDS_MAX] = 0;
	pfs_free(self->setup, record);
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_basic[] = {
	{ "churn", "threads allocate, publish and free; as many records as threads",
	  PFS_CASE_INDEX | PFS_CASE_BESIDE, 2, 2, 0, churn_configure, NULL,
	  { pfs_case_churn, pfs_case_churn, pfs_case_churn }, churn_finish },
	{ "full", "more threads than records; exact policies say full only when it is",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 3, 2, 0, full_configure, NULL,
	  { pfs_case_churn, pfs_case_churn, pfs_case_churn }, NULL },
	{ "token", "at every moment one of two records is free",
	  PFS_CASE_INDEX | PFS_CASE_TURNS, 3, 1, 0, token_configure, NULL,
	  { ask_body, token_body, token_body }, token_finish },
	{ "growth", "threads allocate from a container without pages", PFS_CASE_INDEX, 3, 1, 0,
	  growth_configure, NULL, { keep_body, keep_body, keep_body }, growth_finish },
	{ "share", "threads share the first page; no second one may be added", PFS_CASE_INDEX, 2,
	  1, 0, share_configure, NULL, { keep_body, keep_body, keep_body }, share_finish },
	{ "four_pages", "four pages, two with room; no page may be added", PFS_CASE_INDEX, 4, 1, 4,
	  four_pages_configure, four_pages_fill, { keep_body, keep_body, keep_body },
	  four_pages_finish },
	{ "handoff", "one thread allocates, another frees", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 2,
	  0, handoff_configure, NULL, { send_body, receive_body, pfs_case_churn },
	  handoff_finish },
	{ "reclaim", "allocate and free while passes give pages back", PFS_CASE_RECLAIM, 2, 1, 0,
	  reclaim_configure, reclaim_fill, { pfs_case_churn, pfs_case_pass, pfs_case_churn },
	  NULL },
	{ "beside", "a pass gives a page back beside an allocator that needs none of it",
	  PFS_CASE_RECLAIM | PFS_CASE_BESIDE, 2, 1, 2, beside_configure, beside_fill,
	  { pfs_case_churn, pfs_case_pass, pfs_case_churn }, NULL },
	{ .name = NULL },
};
/* clang-format on */
