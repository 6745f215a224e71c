#include "check/machine/views_seq.h"

#include <stdlib.h>
#include <string.h>

#include "check/machine/views.h"

void pfs_seq_fini(struct pfs_seq *self)
{
	for (uint32_t thread = 0; thread < self->thread_room; thread++) {
		free(self->thread[thread].elsewhere);
		free(self->thread[thread].nodes);
		free(self->thread[thread].settled_at);
	}
	free(self->thread);
	free(self->nodes);
	free(self->scratch);
	pfs_scratch_fini(&self->arena);
}

void pfs_seq_begin(struct pfs_seq *self, uint32_t threads)
{
	self->thread = pfs_widen(self->thread, &self->thread_room, threads, sizeof(*self->thread));
	self->scratch = pfs_widen(self->scratch, &self->scratch_room, 2 * threads,
				  sizeof(*self->scratch));
	for (uint32_t id = 0; id < threads; id++) {
		struct pfs_seq_thread *thread = &self->thread[id];
		thread->elsewhere = pfs_widen(thread->elsewhere, &thread->elsewhere_room, threads,
					      sizeof(uint32_t));
		thread->count = thread->settled = 0;
		thread->node_location = thread->location = PFS_TABLE_NONE;
	}
	self->threads = threads;
	self->count = 0;
	pfs_scratch_clear(&self->arena);
}

static void join(const struct pfs_seq *self, uint32_t *clock, const uint32_t *other)
{
	for (uint32_t thread = 0; thread < self->threads; thread++) {
		if (other[thread] > clock[thread])
			clock[thread] = other[thread];
	}
}

/* The first `count` nodes of a thread, and what comes before them. */
static void join_nodes(const struct pfs_seq *self, uint32_t *clock, uint32_t thread, uint32_t count)
{
	if (count > clock[thread])
		join(self, clock, self->nodes[self->thread[thread].nodes[count - 1]].clock);
}

static bool has(const uint32_t *clock, const struct pfs_seq_node *node)
{
	return clock[node->thread] >= node->index;
}

static uint32_t position_of(const struct pfs_seq_operation *operation,
			    const struct pfs_seq_access *access)
{
	return operation->location->messages[access->message].at;
}

/* All that comes before the operation, into a clock that has no other contents. */
static void gather(const struct pfs_seq *self, const struct pfs_clocks *clocks,
		   const struct pfs_seq_operation *operation, uint32_t *clock)
{
	const struct pfs_seq_thread *own = &self->thread[operation->thread];
	const uint32_t *now = pfs_clock_of(clocks, operation->thread);
	const uint32_t *elsewhere = own->location == operation->id ? own->elsewhere : now;
	const uint32_t *released = operation->released;
	memset(clock, 0, self->threads * sizeof(*clock));
	join_nodes(self, clock, operation->thread, own->count);
	for (uint32_t other = 0; other < self->threads; other++) {
		if (other != operation->thread && elsewhere[other] != 0)
			join_nodes(self, clock, other,
				   self->thread[other].settled_at[elsewhere[other]]);
	}
	for (uint32_t i = 0; i < operation->location->seq_count; i++) {
		const struct pfs_seq_access *access = &operation->location->seq[i];
		const struct pfs_seq_node *node = &self->nodes[access->node];
		if (now[node->thread] >= access->epoch ||
		    (released != NULL && released[node->thread] >= access->epoch) ||
		    (operation->writes && position_of(operation, access) <= operation->at))
			join_nodes(self, clock, node->thread, node->index);
	}
}

/* A seq write of what is newer: it comes after the operation. */
static bool is_after(const struct pfs_seq_operation *operation, const struct pfs_seq_access *access)
{
	return access->wrote && position_of(operation, access) > operation->at;
}

static bool is_any_after(const struct pfs_seq_operation *operation)
{
	for (uint32_t i = 0; i < operation->location->seq_count; i++) {
		if (is_after(operation, &operation->location->seq[i]))
			return true;
	}
	return false;
}

/* Does one of those that come after the operation come before this clock? */
static bool leads_to(const struct pfs_seq *self, const struct pfs_seq_operation *operation,
		     const uint32_t *clock)
{
	for (uint32_t i = 0; i < operation->location->seq_count; i++) {
		const struct pfs_seq_access *access = &operation->location->seq[i];
		if (is_after(operation, access) && has(clock, &self->nodes[access->node]))
			return true;
	}
	return false;
}

bool pfs_seq_allows(const struct pfs_seq *self, const struct pfs_clocks *clocks,
		    const struct pfs_seq_operation *operation)
{
	if (!is_any_after(operation))
		return true;
	gather(self, clocks, operation, self->scratch);
	return !leads_to(self, operation, self->scratch);
}

uint32_t pfs_seq_cycle(const struct pfs_seq *self, const struct pfs_clocks *clocks,
		       const struct pfs_seq_operation *operation, uint32_t *steps, uint32_t room)
{
	uint32_t found = 0;
	gather(self, clocks, operation, self->scratch);
	for (uint32_t i = 0; i < self->count && found < room; i++) {
		const struct pfs_seq_node *node = &self->nodes[i];
		if (has(self->scratch, node) && leads_to(self, operation, node->clock))
			steps[found++] = node->step;
	}
	return found;
}

void pfs_seq_visit(struct pfs_seq *self, const struct pfs_clocks *clocks, uint32_t thread,
		   uint32_t id)
{
	struct pfs_seq_thread *own = &self->thread[thread];
	if (own->location == id)
		return;
	memcpy(own->elsewhere, pfs_clock_of(clocks, thread), self->threads * sizeof(uint32_t));
	own->location = id;
	if (own->node_location != id)
		own->settled = own->count;
}

/* The new node comes before what is newer: all nodes after that learn it. */
static void tell_later(const struct pfs_seq *self, const struct pfs_seq_operation *operation,
		       const uint32_t *clock)
{
	for (uint32_t i = 0; i < self->count; i++) {
		if (leads_to(self, operation, self->nodes[i].clock))
			join(self, self->nodes[i].clock, clock);
	}
}

void pfs_seq_execute(struct pfs_seq *self, const struct pfs_clocks *clocks,
		     const struct pfs_seq_operation *operation, struct pfs_location *location,
		     uint32_t message, uint32_t step)
{
	struct pfs_seq_thread *own = &self->thread[operation->thread];
	uint32_t *clock = pfs_scratch_take(&self->arena, self->threads * sizeof(*clock));
	uint32_t index = own->count + 1, number = self->count;
	gather(self, clocks, operation, clock);
	clock[operation->thread] = index;
	if (is_any_after(operation))
		tell_later(self, operation, clock);
	self->nodes = pfs_widen(self->nodes, &self->room, ++self->count, sizeof(*self->nodes));
	self->nodes[number] = (struct pfs_seq_node){ clock, operation->thread, index, step };
	own->nodes = pfs_widen(own->nodes, &own->node_room, index, sizeof(*own->nodes));
	own->nodes[own->count++] = number;
	own->node_location = operation->id;
	location->seq = pfs_widen(location->seq, &location->seq_room, ++location->seq_count,
				  sizeof(*location->seq));
	location->seq[location->seq_count - 1] =
		(struct pfs_seq_access){ number, message,
					 pfs_clock_of(clocks, operation->thread)[operation->thread],
					 operation->writes };
}

void pfs_seq_release(struct pfs_seq *self, uint32_t thread, uint32_t epoch)
{
	struct pfs_seq_thread *own = &self->thread[thread];
	own->settled_at = pfs_widen(own->settled_at, &own->settled_room, epoch + 1,
				    sizeof(*own->settled_at));
	own->settled_at[epoch] = own->settled;
}
