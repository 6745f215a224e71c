/*
 * case_loops.c - threads that loop forever, for the search to a fixpoint (check/search/fixpoint.h):
 * each one chooses its next call again and again.
 *
 * Checked in every state: no record has two owners, words of records change only along their edges,
 * and at rest every free record is in one place and announced. An allocate of an exact policy may
 * neither be refused nor add a page if, at every moment of the call, more records were surely free
 * than other threads were in an allocate. A record is surely free if it is in a page, has no owner,
 * and its free has reached memory.
 */
#include "variants/magazine/magazine.h"
#include "containers/place.h"
#include "sim/cases/balance.h"
#include "sim/cases/case_kind.h"
#include "sim/cases/loop_normal.h"
#include "check/machine/model.h"
#include "sim/seams/probe.h"
#include "check/machine/trace.h"

#include <string.h>

#define HELD_MOST 2u /* records that a thread has at a time */

/* ---- checks between two steps ---- */

static void check_words(struct pfs_case *self)
{
	uint32_t records = self->config.page_records;
	for (uint32_t index = 0; index < self->config.page_max * records; index++) {
		uint32_t now, before = self->word[index];
		if (!pfs_probe_word(self->container, index / records, index % records, &now)) {
			self->word[index] = UINT32_MAX;
			continue;
		}
		self->word[index] = now;
		PFS_MACHINE_CHECK(before == UINT32_MAX || now / 4 - before / 4 <= 2,
				  "version of record %u changed from %u to %u", index, before / 4,
				  now / 4);
	}
}

/* With store buffers, a free counts once it has reached memory. */
static void end_frees(struct pfs_case *self)
{
	for (uint32_t index = 0; index < PFS_CASE_RECORDS_MAX; index++) {
		uint32_t by = self->loops.freeing[index];
		if (by != 0 && self->loops.in_call[by - 1] == 0 &&
		    self->machine->threads[by - 1]->buffer_count == 0)
			self->loops.freeing[index] = 0;
	}
}

static uint32_t surely_free(const struct pfs_case *self)
{
	uint32_t records = self->config.page_records, sum = 0;
	for (uint32_t index = 0; index < self->config.page_max * records; index++) {
		sum += self->word[index] != UINT32_MAX && self->owner[index] == 0 &&
		       self->loops.freeing[index] == 0;
	}
	return sum;
}

static void end_dues(struct pfs_case *self)
{
	uint32_t takers = 0, free = surely_free(self);
	for (uint32_t id = 0; id < self->thread_count; id++)
		takers += self->loops.takes[id];
	for (uint32_t id = 0; id < self->thread_count; id++) {
		if (free < takers) /* the takers include the thread itself */
			self->loops.is_due[id] = 0;
	}
}

static bool is_at_rest(const struct pfs_case *self)
{
	for (uint32_t id = 0; id < self->thread_count; id++) {
		if (self->loops.in_call[id] != 0 || self->machine->threads[id]->buffer_count != 0)
			return false;
	}
	return true;
}

void pfs_loops_check(void *context)
{
	struct pfs_case *self = context;
	pfs_sim_quiet(); /* the caller may be a virtual thread */
	check_words(self);
	end_frees(self);
	end_dues(self);
	if (is_at_rest(self))
		pfs_balance_check(self->container, self->owner);
	pfs_sim_loud();
}

/* ---- calls ---- */

static bool is_exact(const struct pfs_case *self)
{
	/* With old values, a free counts only for threads that know of it, which this file does
	 * not track. */
	return (self->variant->traits & PFS_TRAIT_EXACT) != 0 && !self->machine->model->keeps_old;
}

static uint32_t index_of(struct pfs_case *self, const void *record)
{
	struct pfs_place place = pfs_place_in(self->container, record);
	return place.page->index * self->config.page_records + place.slot;
}

static void take_by(struct pfs_case_thread *thread,
		    struct pfs_claim (*allocate)(struct pfs_thread *handle))
{
	struct pfs_case *self = thread->own;
	uint32_t id = thread->id;
	if ((self->kind->traits & PFS_CASE_TIMED) != 0)
		pfs_machine_note(&self->clock, "begin");
	self->loops.in_call[id] = self->loops.takes[id] = self->loops.is_due[id] = 1;
	pfs_trace_mark(self->machine, id, "[allocate");
	struct pfs_claim claim = allocate(thread->handle);
	bool is_due = allocate == pfs_allocate && self->loops.is_due[id] != 0;
	self->loops.takes[id] = self->loops.is_due[id] = 0;
	if (claim.record == NULL) {
		self->loops.in_call[id] = 0;
		self->fulls++;
		pfs_trace_mark(self->machine, id, "] allocate: full");
		PFS_MACHINE_CHECK(!is_due || !is_exact(self),
				  "allocate answered full although a record was free throughout");
		return;
	}
	uint32_t index = index_of(self, claim.record);
	pfs_trace_mark(self->machine, id, "] allocate: record %u", index);
	PFS_MACHINE_CHECK(index < PFS_CASE_RECORDS_MAX, "a record of index %u", index);
	PFS_MACHINE_CHECK(self->owner[index] == 0,
			  "record %u allocated twice: by thread %u while thread %u owns it", index,
			  id, self->owner[index] - 1);
	self->owner[index] = id + 1;
	self->loops.held[index] = claim.record;
	pfs_publish(thread->handle, claim);
	self->loops.in_call[id] = 0;
}

static void take(struct pfs_case_thread *thread)
{
	take_by(thread, pfs_allocate);
}

static void give(struct pfs_case_thread *thread, uint32_t index)
{
	struct pfs_case *self = thread->own;
	void *record = self->loops.held[index];
	pfs_machine_note(&self->cell[index], "given");
	PFS_MACHINE_CHECK(self->owner[index] == thread->id + 1,
			  "record %u is freed but has no owner", index);
	self->owner[index] = 0;
	self->loops.held[index] = NULL;
	self->loops.freeing[index] = (uint8_t)(thread->id + 1);
	self->loops.in_call[thread->id] = 1;
	pfs_trace_mark(self->machine, thread->id, "[free record %u", index);
	pfs_free(thread->handle, record);
	pfs_trace_mark(self->machine, thread->id, "] free");
	self->loops.in_call[thread->id] = 0;
}

/* The nth record that the thread has, or UINT32_MAX. */
static __attribute__((noinline)) uint32_t held(const struct pfs_case_thread *thread, uint32_t nth)
{
	const struct pfs_case *self = thread->own;
	for (uint32_t index = 0; index < PFS_CASE_RECORDS_MAX; index++) {
		if (self->owner[index] == thread->id + 1 && nth-- == 0)
			return index;
	}
	return UINT32_MAX;
}

static __attribute__((noinline)) uint32_t held_count(const struct pfs_case_thread *thread)
{
	uint32_t count = 0;
	while (held(thread, count) != UINT32_MAX)
		count++;
	return count;
}

/* Frees the chosen one of the thread's records, or allocates one more. */
static __attribute__((noinline)) void act(struct pfs_case_thread *thread, uint32_t chosen)
{
	uint32_t index = held(thread, chosen);
	if (index != UINT32_MAX)
		give(thread, index);
	else
		take(thread);
}

static void turn(struct pfs_case_thread *thread, uint32_t most)
{
	uint32_t count = held_count(thread);
	act(thread, pfs_machine_choose(count + (count < most)));
}

static void loop_body(struct pfs_case_thread *thread)
{
	for (;;)
		turn(thread, HELD_MOST);
}

static void all_body(struct pfs_case_thread *thread)
{
	for (;;)
		turn(thread, 3);
}

static void taker_body(struct pfs_case_thread *thread)
{
	for (;;)
		turn(thread, 1);
}

/* ---- only rings and blocks: no thread waits, proves or adds a page ---- */

/* A record from the ring, a block, or the words; or none. */
static struct pfs_claim find(struct pfs_thread *handle)
{
	void *record = pfs_magazine_take(handle->policy, true);
	if (record == NULL)
		record = pfs_magazine_take_rest(handle->policy);
	if (record == NULL)
		record = pfs_magazine_receive(handle);
	return record != NULL ? pfs_magazine_claim(handle, record)
			      : pfs_occupancy_search_rooms(handle);
}

static __attribute__((noinline)) void act_apart(struct pfs_case_thread *thread, uint32_t chosen)
{
	uint32_t index = held(thread, chosen);
	if (index != UINT32_MAX)
		give(thread, index);
	else
		take_by(thread, find);
}

static void apart_turn(struct pfs_case_thread *thread, uint32_t most)
{
	uint32_t count = held_count(thread);
	bool may_take = count < most, may_give = count != 0;
	uint32_t chosen = pfs_machine_choose((uint32_t)may_take + (uint32_t)may_give);
	act_apart(thread, may_give ? chosen * most : 0);
}

static void owner_body(struct pfs_case_thread *thread)
{
	for (;;)
		apart_turn(thread, 3);
}

static void guest_body(struct pfs_case_thread *thread)
{
	for (;;)
		apart_turn(thread, 1);
}

/* Does to the ring what detach and attach do. */
static __attribute__((noinline)) void go_and_come(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	self->loops.in_call[thread->id] = 1;
	self->variant->thread_stop(thread->handle);
	(void)self->variant->thread_start(thread->handle);
	self->loops.in_call[thread->id] = 0;
}

static void passing_body(struct pfs_case_thread *thread)
{
	for (;;) {
		if (pfs_machine_choose(2) == 0)
			apart_turn(thread, 3);
		else
			go_and_come(thread);
	}
}

/* Takes rings back, again and again, as a thread does that needs a page. */
static void empty_body(struct pfs_case_thread *thread)
{
	struct pfs_container *container = thread->own->container;
	for (;;) {
		(void)pfs_machine_choose(1); /* a moment outside of any call */
		pfs_mutex_lock(&container->growth);
		thread->own->loops.in_call[thread->id] = 1;
		(void)pfs_magazine_take_back(container);
		thread->own->loops.in_call[thread->id] = 0;
		pfs_mutex_unlock(&container->growth);
	}
}

/* ---- pages are added and given back ---- */

static void __attribute__((noinline)) pass(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	self->loops.in_call[thread->id] = 1;
	(void)pfs_reclaim_pass(thread->handle);
	self->loops.in_call[thread->id] = 0;
}

/* The owner must find its record by the record's address. */
static void look_at_own(struct pfs_case_thread *thread)
{
	uint32_t index = held(thread, 0);
	const char *record = index != UINT32_MAX ? thread->own->loops.held[index] : NULL;
	if (record != NULL)
		PFS_MACHINE_CHECK(pfs_lookup_address(thread->handle, record + 7) == record,
				  "the owner of record %u does not find it", index);
}

static void pages_body(struct pfs_case_thread *thread)
{
	for (;;) {
		uint32_t chosen = pfs_machine_choose(5);
		if (chosen == 0)
			pass(thread);
		else if (chosen == 1)
			look_at_own(thread);
		else
			turn(thread, HELD_MOST);
	}
}

/* In a section, a record stays where it is. A look-up by its address finds that record or none. */
static void look_body(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	for (;;) {
		uint32_t index = pfs_machine_choose(self->config.page_max);
		pfs_enter(thread->handle);
		const char *record = pfs_lookup(thread->handle, index);
		if (record != NULL)
			(void)pfs_version(record);
		pfs_leave(thread->handle);
		const void *found = record != NULL ? pfs_lookup_address(thread->handle, record + 7)
						   : NULL;
		PFS_MACHINE_CHECK(found == NULL || found == record,
				  "the record with byte 7 of record %u is %p, not %p", index, found,
				  (const void *)record);
	}
}

/* ---- set-ups ---- */

/* Each thread becomes the owner of HELD_MOST records that the set-up keeps. */
void pfs_loops_begin(struct pfs_case *self)
{
	for (uint32_t i = 0; i < self->kept_count; i++) {
		uint32_t index = index_of(self, self->kept[i]);
		self->owner[index] = i / HELD_MOST + 1;
		self->loops.held[index] = self->kept[i];
		self->kept[i] = NULL;
	}
	self->kept_count = 0;
	memset(self->version, 0, sizeof(self->version));
	memset(self->threads + self->thread_count, 0,
	       (PFS_CASE_THREADS_MAX - self->thread_count) * sizeof(self->threads[0]));
	memset(&self->loops.freeing, 0, sizeof(self->loops) - sizeof(self->loops.held));
	pfs_loop_normal_begin(self);
}

/* A ring that was taken back is used again at once. */
static void no_bypass(struct pfs_case *self, struct pfs_config *config)
{
	(void)config;
	self->bypass = 0;
}

/* A block has one of three records, and thread 0 has the others. */
static void block_fill(struct pfs_case *self)
{
	pfs_case_keep_all(self);
	pfs_case_unkeep(self, 0, self->kept_count);
	self->kept_count = 0;
	pfs_case_keep(self, 2);
}

#define LOOPS (PFS_CASE_INDEX | PFS_CASE_LOOPS | PFS_CASE_APART)
#define RINGS .ring_records = 2, .hints = 1 /* and blocks of one record */

/* clang-format off */
const struct pfs_case_kind pfs_cases_loops[] = {
	{ "loop_depot", "threads allocate and free forever, by rings of two and blocks of one",
	  LOOPS | PFS_CASE_RINGS, 2, 1, 4, { PFS_CASE_PAGES(4, 1, 1), RINGS }, NULL,
	  pfs_case_keep_all, { loop_body, loop_body, taker_body }, NULL },
	{ "loop_rings", "two threads take each other's last record forever", LOOPS | PFS_CASE_RINGS,
	  2, 1, 4, { PFS_CASE_PAGES(3, 1, 1), RINGS }, NULL, block_fill,
	  { all_body, loop_body, taker_body }, NULL },
	{ "loop_taker", "a thread uses two records forever, and another one wants a third",
	  LOOPS | PFS_CASE_RINGS, 2, 1, 4, { PFS_CASE_PAGES(3, 1, 1), RINGS }, NULL,
	  pfs_case_keep_all, { all_body, taker_body, taker_body }, NULL },
	{ "loop_one", "two threads allocate and free the only record forever", LOOPS, 2, 1, 4,
	  { PFS_CASE_PAGES(1, 1, 1), RINGS }, NULL, pfs_case_keep_all,
	  { taker_body, taker_body, taker_body }, NULL },
	{ "loop_pair", "the same with two records; one thread may have both", LOOPS, 2, 1, 4,
	  { PFS_CASE_PAGES(2, 1, 1), RINGS }, NULL, pfs_case_keep_all,
	  { loop_body, taker_body, taker_body }, NULL },
	{ "loop_words", "two threads allocate and free three records of two words forever", LOOPS,
	  2, 1, 4, { PFS_CASE_PAGES(3, 1, 1), .word_records = 2, .hints = 1 }, NULL,
	  pfs_case_keep_all, { loop_body, loop_body, taker_body }, NULL },
	{ "loop_trees", "the same with three words, under trees of two levels", LOOPS, 2, 1, 4,
	  { PFS_CASE_PAGES(3, 1, 1), .word_records = 1, .room_fan = 2, .hints = 1 }, NULL,
	  pfs_case_keep_all, { loop_body, loop_body, taker_body }, NULL },
	{ "loop_ring", "an owner uses its ring and blocks forever; another thread takes them back",
	  LOOPS | PFS_CASE_RINGS, 2, 1, 3, { PFS_CASE_PAGES(3, 1, 1), RINGS }, no_bypass,
	  block_fill, { owner_body, empty_body, guest_body }, NULL },
	{ "loop_passing", "the same; the owner's handle is also detached and attached forever",
	  LOOPS | PFS_CASE_RINGS, 2, 1, 3, { PFS_CASE_PAGES(3, 1, 1), RINGS }, no_bypass,
	  block_fill, { passing_body, empty_body, guest_body }, NULL },
	{ "loop_pages", "threads allocate, free and run passes forever; a third looks records up",
	  LOOPS | PFS_TRAIT_RECLAIM, 2, 1, 3, { PFS_CASE_PAGES(1, 0, 3), RINGS }, NULL, NULL,
	  { pages_body, pages_body, look_body }, NULL },
	{ .name = NULL },
};
/* clang-format on */
