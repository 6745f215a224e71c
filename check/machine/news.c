#include "check/machine/news.h"

#include <stdlib.h>
#include <string.h>

#include "check/machine/grow.h"
#include "check/machine/machine.h"
#include "check/machine/actors.h"
#include "check/machine/snapshot.h"

/* The relevant parts of a step. */
struct pfs_news_step {
	char *address;
	uint64_t bytes; /* touched */
	uint64_t seen, written;
	uint32_t thread;
	uint32_t message; /* views: read or written */
	uint8_t kind;
	bool wrote;
	bool shown; /* memory that others see was written */
	bool own;   /* tso: read from the thread's own buffer */
};

void pfs_news_fini(struct pfs_news *self)
{
	free(self->steps);
	free(self->found);
	pfs_scratch_fini(&self->arena);
}

void pfs_news_reset(struct pfs_news *self)
{
	self->waiting = 0;
	self->tries = 0;
	pfs_scratch_clear(&self->arena);
}

static bool reads(uint8_t kind)
{
	return kind == PFS_SIM_LOAD || kind == PFS_SIM_AWAIT || pfs_kind_is_rmw(kind);
}

static bool touches(const struct pfs_news_step *step, const struct pfs_news_read *read)
{
	const char *first = read->address;
	return step->address < first + read->size_bytes && first < step->address + step->bytes;
}

bool pfs_news_is(const struct pfs_news_read *read, const void *address, uint32_t size_bytes,
		 uint64_t written)
{
	return address != read->address || size_bytes != read->size_bytes || size_bytes > 8 ||
	       written != read->value;
}

/* Of a step of another thread. With old values the write may come before what was read in
 * modification order. */
static bool is_news(const struct pfs_machine *machine, const struct pfs_news_step *step,
		    const struct pfs_news_read *read)
{
	if (!step->shown || !touches(step, read) || read->since == PFS_NEWS_LATER)
		return false;
	if (step->kind == PFS_SIM_UNMAP)
		return true;
	return pfs_news_is(read, step->address, (uint32_t)step->bytes, step->written) &&
	       (!machine->model->keeps_old || step->address != read->address ||
		machine->model->is_behind(machine, read, step->message));
}

/* ---- what a thread has read ---- */

static struct pfs_news_read *find(struct pfs_news *self, uint32_t count,
				  const struct pfs_news_step *step)
{
	for (uint32_t i = 0; i < count; i++) {
		if (touches(step, &self->found[i]))
			return &self->found[i];
	}
	return NULL;
}

static bool is_same(const struct pfs_news_read *read, const struct pfs_news_step *step)
{
	return read->address == step->address && read->size_bytes == step->bytes;
}

/* What the thread itself has written is no news to it. */
static void write_own(struct pfs_looks *looks, struct pfs_news_read *read,
		      const struct pfs_news_step *step, uint32_t at)
{
	looks->early |= looks->news;
	read->value = step->written;
	read->since = at;
	read->message = step->message;
}

static void note_own(struct pfs_news *self, struct pfs_looks *looks, uint32_t at)
{
	const struct pfs_news_step *step = &self->steps[at];
	struct pfs_news_read *before = find(self, looks->count, step);
	bool looked = reads(step->kind);
	if (before != NULL &&
	    (!is_same(before, step) || (looked && !step->own && step->seen != before->value)))
		looks->early = true;
	if (before == NULL && looked &&
	    pfs_grow((void **)&self->found, &self->found_room, looks->count + 1,
		     sizeof(*self->found))) {
		before = &self->found[looks->count++];
		*before = (struct pfs_news_read){ step->address, step->seen, (uint32_t)step->bytes,
						  step->own ? PFS_NEWS_LATER : at, step->message };
	}
	if (before != NULL && step->shown && is_same(before, step))
		write_own(looks, before, step, at);
}

void pfs_news_arrive(struct pfs_machine *machine, struct pfs_vthread *thread)
{
	struct pfs_news *self = &machine->news;
	bool repeats = thread->pending.operand == PFS_YIELD_LOOP ||
		       thread->pending.operand == PFS_YIELD_AGAIN;
	struct pfs_looks looks = { .from = thread->pending.operand != 0
						   ? (uint32_t)thread->pending.expected
						   : thread->looks.from };
	bool keeps_old = machine->model->keeps_old;
	for (uint32_t at = looks.from; at < machine->run.step_count; at++) {
		const struct pfs_news_step *step = &self->steps[at];
		if (step->thread != thread->id) {
			for (uint32_t i = 0; i < looks.count && !keeps_old; i++)
				looks.news |= is_news(machine, step, &self->found[i]);
		} else if (step->address != NULL) {
			note_own(self, &looks, at);
		}
	}
	/* With old values it does not matter when the newer value was written. */
	for (uint32_t i = 0; keeps_old && i < looks.count; i++)
		looks.news |= machine->model->has_news(machine, &self->found[i]);
	looks.early |= looks.count == 0 && !repeats;
	looks.news |= looks.early;
	struct pfs_news_read *kept = pfs_scratch_take(&self->arena,
						      (looks.count + 1) * sizeof(*kept));
	if (looks.count != 0)
		memcpy(kept, self->found, looks.count * sizeof(*kept));
	looks.reads = kept;
	self->waiting += !looks.news;
	thread->looks = looks;
}

/* ---- steps ---- */

static bool stands_at_yield(const struct pfs_vthread *thread)
{
	return thread->state == PFS_VTHREAD_READY && thread->pending.kind == PFS_SIM_YIELD;
}

static void tell(struct pfs_machine *machine, const struct pfs_news_step *step)
{
	struct pfs_news *self = &machine->news;
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		struct pfs_vthread *thread = machine->threads[id];
		struct pfs_looks *looks = &thread->looks;
		if (!stands_at_yield(thread) || id == step->thread || looks->news)
			continue;
		for (uint32_t i = 0; i < looks->count && !looks->news; i++)
			looks->news = is_news(machine, step, &looks->reads[i]);
		self->waiting -= looks->news;
		self->tries = looks->news ? 0 : self->tries;
	}
}

/* A store of a thread with a pending yield has left its buffer. */
static void tell_own(struct pfs_machine *machine, const struct pfs_news_step *step)
{
	struct pfs_vthread *thread = machine->threads[step->thread];
	struct pfs_looks *looks = &thread->looks;
	for (uint32_t i = 0; stands_at_yield(thread) && i < looks->count; i++) {
		if (is_same(&looks->reads[i], step))
			write_own(looks, &looks->reads[i], step, machine->run.step_count);
	}
}

bool pfs_news_step(struct pfs_machine *machine, const struct pfs_step *step)
{
	struct pfs_news *self = &machine->news;
	const struct pfs_sim_operation *ran = &step->operation;
	uint32_t at = machine->run.step_count;
	if (!pfs_grow((void **)&self->steps, &self->room, at + 1, sizeof(*self->steps)))
		return false;
	bool unmaps = ran->kind == PFS_SIM_UNMAP;
	bool has_bytes = unmaps || (ran->size_bytes != 0 && ran->kind != PFS_SIM_NOTE);
	self->steps[at] =
		(struct pfs_news_step){ has_bytes ? ran->address : NULL,
					unmaps ? ran->operand : ran->size_bytes,
					step->seen,
					step->written,
					step->thread,
					0,
					ran->kind,
					step->wrote,
					unmaps || (step->wrote && !pfs_model_buffers(machine, ran)),
					machine->model->buffers && ran->kind != PFS_SIM_DRAIN &&
						step->source != PFS_STEP_NONE };
	if (machine->model->keeps_old && has_bytes && !unmaps)
		self->steps[at].message = machine->model->last(machine, step->thread, ran->address);
	if (ran->kind == PFS_SIM_DRAIN)
		tell_own(machine, &self->steps[at]);
	if (self->waiting != 0 && self->steps[at].shown)
		tell(machine, &self->steps[at]);
	return true;
}

static bool needs_news(const struct pfs_vthread *thread)
{
	uint64_t how = thread->pending.operand;
	return how == PFS_YIELD_LOOP || how == PFS_YIELD_SPENT;
}

void pfs_news_nobody(struct pfs_machine *machine)
{
	struct pfs_news *self = &machine->news;
	if (self->waiting == 0 || self->tries == PFS_NEWS_TRIES_MAX || pfs_machine_any(machine))
		return;
	self->tries++;
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		struct pfs_looks *looks = &machine->threads[id]->looks;
		if (!stands_at_yield(machine->threads[id]) || looks->news ||
		    needs_news(machine->threads[id]))
			continue;
		looks->news = true;
		looks->alone = machine->run.step_count;
		self->waiting--;
	}
}

void pfs_news_keep(struct pfs_machine *machine, struct pfs_machine_snapshot *snapshot)
{
	struct pfs_news *self = &machine->news;
	pfs_snapshot_put(snapshot, &self->waiting, sizeof(self->waiting));
	pfs_snapshot_put(snapshot, &self->tries, sizeof(self->tries));
	pfs_snapshot_put_scratch(snapshot, &self->arena);
	for (uint32_t id = 0; id < machine->thread_count; id++) {
		const struct pfs_looks *looks = &machine->threads[id]->looks;
		if (stands_at_yield(machine->threads[id]))
			pfs_snapshot_put(snapshot, looks->reads,
					 looks->count * sizeof(*looks->reads));
	}
}
