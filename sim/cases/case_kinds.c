/* case_kinds.c - the basic scenarios: churn, growth, reclaim, readers, full containers. */
#include "check/machine/atomic_backend.h"
#include "sim/cases/case_kind.h"

/* ---- churn: allocate, publish, free ---- */

static void churn_configure(struct pfs_case *self, struct pfs_config *config)
{
	pfs_case_pages(config, 1, self->thread_count, self->thread_count + 1);
}

/* There are as many records as threads, and each thread uses at most one: some record is always
 * free to a thread that asks. */
static void churn_finish(struct pfs_case *self)
{
	if ((self->variant->traits & PFS_TRAIT_EXACT) == 0)
		return;
	pfs_case_nobody_refused(self);
	pfs_case_pages_added(self, 0, "although a record was free throughout");
}

/* ---- token: never full ---- */

#define TOKEN_TURNS 12u
#define TOKEN_HOLD 24u /* steps: records are mostly in use, but never both */

/* turn = own * 256 + the number of threads that pass the token. */
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
 * Threads 1 and 2 pass a token, and only its holder owns a record. So one of the two records is
 * free at every moment, though each is in use half of the time. In the first turn both threads own
 * one, so that each later looks first for its own.
 */
static void token_body(struct pfs_case_thread *thread)
{
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

static void ask_body(struct pfs_case_thread *thread)
{
	(void)pfs_machine_await(&thread->own->mailbox, sizeof(thread->own->mailbox),
				PFS_SIM_ACQUIRE, is_past,
				2 * (uint64_t)(thread->own->thread_count - 1));
	pfs_case_churn(thread);
}

/* ---- growth: from nothing ---- */

static void growth_configure(struct pfs_case *self, struct pfs_config *config)
{
	pfs_case_pages(config, 1, 0, self->thread_count * self->operations);
}

static void keep_body(struct pfs_case_thread *thread)
{
	while (thread->operations < thread->own->operations)
		(void)pfs_case_take_and_stamp(thread);
}

/* Each thread keeps one record, and a page has one: there are exactly as many pages. */
static void growth_finish(struct pfs_case *self)
{
	pfs_case_nobody_refused(self);
	if (self->operations == 1 && self->machine->memory.mapped > self->thread_count + 1)
		pfs_machine_fail("%llu pages for %u records of one page each",
				 (unsigned long long)self->machine->memory.mapped,
				 self->thread_count);
}

/* ---- share: one page has room for all threads ---- */

static void share_configure(struct pfs_case *self, struct pfs_config *config)
{
	uint32_t records = self->thread_count * self->operations;
	uint32_t pages = PFS_CASE_RECORDS_MAX / records; /* more do not fit in the oracle */
	pfs_case_pages(config, records, 0, pages < 3 ? pages : 3);
}

static void share_finish(struct pfs_case *self)
{
	if ((self->variant->traits & (PFS_TRAIT_STRICT | PFS_TRAIT_EXACT)) != 0)
		pfs_case_pages_added(self, 1, "although the first one had room for all");
}

/* ---- four_pages: room in the middle, no page must be added ---- */

static void four_pages_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 8);
	pfs_case_unkeep(self, 2, 6);
}

static void four_pages_finish(struct pfs_case *self)
{
	if (self->thread_count * self->operations <= 4)
		pfs_case_pages_added(self, 0, "although two pages have room");
}

/* ---- reclaim: allocators race with passes ---- */

/* Two pages, one record in use. */
static void reclaim_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 2);
	pfs_case_unkeep(self, 1, 2);
}

/* ---- beside: a pass gives back a page that no allocator needs ---- */

/* Two of the three pages stay. */
static void beside_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 3);
	pfs_case_unkeep(self, 0, 3);
	(void)pfs_reclaim_pass(self->setup); /* a magazine's records go back to their pages */
}

/* ---- handoff: one thread allocates, another frees ---- */

static void send_body(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	_Atomic(uint64_t) *mailbox = (_Atomic(uint64_t) *)(void *)&self->mailbox;
	while (thread->operations < self->operations) {
		void *record = pfs_case_take_and_stamp(thread);
		uint64_t empty = 0;
		if (record != NULL && !pfs_cas_seq(mailbox, &empty, (uint64_t)(uintptr_t)record))
			pfs_case_give(thread, record);
	}
}

static void receive_body(struct pfs_case_thread *thread)
{
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
	{ "churn", "threads allocate, publish and free; there are as many records as threads",
	  PFS_CASE_INDEX | PFS_CASE_BESIDE, 2, 2, 0, { .records = 1 }, churn_configure, NULL,
	  { pfs_case_churn, pfs_case_churn, pfs_case_churn }, churn_finish },
	{ "full", "more threads than records: exact policies answer full only if it is",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 3, 2, 0, { PFS_CASE_PAGES(1, 2, 2) }, NULL, NULL,
	  { pfs_case_churn, pfs_case_churn, pfs_case_churn }, NULL },
	{ "token", "one of two records is free at every moment", PFS_CASE_INDEX | PFS_CASE_TURNS, 3,
	  1, 0, { PFS_CASE_PAGES(1, 2, 2) }, NULL, NULL, { ask_body, token_body, token_body },
	  pfs_case_exact_grants_first },
	{ "growth", "threads allocate from a container without pages", PFS_CASE_INDEX, 3, 1, 0,
	  { .records = 1 }, growth_configure, NULL, { keep_body, keep_body, keep_body },
	  growth_finish },
	{ "share", "threads share the first page; no second one may be added", PFS_CASE_INDEX, 2, 1,
	  0, { .records = 1 }, share_configure, NULL, { keep_body, keep_body, keep_body },
	  share_finish },
	{ "four_pages", "two of four pages have room; no page may be added", PFS_CASE_INDEX, 4, 1,
	  4, { PFS_CASE_PAGES(2, 4, 6) }, NULL, four_pages_fill,
	  { keep_body, keep_body, keep_body }, four_pages_finish },
	{ "handoff", "one thread allocates, another frees", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 2,
	  0, { PFS_CASE_PAGES(1, 1, 2) }, NULL, NULL, { send_body, receive_body, pfs_case_churn },
	  handoff_finish },
	{ "reclaim", "threads allocate and free while passes give pages back", PFS_CASE_RECLAIM, 2,
	  1, 0, { PFS_CASE_PAGES(1, 0, 3) }, NULL, reclaim_fill,
	  { pfs_case_churn, pfs_case_pass, pfs_case_churn }, NULL },
	{ "beside", "a pass gives back a page that no allocator needs",
	  PFS_CASE_RECLAIM | PFS_CASE_BESIDE, 2, 1, 2,
	  { PFS_CASE_PAGES(1, 2, 4), .idle_passes = 2 }, NULL, beside_fill,
	  { pfs_case_churn, pfs_case_pass, pfs_case_churn }, NULL },
	{ .name = NULL },
};
/* clang-format on */
