/*
 * journal.c - see journal.h.
 */
#define _GNU_SOURCE 1
#include "journal.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#define SLOTS (PFS_JOURNAL_LIVE_MAX * 2)

static void *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static bool write_mapped(void *context, const uint8_t *bytes, uint32_t size, uint64_t offset)
{
	return pfs_mapped_file_write(context, bytes, size, offset);
}

bool pfs_journal_open(struct pfs_journal *self, const char *path, const char *program,
		      uint64_t event_max)
{
	struct pfs_trace_sink sink = { .write = write_mapped, .context = &self->file };

	self->slots = map(sizeof(*self->slots) * SLOTS);
	self->free_ids = map(sizeof(*self->free_ids) * PFS_JOURNAL_LIVE_MAX);
	self->event_max = event_max;
	self->file.error = ENOMEM;
	self->open = self->slots != NULL && self->free_ids != NULL &&
		     pfs_mapped_file_open(&self->file, path) &&
		     pfs_trace_writer_begin(&self->writer, &sink, program, PFS_JOURNAL_TICK_NS);
	return self->open;
}

static uint32_t place_of(uint64_t address)
{
	return (uint32_t)((address >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 32) % SLOTS;
}

/* The slot of the address, or the empty one where it would be. */
static struct pfs_journal_slot *find(struct pfs_journal *self, uint64_t address)
{
	uint32_t at = place_of(address);

	while (self->slots[at].address != 0 && self->slots[at].address != address)
		at = (at + 1) % SLOTS;
	return &self->slots[at];
}

/* Empty the slot, and move up the following ones that would no longer be found. */
static void take_out(struct pfs_journal *self, struct pfs_journal_slot *slot)
{
	uint32_t hole = (uint32_t)(slot - self->slots);

	for (uint32_t at = (hole + 1) % SLOTS; self->slots[at].address != 0;
	     at = (at + 1) % SLOTS) {
		uint32_t wanted = place_of(self->slots[at].address);
		if ((at - wanted) % SLOTS < (at - hole) % SLOTS)
			continue; /* it is between its place and the hole's */
		self->slots[hole] = self->slots[at];
		hole = at;
	}
	self->slots[hole].address = 0;
}

static bool add(struct pfs_journal *self, const struct pfs_trace_event *event)
{
	pfs_trace_writer_add(&self->writer, event, false);
	return !self->writer.failed &&
	       (self->event_max == 0 || self->writer.info.events < self->event_max);
}

static bool end_object(struct pfs_journal *self, uint64_t time_ns, uint32_t thread,
		       struct pfs_journal_slot *slot)
{
	struct pfs_trace_event event = {
		.time = time_ns / PFS_JOURNAL_TICK_NS,
		.thread = thread,
		.id = slot->id,
		.kind = PFS_TRACE_FREE,
	};

	self->free_ids[self->free_count++] = slot->id;
	take_out(self, slot);
	return add(self, &event);
}

bool pfs_journal_allocate(struct pfs_journal *self, uint64_t time_ns, uint32_t thread,
			  uint64_t address, uint64_t size)
{
	struct pfs_journal_slot *slot = find(self, address);
	bool goes_on = true;

	if (slot->address != 0) { /* freed by a call that is not recorded */
		goes_on = end_object(self, time_ns, thread, slot);
		slot = find(self, address);
	}
	if (!goes_on || (self->free_count == 0 && self->next_id == PFS_JOURNAL_LIVE_MAX))
		return goes_on;
	slot->address = address;
	slot->id = self->free_count != 0 ? self->free_ids[--self->free_count] : self->next_id++;
	struct pfs_trace_event event = {
		.time = time_ns / PFS_JOURNAL_TICK_NS,
		.thread = thread,
		.id = slot->id,
		.size = size,
		.kind = PFS_TRACE_ALLOCATE,
	};
	return add(self, &event);
}

bool pfs_journal_free(struct pfs_journal *self, uint64_t time_ns, uint32_t thread, uint64_t address)
{
	struct pfs_journal_slot *slot = find(self, address);

	return slot->address == 0 || end_object(self, time_ns, thread, slot);
}

void pfs_journal_flush(struct pfs_journal *self)
{
	pfs_trace_writer_flush(&self->writer);
}

/* The head comes last: a finished trace has nothing after its last chunk. */
bool pfs_journal_finish(struct pfs_journal *self)
{
	pfs_trace_writer_flush(&self->writer);
	return pfs_mapped_file_set_length(&self->file, self->writer.info.bytes) &&
	       pfs_trace_writer_finish(&self->writer);
}

bool pfs_journal_resume(struct pfs_journal *self)
{
	return pfs_trace_writer_resume(&self->writer); /* the file grows when it must */
}

void pfs_journal_close(struct pfs_journal *self)
{
	self->open = false;
	pfs_mapped_file_close(&self->file);
}
