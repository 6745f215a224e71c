/*
 * timed_engine.c - the hooks of the machine: what an operation or a plain access costs when
 * its line is in the core's own cache, and the values.
 *
 * An operation takes effect when its thread's clock is the earliest of all and its core has
 * the line: one order for all of them, so memory is sequentially consistent.
 */
#include "sim/timed/timed_engine.h"

#include <string.h>

#include "check/machine/trace.h"

/* The level of the core's own cache, from the number of fills since the last use. */
static uint64_t own_cost(struct pfs_timed *self, const struct pfs_timed_thread *thread,
			 struct pfs_line *line, uint64_t in_l1)
{
	const struct pfs_timed_prices *prices = &self->prices;
	struct pfs_cpu_cache *core = &self->lines.cores[thread->core];
	uint32_t age = core->fills[0] - line->stamps[0];
	line->stamps[0] = core->fills[0];
	if (__builtin_expect(age < prices->l1_lines, 1)) {
		line->stamps[1] = core->fills[1];
		self->stats.hits++;
		return in_l1;
	}
	line->stamps[0] = ++core->fills[0];
	age = core->fills[1] - line->stamps[1];
	line->stamps[1] = core->fills[1];
	if (age < prices->l2_lines) {
		self->stats.hits++;
		return in_l1 + prices->l2;
	}
	line->stamps[1] = ++core->fills[1];
	struct pfs_cpu_cache *l3 = &self->lines.l3s[thread->l3];
	age = l3->fills[0] - line->stamps[2];
	line->stamps[2] = l3->fills[0];
	if (age < prices->l3_lines) {
		self->stats.transfers_l3++;
		return in_l1 + prices->l3_hit;
	}
	line->stamps[2] = ++l3->fills[0];
	bool near = line->home == thread->node;
	self->stats.memory_near += near;
	self->stats.memory_far += !near;
	return in_l1 + prices->memory[line->home * self->plan.topology->node_count + thread->node];
}

/* The price of a hit, or PFS_TIMED_NEVER: the line must be fetched. */
static inline uint64_t hit(struct pfs_timed *self, const struct pfs_timed_thread *thread,
			   struct pfs_line *line, bool exclusive, uint64_t in_l1)
{
	bool good = line->lease > thread->clock || (!exclusive && line->moving_for_reading);
	if (!good)
		return PFS_TIMED_NEVER;
	if (line->owner == thread->core) {
		line->written |= exclusive;
		if (__builtin_expect(line->user != thread->pu, 0)) {
			line->user = thread->pu;
			line->siblings = true;
			self->stats.transfers_core++;
			return self->prices.smt > in_l1 ? self->prices.smt : in_l1;
		}
		return own_cost(self, thread, line, in_l1);
	}
	if (exclusive || !pfs_line_has(&self->lines, line, thread->core))
		return PFS_TIMED_NEVER;
	self->stats.hits++;
	return in_l1;
}

static struct pfs_line *line_of(struct pfs_timed *self, const struct pfs_timed_thread *thread,
				const void *address, uint64_t tag)
{
	struct pfs_line *line = pfs_lines_find(&self->lines, tag);
	if (__builtin_expect(line == NULL, 0))
		pfs_machine_fail("no memory for the table of cache lines");
	if (__builtin_expect(line->home == PFS_LINE_HOMELESS, 0)) {
		uint32_t home = pfs_sim_memory_node(&self->machine->memory, address);
		bool known = home < self->plan.topology->node_count;
		line->home = (uint8_t)(known ? home : thread->node);
	}
	return line;
}

/* Does a read get only the line, or also the right to write it? Some machines pass on a modified
 * line as a whole, because the reader of a record is often its next writer. */
static bool fetch_to_read(struct pfs_timed *self, struct pfs_timed_thread *thread,
			  struct pfs_line *line, bool expects, uint64_t cost)
{
	bool taken = self->prices.read_takes && line->owner != PFS_LINE_NOBODY && line->written;
	thread->peeks = true;
	bool arrived = pfs_timed_fetch(self, thread, line, expects || taken, cost);
	thread->peeks = false;
	return arrived;
}

/* What the load's place has taught: will a write to the same line follow? */
static bool expects_write(struct pfs_timed *self, struct pfs_timed_thread *thread,
			  const struct pfs_sim_place *place, uint64_t tag)
{
	size_t at = (size_t)(((uint64_t)(uintptr_t)place * UINT64_C(0x9E3779B97F4A7C15)) >> 54);
	size_t tried = 0;
	while (self->habits[at].place != place && self->habits[at].place != NULL &&
	       tried++ < PFS_TIMED_HABITS)
		at = (at + 1) % PFS_TIMED_HABITS;
	if (tried >= PFS_TIMED_HABITS)
		return false;
	if (self->habits[at].place == NULL)
		self->habits[at] = (struct pfs_timed_habit){ place, 1 };
	thread->watch = (uint32_t)at + 1;
	thread->watch_line = tag;
	return self->habits[at].count >= 2;
}

/* The operation after a load that missed. */
static void learn(struct pfs_timed *self, struct pfs_timed_thread *thread, uint64_t tag,
		  bool is_rmw)
{
	uint32_t *count = &self->habits[thread->watch - 1].count;
	thread->watch = 0;
	if (is_rmw && tag == thread->watch_line)
		*count += *count < 3;
	else
		*count -= *count > 0;
}

static void check_address(struct pfs_timed *self, const struct pfs_sim_operation *operation)
{
	enum pfs_sim_memory_state state;
	if (pfs_sim_memory_has(&self->machine->memory, operation->address, &state) &&
	    state != PFS_SIM_MAPPED)
		pfs_machine_fail("thread %u accesses %s (%s:%d) in a page that was %s",
				 self->machine->run.running->id, operation->place->text,
				 pfs_trace_base_name(operation->place->file),
				 operation->place->line,
				 state == PFS_SIM_GONE ? "given back" : "never mapped");
}

static inline uint64_t read_value(const void *address, uint32_t size_bytes)
{
	uint64_t wide = 0;
	uint32_t half = 0;
	if (size_bytes == 8) {
		memcpy(&wide, address, 8);
		return wide;
	}
	if (size_bytes == 4) {
		memcpy(&half, address, 4);
		return half;
	}
	memcpy(&wide, address, size_bytes); /* little endian */
	return wide;
}

static inline void write_value(void *address, uint32_t size_bytes, uint64_t value)
{
	uint32_t half = (uint32_t)value;
	if (size_bytes == 8)
		memcpy(address, &value, 8);
	else if (size_bytes == 4)
		memcpy(address, &half, 4);
	else
		memcpy(address, &value, size_bytes);
}

/* Read, change, write; returns what was read. */
static inline uint64_t apply(const struct pfs_sim_operation *operation, uint32_t id)
{
	uint64_t seen = read_value(operation->address, operation->size_bytes), value;
	switch (operation->kind) {
	case PFS_SIM_STORE:
	case PFS_SIM_EXCHANGE: value = operation->operand; break;
	case PFS_SIM_ADD: value = seen + operation->operand; break;
	case PFS_SIM_OR: value = seen | operation->operand; break;
	case PFS_SIM_AND: value = seen & operation->operand; break;
	case PFS_SIM_CAS:
		if (seen != operation->expected)
			return seen;
		value = operation->operand;
		break;
	case PFS_SIM_TRY_LOCK:
		if (seen != 0)
			return seen;
		value = id + 1;
		break;
	default: return seen; /* a load */
	}
	write_value(operation->address, operation->size_bytes, value);
	return seen;
}

/* The price of a hit before the thread's turn; PFS_TIMED_NEVER: wait for the turn. */
static inline uint64_t hit_ahead(struct pfs_timed *self, const struct pfs_timed_thread *thread,
				 struct pfs_line *line, bool exclusive, uint64_t in_l1)
{
	if (line->lease != PFS_TIMED_NEVER || !pfs_timed_may_go_ahead(self, thread) ||
	    line->siblings || (line->owner == thread->core && line->user != thread->pu))
		return PFS_TIMED_NEVER;
	return hit(self, thread, line, exclusive, in_l1);
}

void pfs_timed_own(struct pfs_timed *self, struct pfs_timed_thread *thread, void *address,
		   uint64_t cost_ps)
{
	uint64_t tag = pfs_line_tag(address);
	if (thread->drain > thread->clock)
		thread->clock = thread->drain;
	self->stats.accesses++;
	self->stats.atomics++;
	if (__builtin_expect(thread->watch != 0, 0))
		learn(self, thread, tag, true);
	struct pfs_line *line = line_of(self, thread, address, tag);
	uint64_t price = hit_ahead(self, thread, line, true, cost_ps);
	if (price == PFS_TIMED_NEVER)
		pfs_timed_wait_turn(self, thread);
	while (price == PFS_TIMED_NEVER) {
		line = line_of(self, thread, address, tag);
		price = hit(self, thread, line, true, cost_ps);
		if (price == PFS_TIMED_NEVER && pfs_timed_fetch(self, thread, line, true, cost_ps))
			price = cost_ps;
	}
	thread->clock += price;
}

static void load(struct pfs_timed *self, struct pfs_timed_thread *thread, const void *address,
		 const struct pfs_sim_place *place)
{
	uint64_t tag = pfs_line_tag(address), cost = self->prices.load;
	if (__builtin_expect(thread->watch != 0, 0))
		learn(self, thread, tag, false);
	struct pfs_line *line = line_of(self, thread, address, tag);
	uint64_t price = hit_ahead(self, thread, line, false, cost);
	if (price == PFS_TIMED_NEVER) {
		pfs_timed_wait_turn(self, thread);
		line = line_of(self, thread, address, tag);
		price = hit(self, thread, line, false, cost);
	}
	/* A shared copy, or none: then it matters what comes next. */
	bool exclusive = (price == PFS_TIMED_NEVER || line->owner != thread->core) &&
			 expects_write(self, thread, place, tag);
	while (price == PFS_TIMED_NEVER) {
		if (fetch_to_read(self, thread, line, exclusive, cost)) {
			price = cost;
			break;
		}
		line = line_of(self, thread, address, tag);
		price = hit(self, thread, line, false, cost);
	}
	thread->clock += price;
}

static void store(struct pfs_timed *self, struct pfs_timed_thread *thread, const void *address,
		  uint64_t cost)
{
	uint64_t tag = pfs_line_tag(address);
	struct pfs_line *line = line_of(self, thread, address, tag);
	uint64_t price = hit_ahead(self, thread, line, true, cost);
	if (price == PFS_TIMED_NEVER)
		pfs_timed_wait_turn(self, thread);
	while (price == PFS_TIMED_NEVER) {
		line = line_of(self, thread, address, tag);
		price = hit(self, thread, line, true, cost);
		if (price == PFS_TIMED_NEVER && (pfs_timed_fetch_behind(self, thread, line) ||
						 pfs_timed_fetch(self, thread, line, true, cost)))
			price = cost;
	}
	thread->clock += price;
}

uint64_t pfs_timed_execute(struct pfs_machine *machine, const struct pfs_sim_operation *operation)
{
	struct pfs_timed *self = machine->engine.context;
	struct pfs_timed_thread *thread = &self->threads[machine->run.running->id];
	thread->own->pending.place = operation->place;
	switch (operation->kind) {
	case PFS_SIM_LOAD: load(self, thread, operation->address, operation->place); break;
	case PFS_SIM_STORE:
		if (__builtin_expect(thread->watch != 0, 0))
			learn(self, thread, pfs_line_tag(operation->address), false);
		store(self, thread, operation->address, self->prices.store);
		break;
	case PFS_SIM_CAS:
	case PFS_SIM_EXCHANGE:
	case PFS_SIM_ADD:
	case PFS_SIM_OR:
	case PFS_SIM_AND:
	case PFS_SIM_TRY_LOCK:
		pfs_timed_own(self, thread, operation->address, self->prices.rmw);
		check_address(self, operation);
		return apply(operation, pfs_timed_id(self, thread));
	default: return self->kernel(self, thread, operation);
	}
	self->stats.accesses++;
	self->stats.atomics++;
	check_address(self, operation);
	return apply(operation, 0);
}

static void plain_line(struct pfs_timed *self, struct pfs_timed_thread *thread,
		       const struct pfs_plain *access, uint64_t tag)
{
	uint64_t cost = self->prices.plain;
	struct pfs_line *line = line_of(self, thread, access->address, tag);
	uint64_t price = hit(self, thread, line, access->writes, cost);
	self->stats.accesses++;
	if (price != PFS_TIMED_NEVER) {
		thread->clock += price;
		return;
	}
	if (access->writes) {
		store(self, thread, access->address, cost);
		return;
	}
	pfs_timed_wait_turn(self, thread);
	for (bool arrived = false; !arrived && price == PFS_TIMED_NEVER;) {
		line = line_of(self, thread, access->address, tag);
		price = hit(self, thread, line, false, cost);
		if (price == PFS_TIMED_NEVER)
			arrived = fetch_to_read(self, thread, line, false, cost);
	}
	thread->clock += price != PFS_TIMED_NEVER ? price : cost;
}

void pfs_timed_plain(struct pfs_machine *machine, const struct pfs_plain *access)
{
	struct pfs_timed *self = machine->engine.context;
	struct pfs_timed_thread *thread = &self->threads[machine->run.running->id];
	if (access->size_bytes == 0)
		return;
	uint64_t first = pfs_line_tag(access->address);
	uint64_t last = pfs_line_tag((const char *)access->address + access->size_bytes - 1);
	for (uint64_t tag = first; tag <= last; tag++)
		plain_line(self, thread, access, tag);
}
