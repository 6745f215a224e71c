/*
 * litmus_axioms.c - executions counted from the axioms of RC11, without any code of the machine.
 *
 * Relations are bit matrices over the events; the last event stands for all initial writes.
 */
#include <string.h>

#include "check/machine/clocks.h"
#include "check/litmus/litmus.h"

#define EVENTS (PFS_LITMUS_EVENTS + 1)
#define INIT PFS_LITMUS_EVENTS

typedef uint16_t relation[EVENTS]; /* relation[a] has bit b: a before b */

/* One candidate: a source for each read, an order for each location. */
struct candidate {
	const struct pfs_litmus_program *program;
	struct pfs_litmus_graphs *graphs;
	uint8_t source[EVENTS]; /* of reads; INIT: the initial value */
	bool writes[EVENTS];
	uint32_t seen[EVENTS], written[EVENTS];
	uint8_t order[PFS_LITMUS_LOCATIONS][EVENTS]; /* begins with INIT */
	uint32_t order_count[PFS_LITMUS_LOCATIONS];
};

static uint16_t bit_of(uint32_t event)
{
	return (uint16_t)(1u << event);
}

static void close_over(relation r)
{
	for (uint32_t k = 0; k < EVENTS; k++) {
		for (uint32_t a = 0; a < EVENTS; a++) {
			if ((r[a] & bit_of(k)) != 0)
				r[a] |= r[k];
		}
	}
}

static bool is_cyclic(relation closed)
{
	for (uint32_t a = 0; a < EVENTS; a++) {
		if ((closed[a] & bit_of(a)) != 0)
			return true;
	}
	return false;
}

/* out = a ; b */
static void compose(relation out, const relation a, const relation b)
{
	relation made = { 0 };
	for (uint32_t x = 0; x < EVENTS; x++) {
		for (uint32_t y = 0; y < EVENTS; y++) {
			if ((a[x] & bit_of(y)) != 0)
				made[x] |= b[y];
		}
	}
	memcpy(out, made, sizeof(made));
}

static void unite(relation out, const relation a)
{
	for (uint32_t x = 0; x < EVENTS; x++)
		out[x] |= a[x];
}

static void program_order(const struct candidate *self, relation sb)
{
	const struct pfs_litmus_program *program = self->program;
	for (uint32_t a = 0; a < program->event_count; a++) {
		sb[INIT] |= bit_of(a);
		for (uint32_t b = a + 1; b < program->event_count; b++) {
			if (program->events[a].thread == program->events[b].thread)
				sb[a] |= bit_of(b);
		}
	}
}

static bool reads(const struct candidate *self, uint32_t event)
{
	return event < self->program->event_count &&
	       pfs_litmus_reads(self->program->events[event].kind);
}

static void reads_from(const struct candidate *self, relation rf)
{
	for (uint32_t event = 0; event < self->program->event_count; event++) {
		if (reads(self, event))
			rf[self->source[event]] |= bit_of(event);
	}
}

/* The value an event leaves, if it writes. */
static void evaluate(struct candidate *self, uint32_t event)
{
	const struct pfs_litmus_event *at = &self->program->events[event];
	uint32_t seen = 0;
	if (reads(self, event) && self->source[event] != INIT)
		seen = self->written[self->source[event]];
	self->seen[event] = seen;
	self->writes[event] = at->kind != PFS_SIM_LOAD && at->location != PFS_LITMUS_NO_LOCATION &&
			      (at->kind != PFS_SIM_CAS || seen == at->expected);
	self->written[event] = at->kind == PFS_SIM_ADD ? seen + at->value : at->value;
}

/* No value out of thin air: program order and reads-from together have no cycle; then values can be
 * computed. Returns false if a read has a source that writes nothing. */
static bool compute_values(struct candidate *self)
{
	relation before = { 0 };
	uint16_t done = bit_of(INIT);
	uint32_t count = self->program->event_count;
	program_order(self, before);
	reads_from(self, before);
	close_over(before);
	if (is_cyclic(before))
		return false;
	for (uint32_t round = 0; round < count; round++) {
		for (uint32_t event = 0; event < count; event++) {
			bool ready = (done & bit_of(event)) == 0;
			for (uint32_t other = 0; other < count; other++)
				ready &= (before[other] & bit_of(event)) == 0 ||
					 (done & bit_of(other)) != 0;
			if (!ready)
				continue;
			evaluate(self, event);
			done |= bit_of(event);
		}
	}
	for (uint32_t event = 0; event < count; event++) {
		if (reads(self, event) && self->source[event] != INIT &&
		    !self->writes[self->source[event]])
			return false;
	}
	return true;
}

static uint8_t order_of(const struct candidate *self, uint32_t event)
{
	const struct pfs_litmus_event *at = &self->program->events[event];
	return at->kind == PFS_SIM_CAS && !self->writes[event] ? at->failure : at->order;
}

static bool is_fence(const struct candidate *self, uint32_t event)
{
	return event < self->program->event_count &&
	       self->program->events[event].kind == PFS_SIM_FENCE;
}

/* Which writes it releases: its own, or those after a fence. */
static uint16_t released(const struct candidate *self, const relation sb, uint32_t event)
{
	uint16_t found = 0, behind = is_fence(self, event) ? sb[event] : bit_of(event);
	for (uint32_t a = 0; a < self->program->event_count; a++)
		found |= self->writes[a] ? bit_of(a) : 0;
	return pfs_order_releases(order_of(self, event)) ? found & behind : 0;
}

/* Which reads it acquires: its own, or those before a fence. */
static uint16_t acquired(const struct candidate *self, const relation sb, uint32_t event)
{
	uint16_t found = 0;
	for (uint32_t a = 0; a < self->program->event_count; a++) {
		bool own = is_fence(self, event) ? (sb[a] & bit_of(event)) != 0 : a == event;
		found |= own && reads(self, a) ? bit_of(a) : 0;
	}
	return pfs_order_acquires(order_of(self, event)) ? found : 0;
}

/* hb = (sb | release ; (rf ; rmw)* ; rf ; acquire)+, where fences release what comes after them and
 * acquire what came before */
static void happens_before(const struct candidate *self, const relation sb, const relation rf,
			   relation hb)
{
	uint32_t count = self->program->event_count;
	relation chain = { 0 }; /* rf ; rmw : a write, to the rmw that read it */
	for (uint32_t event = 0; event < count; event++) {
		if (reads(self, event) && self->writes[event])
			chain[self->source[event]] |= bit_of(event);
	}
	close_over(chain);
	for (uint32_t event = 0; event < EVENTS; event++)
		chain[event] |= bit_of(event);
	relation sw;
	compose(sw, chain, rf);
	memcpy(hb, sb, sizeof(relation));
	for (uint32_t a = 0; a < count; a++) {
		uint16_t to = 0;
		for (uint32_t w = 0; w < count; w++)
			to |= (released(self, sb, a) & bit_of(w)) != 0 ? sw[w] : 0;
		for (uint32_t b = 0; b < count; b++)
			hb[a] |= (to & acquired(self, sb, b)) != 0 ? bit_of(b) : 0;
	}
	close_over(hb);
}

/* Modification order, and reads-before: from a read to what came after its source. */
static bool modification(const struct candidate *self, relation mo, relation rb)
{
	uint32_t at[EVENTS] = { 0 };
	for (uint32_t location = 0; location < PFS_LITMUS_LOCATIONS; location++) {
		const uint8_t *order = self->order[location];
		for (uint32_t i = 0; i < self->order_count[location]; i++) {
			at[order[i]] = i;
			for (uint32_t k = i + 1; k < self->order_count[location]; k++)
				mo[order[i]] |= bit_of(order[k]);
		}
	}
	for (uint32_t event = 0; event < self->program->event_count; event++) {
		if (!reads(self, event))
			continue;
		uint32_t location = self->program->events[event].location;
		uint32_t source = self->source[event] == INIT ? 0 : at[self->source[event]];
		if (self->writes[event] && at[event] != source + 1)
			return false; /* atomicity */
		for (uint32_t i = source + 1; i < self->order_count[location]; i++) {
			if (self->order[location][i] != event)
				rb[event] |= bit_of(self->order[location][i]);
		}
	}
	return true;
}

/* Pairs of one location, or of different ones. INIT is at every location: it is left out, because
 * nothing comes before it. */
static void restrict_to(const struct candidate *self, relation out, const relation in, bool same)
{
	memset(out, 0, sizeof(relation));
	for (uint32_t a = 0; a < self->program->event_count; a++) {
		for (uint32_t b = 0; b < self->program->event_count; b++) {
			bool is_same = self->program->events[a].location ==
				       self->program->events[b].location;
			if (is_same == same && (in[a] & bit_of(b)) != 0)
				out[a] |= bit_of(b);
		}
	}
}

/* scb, where a seq fence stands for all that happened before it, or happens after it; and hb | hb ;
 * eco ; hb between fences. */
static void seq_order(const struct candidate *self, const relation scb, const relation hb,
		      const relation eco, relation out)
{
	relation from = { 0 }, to = { 0 }, fences = { 0 };
	uint16_t seq_fences = 0;
	for (uint32_t a = 0; a < self->program->event_count; a++) {
		if (order_of(self, a) != PFS_SIM_SEQ)
			continue;
		from[a] = bit_of(a) | (is_fence(self, a) ? hb[a] : 0);
		to[a] = bit_of(a);
		seq_fences |= is_fence(self, a) ? bit_of(a) : 0;
	}
	for (uint32_t a = 0; a < EVENTS; a++)
		to[a] |= hb[a] & seq_fences;
	compose(out, from, scb);
	compose(out, out, to);
	compose(fences, hb, eco);
	compose(fences, fences, hb);
	unite(fences, hb);
	for (uint32_t a = 0; a < EVENTS; a++)
		out[a] |= (seq_fences & bit_of(a)) != 0 ? fences[a] & seq_fences : 0;
}

/* Between seq operations: scb = sb | sb!=loc ; hb ; sb!=loc | hb=loc | mo | rb has no cycle. */
static bool seq_has_no_cycle(const struct candidate *self, const relation sb, const relation hb,
			     const relation mo, const relation rb, const relation eco)
{
	relation scb, elsewhere, part;
	memcpy(scb, sb, sizeof(relation));
	restrict_to(self, elsewhere, sb, false);
	compose(part, elsewhere, hb);
	compose(part, part, elsewhere);
	unite(scb, part);
	restrict_to(self, part, hb, true);
	unite(scb, part);
	unite(scb, mo);
	unite(scb, rb);
	seq_order(self, scb, hb, eco, part);
	close_over(part);
	return !is_cyclic(part);
}

static bool is_consistent(const struct candidate *self)
{
	relation sb = { 0 }, rf = { 0 }, mo = { 0 }, rb = { 0 }, hb, eco, part;
	if (!modification(self, mo, rb))
		return false;
	program_order(self, sb);
	reads_from(self, rf);
	happens_before(self, sb, rf, hb);
	if (is_cyclic(hb))
		return false;
	memcpy(eco, rf, sizeof(relation));
	unite(eco, mo);
	unite(eco, rb);
	close_over(eco);
	compose(part, hb, eco);
	for (uint32_t event = 0; event < EVENTS; event++) {
		if ((part[event] & bit_of(event)) != 0)
			return false; /* coherence */
	}
	return seq_has_no_cycle(self, sb, hb, mo, rb, eco);
}

static void keep(struct candidate *self)
{
	const struct pfs_litmus_program *program = self->program;
	uint32_t registers[PFS_LITMUS_EVENTS] = { 0 }, final[PFS_LITMUS_LOCATIONS] = { 0 };
	struct pfs_litmus_graph graph;
	memset(&graph, PFS_LITMUS_NO_EVENT, sizeof(graph));
	for (uint32_t event = 0; event < program->event_count; event++) {
		if (!reads(self, event))
			continue;
		registers[program->events[event].reg] = self->seen[event];
		graph.source[event] = self->source[event] == INIT ? PFS_LITMUS_INITIAL
								  : self->source[event];
	}
	for (uint32_t location = 0; location < PFS_LITMUS_LOCATIONS; location++) {
		for (uint32_t i = 1; i < self->order_count[location]; i++) {
			graph.order[location][i - 1] = self->order[location][i];
			final[location] = self->written[self->order[location][i]];
		}
	}
	pfs_litmus_add(self->graphs, &graph);
	self->graphs->met |= pfs_litmus_meets(program, registers, final);
}

/* Each write at each place of its location's order. */
static void try_orders(struct candidate *self, uint32_t event)
{
	if (event == self->program->event_count) {
		if (is_consistent(self))
			keep(self);
		return;
	}
	if (!self->writes[event]) {
		try_orders(self, event + 1);
		return;
	}
	uint32_t location = self->program->events[event].location;
	uint8_t *order = self->order[location];
	uint32_t count = self->order_count[location]++;
	for (uint32_t at = count; at >= 1; at--) {
		memmove(&order[at + 1], &order[at], count - at);
		order[at] = (uint8_t)event;
		try_orders(self, event + 1);
		memmove(&order[at], &order[at + 1], count - at);
	}
	self->order_count[location]--;
}

/* Each read from each write of its location. */
static void try_sources(struct candidate *self, uint32_t event)
{
	const struct pfs_litmus_program *program = self->program;
	if (event == program->event_count) {
		if (compute_values(self))
			try_orders(self, 0);
		return;
	}
	if (!reads(self, event)) {
		try_sources(self, event + 1);
		return;
	}
	self->source[event] = INIT;
	try_sources(self, event + 1);
	for (uint32_t other = 0; other < program->event_count; other++) {
		if (other == event || program->events[other].kind == PFS_SIM_LOAD ||
		    program->events[other].location != program->events[event].location)
			continue;
		self->source[event] = (uint8_t)other;
		try_sources(self, event + 1);
	}
}

void pfs_litmus_axioms(const struct pfs_litmus_program *program, struct pfs_litmus_graphs *graphs)
{
	struct candidate self = { .program = program, .graphs = graphs };
	graphs->count = 0;
	graphs->met = false;
	for (uint32_t location = 0; location < PFS_LITMUS_LOCATIONS; location++) {
		self.order[location][0] = INIT;
		self.order_count[location] = 1;
	}
	try_sources(&self, 0);
}
