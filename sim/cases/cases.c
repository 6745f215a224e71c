#include "sim/cases/cases.h"

#include <string.h>

#include "sim/cases/balance.h"
#include "sim/cases/case_kind.h"
#include "sim/cases/loop_normal.h"
#include "check/search/dpor.h"
#include "check/machine/model.h"
#include "sim/seams/probe.h"
#include "sim/seams/seams.h"
#include "check/search/states.h"
#include "check/machine/trace.h"

/* Between two steps: words change only along the edges of pfs_lock, and no version falls. */
static void check_words(void *context)
{
	struct pfs_case *self = context;
	uint32_t records = self->config.page_records;
	pfs_case_history_step(&self->history, self->machine);
	for (uint32_t index = 0; index < self->config.page_max * records; index++) {
		uint32_t now, before = self->word[index];
		bool published = pfs_probe_word(self->container, index / records, index % records,
						&now);
		if (index % records == 0)
			pfs_case_history_page(&self->history, self->machine, index / records,
					      published);
		if (!published)
			continue; /* versions continue when the index is reused */
		self->word[index] = now;
		if (before == UINT32_MAX || before == now)
			continue;
		uint32_t version_before = before / 4, version = now / 4;
		PFS_MACHINE_CHECK(version >= version_before,
				  "version of record %u fell from %u to %u", index, version_before,
				  version);
		PFS_MACHINE_CHECK(version <= version_before + 2,
				  "version of record %u jumped from %u to %u", index,
				  version_before, version);
	}
}

/* ---- set-up and end of every case ---- */

/* The records' own words are behind the bytes that the cases write. With them the addresses of
 * pages stay, too. */
static void configure_layout(const struct pfs_case *self, struct pfs_config *config)
{
	config->layout = self->layout;
	config->bare_words = self->bare_words;
	config->record_size_bytes = 16;
	if (self->layout != PFS_LAYOUT_OWN_WORD)
		return;
	config->word_offset = 16;
	config->record_size_bytes = 24;
	if ((self->variant->traits & PFS_TRAIT_RECLAIM) != 0)
		config->give_back = PFS_GIVE_BACK_MEMORY;
}

static bool loops(const struct pfs_case *self)
{
	return (self->kind->traits & PFS_CASE_LOOPS) != 0;
}

static uint32_t or_default(uint32_t given, uint32_t usual)
{
	return given != 0 ? given : usual;
}

/* The container as the case wants it. */
static void shape(struct pfs_case *self)
{
	const struct pfs_case_shape *shape = &self->kind->shape;
	pfs_case_pages(&self->config, shape->records, shape->made, shape->most);
	self->config.reclaim = (struct pfs_reclaim_config){
		.headroom_percent = 0, .idle_passes = or_default(shape->idle_passes, 1)
	};
	self->word_records = or_default(shape->word_records, PFS_SIM_WORD_RECORDS);
	self->room_fan = or_default(shape->room_fan, PFS_SIM_ROOM_FAN);
	self->ring_records = or_default(shape->ring_records, PFS_SIM_RING_RECORDS);
	self->hints = or_default(shape->hints, PFS_SIM_HINTS);
	self->bypass = PFS_SIM_BYPASS;
	if (self->kind->configure != NULL)
		self->kind->configure(self, &self->config);
	pfs_sim_word_records_set(self->word_records);
	pfs_sim_room_fan_set(self->room_fan);
	pfs_sim_ring_records_set(self->ring_records);
	pfs_sim_hints_set(self->hints);
	pfs_sim_bypass_set(self->bypass < self->ring_records ? self->bypass : self->ring_records);
	pfs_sim_proof_looks_set(1); /* then it waits: each further look is one more schedule */
}

static void run_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	thread->own->kind->bodies[thread->id < 2 ? thread->id : 2](thread);
}

static void setup(struct pfs_machine *machine, void *context)
{
	struct pfs_case *self = context;
	struct pfs_message message;
	self->machine = machine;
	machine->setup.drains_end = !self->real_time;
	machine->setup.oracle = self;
	machine->setup.oracle_bytes = sizeof(*self);
	machine->memory.reuses = loops(self);
	machine->setup.free_yields = loops(self);
	pfs_config_init(&self->config);
	configure_layout(self, &self->config);
	self->config.full_flags = self->full_flags;
	self->config.owner_fences = self->owner_fences;
	shape(self);
	memset(self->owner, 0, sizeof(self->owner));
	memset(self->version, 0, sizeof(self->version));
	memset(self->word, 0xFF, sizeof(self->word));
	memset(self->visits, 0, sizeof(self->visits));
	self->kept_count = 0;
	self->extra_count = 0;
	self->mailbox = 0;
	self->fulls_now = 0;
	self->reads_now = 0;
	if (pfs_container_create(self->variant, &self->config, &self->container, &message) !=
	    PFS_OK) {
		pfs_machine_fail("set-up: %s", message.text);
		return;
	}
	pfs_case_attach(self, &self->setup);
	if (self->kind->fill != NULL)
		self->kind->fill(self);
	pfs_case_history_begin(&self->history, (self->variant->traits & PFS_TRAIT_EXACT) != 0,
			       self->real_time, self->config.page_records);
	self->history.learned = machine->model->keeps_old &&
				(self->kind->traits & PFS_CASE_TIMED) == 0;
	for (uint32_t index = 0; index < PFS_CASE_RECORDS_MAX; index++) {
		if (self->owner[index] != 0)
			pfs_case_history_keep(&self->history, index);
	}
	machine->hooks.check = loops(self) ? pfs_loops_check : check_words;
	machine->hooks.check_context = self;
	for (uint32_t id = 0; id < self->thread_count; id++) {
		self->threads[id] = (struct pfs_case_thread){ .own = self, .id = id };
		pfs_case_attach(self, &self->threads[id].handle);
		(void)pfs_machine_spawn(machine, 0, run_body, &self->threads[id]);
	}
	if (loops(self) && machine->run.end == PFS_END_DONE)
		pfs_loops_begin(self);
}

/* At the end, owned records are ALLOCATED, all others are FREE, and no page has leaked. */
static void check_end(struct pfs_case *self)
{
	struct pfs_probe_states states;
	uint32_t owned = 0;
	for (uint32_t index = 0; index < PFS_CASE_RECORDS_MAX; index++)
		owned += self->owner[index] != 0;
	pfs_probe_states(self->container, &states);
	if (pfs_case_has_words(self) && (states.allocated != owned || states.dirty != 0)) {
		pfs_machine_fail("lost: %u records are owned, but %u ALLOCATED and %u DIRTY", owned,
				 states.allocated, states.dirty);
		return;
	}
	struct pfs_counts counts;
	pfs_container_counts(self->container, &counts);
	self->reclaimed += counts.reclaimed;
	if ((self->variant->traits & PFS_TRAIT_STRICT) != 0 &&
	    counts.page_skips + counts.record_skips != 0) {
		pfs_machine_fail("a strict policy skipped %llu pages and %llu records",
				 (unsigned long long)counts.page_skips,
				 (unsigned long long)counts.record_skips);
		return;
	}
	/* Kept pages are mapped, too: at most twice the capacity, see containers/reclaim.c. */
	uint64_t mapped_max = states.pages + counts.pages_waiting + 1;
	if (self->config.give_back != PFS_GIVE_BACK_ADDRESSES)
		mapped_max = 2 * (uint64_t)self->config.page_max + 1;
	if (counts.pages != states.pages)
		pfs_machine_fail("%llu pages counted, %u in the directory",
				 (unsigned long long)counts.pages, states.pages);
	else if (self->machine->memory.mapped > mapped_max)
		pfs_machine_fail("%llu pages mapped, %u in the directory, %llu waiting: leaked",
				 (unsigned long long)self->machine->memory.mapped, states.pages,
				 (unsigned long long)counts.pages_waiting);
}

/* The state of the oracle and the bodies in one execution. */
static uint64_t known(struct pfs_machine *machine, void *context)
{
	const struct pfs_case *self = context;
	size_t bytes = offsetof(struct pfs_case, history) - offsetof(struct pfs_case, setup);
	(void)machine;
	return pfs_states_mix_words(pfs_case_history_known(&self->history), &self->setup, bytes);
}

static void leave(struct pfs_machine *machine, void *context)
{
	struct pfs_case *self = context;
	(void)machine;
	pfs_case_history_check_past(&self->history);
}

static void keep(struct pfs_machine_snapshot *snapshot, void *context)
{
	struct pfs_case *self = context;
	pfs_snapshot_put(snapshot, self, offsetof(struct pfs_case, history));
	if (loops(self))
		return;
	pfs_case_history_keep_all(&self->history, snapshot);
}

static void keep_whole(struct pfs_machine_snapshot *snapshot, void *context)
{
	struct pfs_case *self = context;
	keep(snapshot, context);
	pfs_snapshot_put_count(snapshot, &self->fulls, self->fulls_now);
	pfs_snapshot_put_count(snapshot, &self->reads, self->reads_now);
}

static void finish(struct pfs_machine *machine, void *context)
{
	struct pfs_case *self = context;
	pfs_case_history_step(&self->history, machine);
	pfs_case_history_check(&self->history);
	if (machine->run.end == PFS_END_DONE && self->kind->finish != NULL && !self->skips_finish)
		self->kind->finish(self);
	if (machine->run.end == PFS_END_DONE)
		check_end(self);
	if (machine->run.end == PFS_END_DONE)
		pfs_balance_check(self->container, self->owner);
	machine->hooks.check = NULL;
	while (self->extra_count != 0)
		pfs_thread_detach(self->extra[--self->extra_count]);
	for (uint32_t id = 0; id < self->thread_count; id++)
		pfs_thread_detach(self->threads[id].handle);
	pfs_thread_detach(self->setup);
	pfs_container_destroy(self->container);
	self->container = NULL;
	if (machine->run.end == PFS_END_DONE && machine->memory.mapped != 0)
		pfs_machine_fail("%llu pages still mapped after destroy: leaked",
				 (unsigned long long)machine->memory.mapped);
}

static const struct pfs_case_kind *kind_at(size_t position)
{
	const struct pfs_case_kind *const files[] = {
		pfs_cases_basic,  pfs_cases_reading, pfs_cases_stale, pfs_cases_weak,
		pfs_cases_rings,  pfs_cases_words,   pfs_cases_rooms, pfs_cases_many,
		pfs_cases_calls,  pfs_cases_trades,  pfs_cases_depot, pfs_cases_loops
	};
	for (size_t file = 0; file < sizeof(files) / sizeof(files[0]); file++) {
		for (const struct pfs_case_kind *kind = files[file]; kind->name != NULL; kind++) {
			if (position-- == 0)
				return kind;
		}
	}
	return NULL;
}

bool pfs_case_is_apart(const struct pfs_case *self)
{
	return (self->kind->traits & PFS_CASE_APART) != 0;
}

bool pfs_case_takes_turns(const struct pfs_case *self)
{
	return (self->kind->traits & PFS_CASE_TURNS) != 0;
}

bool pfs_case_heeds_fences(const struct pfs_variant *variant)
{
	return variant->stranded != NULL; /* records in rings */
}

const char *pfs_case_name(size_t position, const char **summary)
{
	const struct pfs_case_kind *kind = kind_at(position);
	if (kind == NULL)
		return NULL;
	*summary = kind->summary;
	return kind->name;
}

static bool name_address(void *context, const void *address, char *name, size_t name_bytes)
{
	const struct pfs_case *self = context;
	return pfs_probe_name(self->container, address, name, name_bytes);
}

const char *pfs_case_init(struct pfs_case *self, const char *name,
			  const struct pfs_variant *variant, struct pfs_scenario *scenario)
{
	const struct pfs_case_kind *kind;
	size_t at = 0;
	memset(self, 0, sizeof(*self));
	size_t length = strcspn(name, ":");
	while ((kind = kind_at(at)) != NULL &&
	       (strlen(kind->name) != length || strncmp(kind->name, name, length) != 0))
		at++;
	if (kind == NULL)
		return "no such scenario";
	if ((variant->traits & PFS_TRAIT_C11) == 0)
		return "the machine sees only C11 atomics, which this policy does not use";
	if ((~variant->traits & kind->traits & ~PFS_CASE_OWN_TRAITS) != 0)
		return "it needs what this policy lacks (reclaim, or records by index)";
	if ((kind->traits & PFS_CASE_RINGS) != 0 && !pfs_case_heeds_fences(variant))
		return "it is about rings of free records, which this policy does not have";
	self->kind = kind;
	self->variant = variant;
	self->thread_count = kind->threads;
	self->thread_max = kind->threads_max != 0 ? kind->threads_max : PFS_CASE_THREADS_MAX;
	self->operations = kind->operations;
	if (name[length] != '\0' && !pfs_case_read_calls(self, name + length + 1))
		return "its calls must be one word of g and t for each thread, as in gtt,tg";
	*scenario = (struct pfs_scenario){ .name = kind->name,
					   .setup = setup,
					   .finish = finish,
					   .name_address = name_address,
					   .context = self,
					   .known = known,
					   .leave = leave,
					   .keep = keep,
					   .keep_whole = keep_whole };
	if (loops(self)) {
		scenario->is_endless = true;
		scenario->normal = &pfs_loop_normal;
	}
	return NULL;
}
