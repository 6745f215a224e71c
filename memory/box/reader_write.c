/*
 * reader_write.c - all that a reader writes: baselines of TRUNCATE, ENABLED, limits, the profile.
 *
 * A base is valid if its epoch equals control.truncates of its table. All bases are written before
 * that is raised, so a half-written TRUNCATE has no effect. Their pages are allocated before the
 * first base is changed, so a full file system changes nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/now.h"
#include "memory/box/reader_profile.h"
#include "reader_inside.h"

struct writer {
	const struct pfs_reader *reader;
	const struct pfs_snapshot *snapshot;
	int file;
	struct pfs_box_control *control;
	bool only_room;    /* first pass: allocate pages, change nothing */
	uint64_t page;     /* the last page allocated */
	uint64_t batch_at; /* file offset of the batch */
	size_t batch_bytes;
	uint8_t batch[32 * 1024];
	struct pfs_reader_window window; /* of cells' bases, read before written */
};

static bool is_read_only; /* the process */

void pfs_reader_never_write(void)
{
	is_read_only = true;
}

static bool open_writer(struct writer *self, struct pfs_reader *reader, struct pfs_message *message)
{
	char died[128];
	*self = (struct writer){ .reader = reader, .file = -1, .page = UINT64_MAX };
	if (is_read_only)
		return pfs_refuse(message,
				  "'%.110s' is only read here: pfs-mem serve was started without "
				  "--allow-changes",
				  reader->info.path);
	if (!pfs_reader_refresh(reader, message))
		return false;
	if (!reader->info.is_live)
		return pfs_refuse(message, "'%.110s' is read-only: its program %s",
				  reader->info.path,
				  pfs_box_died(&reader->info, died, sizeof(died)));
	self->file = pfs_box_file_open(reader->info.path, O_RDWR, message);
	if (self->file < 0)
		return false;
	void *control = mmap(NULL, PFS_BOX_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->file,
			     PFS_BOX_PAGE);
	if (control == MAP_FAILED) {
		(void)close(self->file);
		return pfs_refuse(message, "'%.150s' cannot be mapped: %s", reader->info.path,
				  strerror(errno));
	}
	self->control = control;
	return true;
}

static void close_writer(struct writer *self)
{
	(void)munmap(self->control, PFS_BOX_PAGE);
	(void)close(self->file);
}

/* Never 0: that marks a thread that never looked. */
static void raise_generation(const struct writer *self)
{
	pfs_box_announce(self->control);
	if (pfs_load_relaxed(&self->control->generation) == 0) /* relaxed: read back */
		pfs_box_announce(self->control);
}

bool pfs_reader_enable(struct pfs_reader *self, uint32_t number, bool enabled,
		       struct pfs_message *message)
{
	struct writer writer;
	if (number >= PFS_BOX_INSTRUMENTS_MAX ||
	    number >= pfs_reader_records(self, PFS_BOX_INSTRUMENTS))
		return pfs_refuse(message, "there is no instrument %u in '%.150s'", number,
				  self->info.path);
	if (!open_writer(&writer, self, message))
		return false;
	/* relaxed: the generation brings it. */
	pfs_store_relaxed(&writer.control->enabled[number], (uint8_t)enabled);
	raise_generation(&writer);
	close_writer(&writer);
	return true;
}

/* The program reads the region once `switches` is set, so all of it has memory before that. */
static bool write_switch(const struct writer *writer, uint32_t number, uint64_t value)
{
	const struct pfs_box_region *region = &writer->reader->regions[PFS_BOX_SWITCHES];
	int error = posix_fallocate(writer->file, (off_t)region->offset, (off_t)region->bytes);
	errno = error;
	return error == 0 &&
	       pwrite(writer->file, &value, sizeof(value),
		      (off_t)(region->offset + number * sizeof(value))) == (ssize_t)sizeof(value);
}

bool pfs_reader_instrument(struct pfs_reader *self, uint32_t number, uint64_t thread_id, bool on,
			   struct pfs_message *message)
{
	struct writer writer;
	uint64_t room = self->regions[PFS_BOX_SWITCHES].bytes / sizeof(struct pfs_box_switch);
	if (number >= room)
		return pfs_refuse(message, "there is no thread %u in '%.150s'", number,
				  self->info.path);
	if (!open_writer(&writer, self, message))
		return false;
	bool fine = write_switch(&writer, number, thread_id << 1 | on);
	if (fine) {
		/* relaxed: the generation brings it. */
		pfs_store_relaxed(&writer.control->switches, 1);
		raise_generation(&writer);
	} else {
		(void)pfs_refuse(message, "'%.150s' cannot be written: %s", self->info.path,
				 strerror(errno));
	}
	close_writer(&writer);
	return fine;
}

bool pfs_reader_ask_walk(struct pfs_reader *self, struct pfs_message *message)
{
	struct writer writer;
	if (!open_writer(&writer, self, message))
		return false;
	/* relaxed: a count that the ticker reads; the file already exists. */
	(void)pfs_fetch_add_relaxed(&writer.control->walks, 1);
	close_writer(&writer);
	return true;
}

bool pfs_reader_limit(struct pfs_reader *self, uint32_t number, uint64_t limit_bytes,
		      struct pfs_message *message)
{
	struct writer writer;
	if (number >= PFS_BOX_OWNERS_MAX || number >= pfs_reader_records(self, PFS_BOX_OWNERS))
		return pfs_refuse(message, "there is no owner %u in '%.150s'", number,
				  self->info.path);
	if (!open_writer(&writer, self, message))
		return false;
	/* relaxed: every add reads it. */
	pfs_store_relaxed(&writer.control->owner_limits[number],
			  limit_bytes != UINT64_MAX ? limit_bytes + 1 : UINT64_MAX);
	close_writer(&writer);
	return true;
}

bool pfs_reader_limit_account(struct pfs_reader *self, uint32_t number, uint64_t limit_bytes,
			      struct pfs_message *message)
{
	struct writer writer;
	if (number >= PFS_BOX_LIMITS_MAX || self->regions[PFS_BOX_LIMITS].bytes == 0)
		return pfs_refuse(message, "there is no limit %u in '%.150s'", number,
				  self->info.path);
	if (!open_writer(&writer, self, message))
		return false;
	/* relaxed: the generation brings it. */
	pfs_store_relaxed(&writer.control->limits[number],
			  limit_bytes != UINT64_MAX ? limit_bytes + 1 : UINT64_MAX);
	raise_generation(&writer);
	close_writer(&writer);
	return true;
}

bool pfs_profile_switch(struct pfs_reader *self, bool active, unsigned lg,
			struct pfs_message *message)
{
	struct writer writer;
	uint32_t started;
	if (lg > 62)
		return pfs_refuse(message,
				  "sampling interval 2^%u bytes: choose 1 to 62, or 0 for the one "
				  "that the program was started with",
				  lg);
	if (!open_writer(&writer, self, message))
		return false;
	memcpy(&started, &pfs_reader_head(self)->profile_lg, sizeof(started));
	if (started != 0) {
		/* relaxed, twice: the generation brings them. */
		pfs_store_relaxed(&writer.control->profile_lg, lg);
		/* relaxed: see above */
		pfs_store_relaxed(&writer.control->profile_off, active ? 0 : 1);
		raise_generation(&writer);
	}
	close_writer(&writer);
	return started != 0 ||
	       pfs_refuse(message,
			  "'%.100s': its program was started without a profile: start it "
			  "with one",
			  self->info.path);
}

/* ---- TRUNCATE ---- */

/* Is the inner table truncated with the table? True for itself. */
static bool goes_with(int inner, int table)
{
	switch (table) {
	case PFS_TABLE_THREAD:
	case PFS_TABLE_ACCOUNT: return inner <= table;
	case PFS_TABLE_USER:
	case PFS_TABLE_HOST: return inner <= PFS_TABLE_ACCOUNT || inner == table;
	default: return true;
	}
}

static bool read_at(const struct writer *self, void *to, size_t bytes, uint64_t offset)
{
	return pread(self->file, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool write_at(const struct writer *self, const void *from, size_t bytes, uint64_t offset)
{
	errno = 0;
	if (pwrite(self->file, from, bytes, (off_t)offset) == (ssize_t)bytes)
		return true;
	errno = errno != 0 ? errno : ENOSPC;
	return false;
}

/* Writes in batches: a system call for each entry took most of the time of a TRUNCATE. */
static bool flush(struct writer *self)
{
	size_t bytes = self->batch_bytes;
	self->batch_bytes = 0;
	return bytes == 0 || write_at(self, self->batch, bytes, self->batch_at);
}

static bool write_later(struct writer *self, const void *from, size_t bytes, uint64_t offset)
{
	bool follows = offset == self->batch_at + self->batch_bytes;
	if ((!follows || self->batch_bytes + bytes > sizeof(self->batch)) && !flush(self))
		return false;
	if (self->batch_bytes == 0)
		self->batch_at = offset;
	memcpy(self->batch + self->batch_bytes, from, bytes);
	self->batch_bytes += bytes;
	return true;
}

/* Writes an entry of an array of the readers; in the first pass only allocates its pages. */
static bool put(struct writer *self, enum pfs_box_kind kind, const void *entry, size_t bytes,
		uint64_t number)
{
	const struct pfs_box_region *region = &self->reader->regions[kind];
	uint64_t at = region->offset + number * bytes;
	char byte;
	if ((number + 1) * bytes > region->bytes) {
		errno = EFBIG;
		return false;
	}
	if (!self->only_room)
		return write_later(self, entry, bytes, at);
	for (uint64_t page = at / PFS_BOX_PAGE; page <= (at + bytes - 1) / PFS_BOX_PAGE; page++) {
		if (page == self->page)
			continue;
		if (!read_at(self, &byte, 1, page * PFS_BOX_PAGE) ||
		    !write_at(self, &byte, 1, page * PFS_BOX_PAGE))
			return false;
		self->page = page;
	}
	return true;
}

static bool put_cell(struct writer *self, const struct pfs_seen_cell *cell, int table)
{
	struct pfs_box_cell_base base;
	memset(&base, 0, sizeof(base));
	if (!self->only_room)
		pfs_reader_array_near(self->reader, PFS_BOX_CELL_BASES, cell->number * sizeof(base),
				      &base, sizeof(base), &self->window);
	if (base.cell_word != cell->word)
		memset(&base, 0, sizeof(base));
	base.cell_word = cell->word;
	for (int t = 0; t < PFS_TABLES; t++) {
		if (!goes_with(t, table))
			continue;
		base.epochs[t] = self->snapshot->truncates[t] + 1;
		base.current[t].count = (uint64_t)cell->allocs - (uint64_t)cell->frees;
		base.current[t].bytes = (uint64_t)cell->alloc_bytes - (uint64_t)cell->free_bytes;
	}
	return put(self, PFS_BOX_CELL_BASES, &base, sizeof(base), cell->number);
}

static bool put_row(struct writer *self, const struct pfs_reader_group *group,
		    enum pfs_box_table table)
{
	struct pfs_box_row_base base = { .epoch = self->snapshot->truncates[table] + 1,
					 .count = (uint64_t)group->frees,
					 .bytes = (uint64_t)group->free_bytes };
	uint32_t number;
	pfs_row_record(self->snapshot, table, group->who, &number, &base.record_word);
	return put(self, PFS_BOX_ROW_BASES, &base, sizeof(base),
		   pfs_box_row_number(&self->reader->rooms, table, number,
				      self->snapshot->instruments[group->instrument].number));
}

static bool put_all(struct writer *self, int table, bool only_room)
{
	const struct pfs_snapshot_rows *rows = self->snapshot->rows;
	bool fine = true;
	self->only_room = only_room;
	self->page = UINT64_MAX;
	for (uint64_t i = 0; fine && i < rows->cells.count; i++)
		fine = put_cell(self, &rows->cells.cell[i], table);
	for (int t = 0; fine && t < PFS_TABLES; t++)
		for (uint64_t i = 0; fine && goes_with(t, table) && i < rows->tables[t].count; i++)
			fine = put_row(self, &rows->tables[t].group[i], (enum pfs_box_table)t);
	return fine && flush(self);
}

static void raise_epochs(const struct writer *self, int table)
{
	uint64_t now = pfs_now_ns(CLOCK_REALTIME);
	for (int t = 0; t < PFS_TABLES; t++) {
		if (!goes_with(t, table))
			continue;
		/* relaxed: shown only. */
		pfs_store_relaxed(&self->control->truncate_realtime_ns[t], now);
		/* [RB2] seq, after the bases. */
		(void)pfs_fetch_add_seq(&self->control->truncates[t], 1);
	}
	raise_generation(self);
}

bool pfs_reader_truncate(struct pfs_reader *self, enum pfs_box_table table,
			 struct pfs_message *message)
{
	struct writer writer;
	struct pfs_snapshot *snapshot = NULL;
	if (table >= PFS_TABLES)
		return pfs_refuse(message, "there is no table %u", (unsigned)table);
	if (!open_writer(&writer, self, message))
		return false;
	int lock = pfs_tools_lock(self, true, message);
	if (lock >= 0)
		snapshot = pfs_snapshot_take_locked(self, PFS_SNAPSHOT_ROWS, message);
	writer.snapshot = snapshot;
	bool fine = snapshot != NULL && !self->is_copy;
	if (snapshot != NULL && self->is_copy)
		(void)pfs_refuse(message, "'%.150s' is read-only: its program just died",
				 self->info.path);
	if (fine && (!put_all(&writer, (int)table, true) || !put_all(&writer, (int)table, false)))
		fine = pfs_refuse(message, "no room for a baseline in '%.150s': %s",
				  self->info.path, strerror(errno));
	if (fine)
		raise_epochs(&writer, (int)table);
	pfs_snapshot_free(snapshot);
	pfs_tools_unlock(lock);
	close_writer(&writer);
	return fine;
}
