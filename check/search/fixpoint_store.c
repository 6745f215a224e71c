#define _GNU_SOURCE
#include "check/search/fixpoint_store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NODES_MOST (UINT64_C(1) << 31)
#define LOG_MOST (UINT64_C(1) << 36) /* addresses; memory as used */
#define CHUNK_BYTES ((size_t)1 << 20)

struct pfs_fixpoint_chunk {
	struct pfs_fixpoint_chunk *next;
	size_t used, at, room;
	char bytes[];
};

/* Before each state. */
struct entry {
	uint32_t node, bytes;
};

static void *reserve(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return memory != MAP_FAILED ? memory : NULL;
}

bool pfs_fixpoint_store_begin(struct pfs_fixpoint_store *self)
{
	memset(self, 0, sizeof(*self));
	self->nodes = reserve(NODES_MOST * sizeof(*self->nodes));
	self->log = reserve(LOG_MOST);
	self->no_memory = self->nodes == NULL || self->log == NULL;
	return !self->no_memory;
}

static void drop_frontier(struct pfs_fixpoint_store *self)
{
	while (self->first != NULL) {
		struct pfs_fixpoint_chunk *next = self->first->next;
		free(self->first);
		self->first = next;
	}
	self->last = NULL;
	self->frontier = self->frontier_bytes = 0;
}

void pfs_fixpoint_store_fini(struct pfs_fixpoint_store *self)
{
	drop_frontier(self);
	pfs_seen_fini(&self->seen);
	if (self->nodes != NULL)
		(void)munmap(self->nodes, NODES_MOST * sizeof(*self->nodes));
	if (self->log != NULL)
		(void)munmap(self->log, LOG_MOST);
}

void pfs_fixpoint_store_clear(struct pfs_fixpoint_store *self)
{
	drop_frontier(self);
	pfs_seen_clear(&self->seen);
	self->log_used = 0;
}

bool pfs_fixpoint_store_add(struct pfs_fixpoint_store *self, uint64_t state, uint32_t parent,
			    const uint16_t *steps, uint32_t step_count)
{
	self->no_memory |= !pfs_seen_make_room(&self->seen) || self->seen.count == NODES_MOST ||
			   self->log_used + step_count > LOG_MOST;
	if (self->no_memory)
		return false;
	uint64_t number = self->seen.count;
	if (!pfs_seen_add(&self->seen, state))
		return false;
	uint32_t depth = parent != PFS_FIXPOINT_NONE ? self->nodes[parent].depth + 1 : 0;
	self->nodes[number] = (struct pfs_fixpoint_node){ parent, depth, self->log_used };
	for (uint32_t i = 0; i < step_count; i++)
		self->log[self->log_used++] = (char)steps[i];
	return true;
}

char *pfs_fixpoint_store_room(struct pfs_fixpoint_store *self, size_t bytes)
{
	struct pfs_fixpoint_chunk *last = self->last;
	bytes += sizeof(struct entry);
	if (last == NULL || last->room - last->used < bytes) {
		size_t room = bytes < CHUNK_BYTES ? CHUNK_BYTES : bytes;
		last = malloc(sizeof(*last) + room);
		self->no_memory |= last == NULL;
		if (last == NULL)
			return NULL;
		last->next = NULL;
		last->used = last->at = 0;
		last->room = room;
		*(self->last != NULL ? &self->last->next : &self->first) = last;
		self->last = last;
		self->frontier_bytes += room;
	}
	return last->bytes + last->used + sizeof(struct entry);
}

void pfs_fixpoint_store_push(struct pfs_fixpoint_store *self, uint32_t node, size_t bytes)
{
	struct entry entry = { node, (uint32_t)bytes };
	uint64_t now = pfs_fixpoint_store_bytes(self);
	memcpy(self->last->bytes + self->last->used, &entry, sizeof(entry));
	self->last->used += sizeof(entry) + bytes;
	self->frontier++;
	if (now > self->most_bytes)
		self->most_bytes = now;
}

const char *pfs_fixpoint_store_pop(struct pfs_fixpoint_store *self, uint32_t *node)
{
	struct pfs_fixpoint_chunk *first = self->first;
	struct entry entry;
	if (self->frontier == 0)
		return NULL;
	if (first->at == first->used) { /* then there is another one */
		self->first = first->next;
		self->frontier_bytes -= first->room;
		free(first);
		first = self->first;
	}
	memcpy(&entry, first->bytes + first->at, sizeof(entry));
	const char *bytes = first->bytes + first->at + sizeof(entry);
	first->at += sizeof(entry) + entry.bytes;
	self->frontier--;
	*node = entry.node;
	return bytes;
}

static uint64_t end_of(const struct pfs_fixpoint_store *self, uint32_t node)
{
	return node + UINT64_C(1) < self->seen.count ? self->nodes[node + 1].steps : self->log_used;
}

uint32_t pfs_fixpoint_store_steps(const struct pfs_fixpoint_store *self, uint32_t node)
{
	uint64_t steps = 0;
	for (; node != PFS_FIXPOINT_NONE; node = self->nodes[node].parent)
		steps += end_of(self, node) - self->nodes[node].steps;
	return (uint32_t)steps;
}

void pfs_fixpoint_store_path(const struct pfs_fixpoint_store *self, uint32_t node, uint16_t *steps)
{
	uint32_t at = pfs_fixpoint_store_steps(self, node);
	for (; node != PFS_FIXPOINT_NONE; node = self->nodes[node].parent) {
		for (uint64_t i = end_of(self, node); i-- > self->nodes[node].steps;)
			steps[--at] = (uint8_t)self->log[i];
	}
}

uint64_t pfs_fixpoint_store_bytes(const struct pfs_fixpoint_store *self)
{
	return self->seen.room * sizeof(*self->seen.states) +
	       self->seen.count * sizeof(*self->nodes) +
	       self->log_used + self->frontier_bytes;
}
