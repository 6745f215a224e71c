/*
 * case_oracle.c - the calls that bodies make, each checked against the oracle, which knows every
 * owner.
 */
#include "sim/cases/case_kind.h"
#include "check/machine/depends.h"
#include "check/machine/trace.h"

static uint64_t index_of(struct pfs_case_thread *thread, const void *record)
{
	uint64_t index = pfs_index(thread->handle, record);
	PFS_MACHINE_CHECK(index < PFS_CASE_RECORDS_MAX, "thread %u got a record of index %llu",
			  thread->id, (unsigned long long)index);
	return index % PFS_CASE_RECORDS_MAX;
}

/* A tick of the clock at the begin or end of a call: see PFS_CASE_TIMED. */
static void tick(struct pfs_case *self, uint64_t which)
{
	if ((self->kind->traits & PFS_CASE_TIMED) != 0)
		(void)pfs_sim_change(PFS_SIM_NOTE, &self->clock, 1, which, PFS_SIM_RELAXED,
				     PFS_SIM_PLACE("call"));
}

/*
 * The same at the end of an allocate that got a record, and at the begin of a free. An answer of
 * full is wrong if frees had ended when its call began, and no call had begun to take the freed
 * records. history.h needs nothing else of the order of calls, because memory tells an owner that
 * the one before it is done. So an exhaustive search may skip these ticks.
 */
static void tick_spared(struct pfs_case *self, uint64_t which)
{
	if ((self->kind->traits & PFS_CASE_SPARING) == 0)
		tick(self, which);
}

/* The thread itself: bodies with several handles pass copies of it. */
static struct pfs_case_thread *self_of(struct pfs_case_thread *thread)
{
	return &thread->own->threads[thread->id];
}

static void set_doing(struct pfs_case_thread *thread, const char *doing, uint32_t in_hands)
{
	self_of(thread)->doing = doing;
	self_of(thread)->in_hands = in_hands;
}

static void begin_take(struct pfs_case_thread *thread, uint32_t count)
{
	struct pfs_case *self = thread->own;
	tick(self, PFS_NOTE_BEGIN);
	pfs_case_history_call(&self->history, thread->id);
	set_doing(thread, "allocate", count);
	pfs_trace_mark(self->machine, thread->id, "[allocate");
}

static void note_refused(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	set_doing(thread, NULL, 0);
	thread->refused++;
	pfs_trace_mark(self->machine, thread->id, "] allocate: full");
	self->fulls++;
	self->fulls_now++;
	pfs_case_history_refused(&self->history, thread->id,
				 pfs_thread_status(thread->handle) == PFS_FULL);
}

/* A claim that the call returned; the call ends with the last one. Until the record has an owner,
 * it is in the hands of the call. */
static void note_taken(struct pfs_case_thread *thread, struct pfs_claim claim, bool is_last)
{
	struct pfs_case *self = thread->own;
	uint64_t began = self->history.began[thread->id];
	PFS_MACHINE_CHECK(thread->refused != 0 || pfs_thread_status(thread->handle) == PFS_OK ||
				  !is_last,
			  "thread %u was never refused, but its status says %s", thread->id,
			  pfs_status_text(pfs_thread_status(thread->handle)));
	uint64_t index = index_of(thread, claim.record);
	pfs_trace_mark(self->machine, thread->id, "] allocate: record %u", (uint32_t)index);
	pfs_case_history_allocated(&self->history, thread->id, (uint32_t)index);
	if (!is_last)
		self->history.began[thread->id] = began;
	/* Skipped where ticks are: an owner then begins with the last step of its call, and ends
	 * with a step of its own, so that the check below still sees two owners. */
	if ((self->kind->traits & PFS_CASE_SPARING) == 0)
		pfs_machine_note(&self->cell[index], "taken");
	PFS_MACHINE_CHECK(self->owner[index] == 0,
			  "record %llu allocated twice: by thread %u while thread %u owns it",
			  (unsigned long long)index, thread->id, self->owner[index] - 1);
	self->owner[index] = thread->id + 1;
	set_doing(thread, is_last ? NULL : "allocate", self_of(thread)->in_hands - 1);
}

struct pfs_claim pfs_case_take(struct pfs_case_thread *thread)
{
	begin_take(thread, 1);
	struct pfs_claim claim = pfs_allocate(thread->handle);
	(claim.record == NULL ? tick : tick_spared)(thread->own, PFS_NOTE_END);
	if (claim.record == NULL)
		note_refused(thread);
	else
		note_taken(thread, claim, true);
	return claim;
}

uint32_t pfs_case_take_many(struct pfs_case_thread *thread, struct pfs_claim *claims,
			    uint32_t count)
{
	begin_take(thread, count);
	uint32_t taken = pfs_allocate_many(thread->handle, claims, count);
	tick(thread->own, PFS_NOTE_END);
	for (uint32_t i = 0; i < taken; i++)
		note_taken(thread, claims[i], i + 1 == count);
	if (taken < count)
		note_refused(thread);
	return taken;
}

void pfs_case_publish(struct pfs_case_thread *thread, struct pfs_claim claim)
{
	struct pfs_case *self = thread->own;
	uint64_t index = index_of(thread, claim.record);
	set_doing(thread, "publish", 0);
	pfs_publish(thread->handle, claim);
	set_doing(thread, NULL, 0);
	if (!pfs_case_has_words(self))
		return;
	uint32_t version = pfs_version(claim.record);
	PFS_MACHINE_CHECK(version > self->version[index],
			  "version of record %llu not raised: published as %u after %u",
			  (unsigned long long)index, version, self->version[index]);
	self->version[index] = version;
}

/* Around a free, or an abandon. */
static uint32_t begin_free(struct pfs_case_thread *thread, void *record, const char *doing)
{
	struct pfs_case *self = thread->own;
	uint64_t index = index_of(thread, record);
	pfs_machine_note(&self->cell[index], "given");
	PFS_MACHINE_CHECK(self->owner[index] != 0, "record %llu, freed by thread %u, has no owner",
			  (unsigned long long)index, thread->id);
	set_doing(thread, doing, self_of(thread)->in_hands + 1);
	self->owner[index] = 0;
	tick_spared(self, PFS_NOTE_BEGIN);
	uint32_t life = pfs_case_history_free(&self->history, (uint32_t)index);
	pfs_trace_mark(self->machine, thread->id, "[%s record %u", doing, (uint32_t)index);
	return life;
}

static void end_free(struct pfs_case_thread *thread, uint32_t life)
{
	struct pfs_case *self = thread->own;
	uint32_t left = self_of(thread)->in_hands - 1;
	pfs_trace_mark(self->machine, thread->id, "] %s", self_of(thread)->doing);
	set_doing(thread, left != 0 ? self_of(thread)->doing : NULL, left);
	tick(self, PFS_NOTE_END);
	pfs_case_history_freed(&self->history, self->machine, thread->id, life);
}

void pfs_case_give(struct pfs_case_thread *thread, void *record)
{
	uint32_t life = begin_free(thread, record, "free");
	pfs_free(thread->handle, record);
	end_free(thread, life);
}

void pfs_case_give_many(struct pfs_case_thread *thread, void *const *records, uint32_t count)
{
	uint32_t lives[PFS_CASE_MANY_MAX];
	for (uint32_t i = 0; i < count; i++)
		lives[i] = begin_free(thread, records[i], "free");
	pfs_free_many(thread->handle, records, count);
	for (uint32_t i = 0; i < count; i++)
		end_free(thread, lives[i]);
}

void pfs_case_abandon(struct pfs_case_thread *thread, struct pfs_claim claim)
{
	uint32_t life = begin_free(thread, claim.record, "abandon");
	pfs_abandon(thread->handle, claim);
	end_free(thread, life);
}
