#define _GNU_SOURCE
#include "fixture_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/now.h"
#include "containers/pfs_lock.h"

#define FIRST_WORD (PFS_VERSION_ONE + PFS_STATE_ALLOCATED)

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	exit(1);
}

static uint64_t round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

/* Everything here is written by one thread, or before others read it: relaxed throughout. */
static uint64_t get(_Atomic(uint64_t) *word)
{
	return pfs_load_relaxed(word); /* relaxed: see above */
}

static void set(_Atomic(uint64_t) *word, uint64_t value)
{
	pfs_store_relaxed(word, value); /* relaxed: see above */
}

/* ---- the file ---- */

static uint64_t add_region(struct pfs_box_head *head, enum pfs_box_kind kind, uint64_t offset,
			   uint32_t record_bytes, uint64_t records, uint32_t page_records)
{
	struct pfs_box_region *region = &head->regions[head->region_count++];
	region->kind = kind;
	region->record_bytes = record_bytes;
	region->offset = offset;
	region->page_records = page_records;
	region->bytes = round_up(records * record_bytes, PFS_BOX_PAGE);
	if (page_records != 0) {
		region->words_offset = page_records * record_bytes;
		region->page_bytes = (uint32_t)round_up(
			region->words_offset + page_records * sizeof(uint32_t), PFS_BOX_PAGE);
		region->bytes = (records + page_records - 1) / page_records * region->page_bytes;
	}
	return offset + region->bytes;
}

/* The regions of a profile are the last four. */
static uint64_t plan(struct pfs_box_head *head, const struct pfs_made_sizes *sizes)
{
	const uint32_t page = sizes->page_records, account = sizeof(struct pfs_box_account);
	const uint64_t rows = (sizes->threads + UINT64_C(3) * sizes->accounts + 4 * page + 1) *
			      sizes->instruments;
	const struct {
		enum pfs_box_kind kind;
		uint32_t record_bytes;
		uint64_t records;
		uint32_t page_records;
	} regions[] = {
		{ PFS_BOX_INSTRUMENTS, sizeof(struct pfs_box_instrument), sizes->instruments,
		  page },
		{ PFS_BOX_THREADS, sizeof(struct pfs_box_thread), sizes->threads, page },
		{ PFS_BOX_ACCOUNTS, account, sizes->accounts, page },
		{ PFS_BOX_USERS, account, sizes->accounts, page },
		{ PFS_BOX_HOSTS, account, sizes->accounts, page },
		{ PFS_BOX_CELLS, sizeof(struct pfs_cell), sizes->cells, page },
		{ PFS_BOX_TICKS, sizeof(struct pfs_box_tick), PFS_BOX_TICKS_KEPT, 0 },
		{ PFS_BOX_CELL_BASES, sizeof(struct pfs_box_cell_base), sizes->cells + page, 0 },
		{ PFS_BOX_ROW_BASES, sizeof(struct pfs_box_row_base), rows, 0 },
		{ PFS_BOX_MAPPERS, sizeof(struct pfs_box_mapper), PFS_BOX_MAPPERS_MAX, 0 },
		{ PFS_BOX_OWNERS, sizeof(struct pfs_box_owner), 64, page },
		{ PFS_BOX_CORRUPTION, sizeof(struct pfs_box_corruption), 1, 0 },
		{ PFS_BOX_MODULES, sizeof(struct pfs_box_module), 64, 0 },
		{ PFS_BOX_STACKS, sizeof(struct pfs_box_stack), sizes->stacks, page },
		{ PFS_BOX_CONTEXTS, sizeof(struct pfs_box_context), sizes->contexts, page },
		{ PFS_BOX_SAMPLES, sizeof(struct pfs_box_sample), sizes->samples, page },
		{ PFS_BOX_MOMENTS, sizeof(struct pfs_box_moment), PFS_MOMENTS_KEPT, 0 },
	};
	const size_t count = sizeof(regions) / sizeof(regions[0]) -
			     (sizes->profile_lg == 0 ? 4 : 0);
	uint64_t at = 2 * PFS_BOX_PAGE;
	for (size_t i = 0; i < count; i++)
		at = add_region(head, regions[i].kind, at, regions[i].record_bytes,
				regions[i].records, regions[i].page_records);
	return at;
}

static void fill_head(struct pfs_box_head *head, const struct pfs_made_sizes *sizes)
{
	memcpy(head->magic, PFS_BOX_MAGIC, sizeof(head->magic));
	head->version = PFS_BOX_VERSION;
	head->head_bytes = PFS_BOX_PAGE;
	head->pid = (uint32_t)getpid();
	head->parent_pid = (uint32_t)getppid();
	head->start_ticks = 12345;
	head->start_realtime_ns = pfs_now_ns(CLOCK_REALTIME);
	head->uid = (uint32_t)geteuid();
	head->instruments_max = sizes->instruments;
	head->tick_ms = 1000;
	head->profile_lg = sizes->profile_lg;
	(void)snprintf(head->rule, sizeof(head->rule), "exact");
	(void)snprintf(head->program, sizeof(head->program), "/usr/bin/fixture");
	(void)snprintf(head->command, sizeof(head->command), "fixture --by hand");
	head->file_bytes = plan(head, sizes);
}

void pfs_made_begin(struct pfs_made_box *self, const char *path, const struct pfs_made_sizes *sizes)
{
	static struct pfs_box_head head;
	memset((void *)&head, 0, sizeof(head));
	memset(self, 0, sizeof(*self));
	fill_head(&head, sizes);
	(void)snprintf(self->path, sizeof(self->path), "%s", path);
	(void)unlink(path);
	int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	must(file >= 0 && ftruncate(file, (off_t)head.file_bytes) == 0, path);
	must(flock(file, LOCK_EX | LOCK_NB) == 0, "flock");
	self->bytes = head.file_bytes;
	self->base = mmap(NULL, self->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	must(self->base != MAP_FAILED, "mmap");
	(void)close(file); /* the mapping keeps the lock */
	self->head = (struct pfs_box_head *)(void *)self->base;
	self->control = (struct pfs_box_control *)(void *)(self->base + PFS_BOX_PAGE);
	memcpy((void *)self->head, (void *)&head, sizeof(head));
	pfs_store_relaxed(&self->control->generation, 1); /* relaxed: see get */
	for (uint32_t i = 0; i < PFS_BOX_INSTRUMENTS_MAX; i++)
		pfs_store_relaxed(&self->control->enabled[i], 1); /* relaxed: see get */
	pfs_store_release(&self->head->state, PFS_BOX_LIVE);
}

void pfs_made_leave(struct pfs_made_box *self)
{
	must(munmap(self->base, self->bytes) == 0, "munmap");
	self->base = NULL;
}

/* ---- records ---- */

struct pfs_box_region *pfs_made_region(struct pfs_made_box *self, enum pfs_box_kind kind)
{
	for (uint32_t i = 0; i < self->head->region_count; i++)
		if (self->head->regions[i].kind == (uint32_t)kind)
			return &self->head->regions[i];
	must(false, "region");
	return NULL;
}

static char *page_of(struct pfs_made_box *self, enum pfs_box_kind kind, uint32_t reference)
{
	struct pfs_box_region *region = pfs_made_region(self, kind);
	return self->base + region->offset +
	       (uint64_t)((reference - 1) / region->page_records) * region->page_bytes;
}

void *pfs_made_at(struct pfs_made_box *self, enum pfs_box_kind kind, uint32_t reference)
{
	struct pfs_box_region *region = pfs_made_region(self, kind);
	return page_of(self, kind, reference) +
	       (reference - 1) % region->page_records * region->record_bytes;
}

_Atomic(uint32_t) *pfs_made_word(struct pfs_made_box *self, enum pfs_box_kind kind,
				 uint32_t reference)
{
	struct pfs_box_region *region = pfs_made_region(self, kind);
	char *words = page_of(self, kind, reference) + region->words_offset;
	return (_Atomic(uint32_t) *)(void *)(words + (reference - 1) % region->page_records *
							     sizeof(uint32_t));
}

uint32_t pfs_made_record(struct pfs_made_box *self, enum pfs_box_kind kind)
{
	struct pfs_box_region *region = pfs_made_region(self, kind);
	uint32_t reference = ++self->made[kind];
	uint32_t pages = (reference + region->page_records - 1) / region->page_records;
	must((uint64_t)pages * region->page_bytes <= region->bytes, "room for a record");
	pfs_store_release(&region->page_count, pages);
	return reference;
}

uint32_t pfs_made_publish(struct pfs_made_box *self, enum pfs_box_kind kind, uint32_t reference)
{
	pfs_store_release(pfs_made_word(self, kind, reference), FIRST_WORD);
	return reference;
}

uint32_t pfs_made_instrument(struct pfs_made_box *self, const char *name)
{
	uint32_t reference = pfs_made_record(self, PFS_BOX_INSTRUMENTS);
	struct pfs_box_instrument *record = pfs_made_at(self, PFS_BOX_INSTRUMENTS, reference);
	(void)snprintf(record->name, sizeof(record->name), "%s", name);
	return pfs_made_publish(self, PFS_BOX_INSTRUMENTS, reference);
}

/* An account, a user or a host; a name that is NULL is not set. */
static struct pfs_box_account *named(struct pfs_made_box *self, enum pfs_box_kind kind,
				     const char *user, const char *host)
{
	uint32_t reference = pfs_made_record(self, kind);
	struct pfs_box_account *record = pfs_made_at(self, kind, reference);
	record->has_user = user != NULL;
	record->has_host = host != NULL;
	(void)snprintf(record->user_name, sizeof(record->user_name), "%s", user ? user : "");
	(void)snprintf(record->host_name, sizeof(record->host_name), "%s", host ? host : "");
	(void)pfs_made_publish(self, kind, reference);
	return record;
}

uint32_t pfs_made_user(struct pfs_made_box *self, const char *name)
{
	(void)named(self, PFS_BOX_USERS, name, NULL);
	return self->made[PFS_BOX_USERS];
}

uint32_t pfs_made_host(struct pfs_made_box *self, const char *name)
{
	(void)named(self, PFS_BOX_HOSTS, NULL, name);
	return self->made[PFS_BOX_HOSTS];
}

uint32_t pfs_made_account(struct pfs_made_box *self, uint32_t user, uint32_t host)
{
	const struct pfs_box_account *of_user = pfs_made_at(self, PFS_BOX_USERS, user);
	const struct pfs_box_account *of_host = pfs_made_at(self, PFS_BOX_HOSTS, host);
	struct pfs_box_account *record = named(self, PFS_BOX_ACCOUNTS, of_user->user_name,
					       of_host->host_name);
	record->user = user;
	record->host = host;
	return self->made[PFS_BOX_ACCOUNTS];
}

uint32_t pfs_made_thread(struct pfs_made_box *self, const char *name, uint32_t account,
			 uint32_t user, uint32_t host)
{
	uint32_t reference = pfs_made_record(self, PFS_BOX_THREADS);
	struct pfs_box_thread *record = pfs_made_at(self, PFS_BOX_THREADS, reference);
	record->thread_id = ++self->thread_id;
	record->begun_realtime_ns = pfs_now_ns(CLOCK_REALTIME);
	record->os_tid = (uint32_t)getpid();
	record->account = account;
	record->user = user;
	record->host = host;
	record->is_instrumented = 1;
	(void)snprintf(record->name, sizeof(record->name), "%s", name);
	if (account != 0) {
		struct pfs_box_account *of = pfs_made_at(self, PFS_BOX_ACCOUNTS, account);
		record->user = of->user;
		record->host = of->host;
		of->current_connections++;
		of->total_connections++;
	}
	return pfs_made_publish(self, PFS_BOX_THREADS, reference);
}

static struct pfs_cell *new_cell(struct pfs_made_box *self, enum pfs_cell_level level,
				 uint32_t instrument, uint32_t *reference)
{
	*reference = pfs_made_record(self, PFS_BOX_CELLS);
	struct pfs_cell *cell = pfs_made_at(self, PFS_BOX_CELLS, *reference);
	memset((void *)cell, 0, sizeof(*cell));
	cell->reference = *reference;
	cell->level = level;
	cell->instrument = instrument;
	for (int t = 0; t < PFS_TABLES; t++)
		/* relaxed: see get */
		pfs_store_relaxed(&cell->epochs[t], pfs_load_relaxed(&self->control->truncates[t]));
	return cell;
}

struct pfs_cell *pfs_made_cell(struct pfs_made_box *self, uint32_t thread, uint32_t instrument)
{
	const struct pfs_box_thread *of = pfs_made_at(self, PFS_BOX_THREADS, thread);
	uint32_t reference;
	struct pfs_cell *cell = new_cell(self, PFS_CELL_OF_THREAD, instrument, &reference);
	pfs_store_relaxed(&cell->owner, thread); /* relaxed: see get */
	cell->thread = thread;
	cell->account = of->account;
	cell->user = of->user;
	cell->host = of->host;
	(void)pfs_made_publish(self, PFS_BOX_CELLS, reference);
	return cell;
}

struct pfs_cell *pfs_made_cell_of(struct pfs_made_box *self, enum pfs_cell_level level,
				  uint32_t who, uint32_t instrument)
{
	uint32_t reference;
	struct pfs_cell *cell = new_cell(self, level, instrument, &reference);
	cell->account = level == PFS_CELL_OF_ACCOUNT ? who : 0;
	cell->user = level == PFS_CELL_OF_USER ? who : 0;
	cell->host = level == PFS_CELL_OF_HOST ? who : 0;
	(void)pfs_made_publish(self, PFS_BOX_CELLS, reference);
	return cell;
}

/* ---- what a program would do ---- */

/* After a TRUNCATE marks begin at what is in use now. */
static void look(struct pfs_made_box *self, struct pfs_cell *cell, uint64_t count, uint64_t bytes)
{
	for (int t = 0; t < PFS_TABLES; t++) {
		/* relaxed: see get */
		uint32_t epoch = pfs_load_relaxed(&self->control->truncates[t]);
		if (pfs_load_relaxed(&cell->epochs[t]) == epoch) /* relaxed: see get */
			continue;
		set(&cell->marks[t].high_count, count);
		set(&cell->marks[t].low_count, count);
		set(&cell->marks[t].high_bytes, bytes);
		set(&cell->marks[t].low_bytes, bytes);
		pfs_store_relaxed(&cell->epochs[t], epoch); /* relaxed: see get */
	}
}

/* High marks rise after an allocation; low ones fall before it, where the minima are. */
static void mark(struct pfs_cell *cell, bool high)
{
	uint64_t count = get(&cell->allocs) - get(&cell->frees) - get(&cell->word);
	uint64_t bytes = get(&cell->alloc_bytes) - get(&cell->free_bytes) -
			 get(&cell->foreign_bytes);
	for (int t = 0; t < PFS_TABLES; t++) {
		struct pfs_marks *marks = &cell->marks[t];
		if (high && count > get(&marks->high_count))
			set(&marks->high_count, count);
		if (high && bytes > get(&marks->high_bytes))
			set(&marks->high_bytes, bytes);
		if (!high && count < get(&marks->low_count))
			set(&marks->low_count, count);
		if (!high && bytes < get(&marks->low_bytes))
			set(&marks->low_bytes, bytes);
	}
}

void pfs_made_alloc(struct pfs_made_box *self, struct pfs_cell *cell, uint64_t bytes)
{
	uint64_t count = get(&cell->allocs) - get(&cell->frees) - get(&cell->word);
	look(self, cell, count,
	     get(&cell->alloc_bytes) - get(&cell->free_bytes) - get(&cell->foreign_bytes));
	mark(cell, false);
	set(&cell->allocs, get(&cell->allocs) + 1);
	set(&cell->alloc_bytes, get(&cell->alloc_bytes) + bytes);
	mark(cell, true);
}

void pfs_made_free(struct pfs_made_box *self, struct pfs_cell *cell, uint64_t bytes)
{
	(void)self;
	set(&cell->frees, get(&cell->frees) + 1);
	set(&cell->free_bytes, get(&cell->free_bytes) + bytes);
}

void pfs_made_foreign(struct pfs_cell *cell, uint64_t bytes)
{
	set(&cell->foreign_bytes, get(&cell->foreign_bytes) + bytes);
	set(&cell->word, get(&cell->word) + 1);
}

void pfs_made_end_cell(struct pfs_cell *cell)
{
	uint64_t net = get(&cell->allocs) - get(&cell->frees);
	pfs_store_relaxed(&cell->owner, 0); /* relaxed: see get */
	set(&cell->word, get(&cell->word) + PFS_CELL_ENDED - net);
}

static uint32_t made_owner(struct pfs_made_box *self, uint32_t parent, const char *name,
			   uint64_t own, uint64_t sum)
{
	uint32_t reference = pfs_made_record(self, PFS_BOX_OWNERS);
	struct pfs_box_owner *record = pfs_made_at(self, PFS_BOX_OWNERS, reference);
	record->parent = parent;
	set(&record->own, own);
	set(&record->sum, sum);
	set(&record->reserved, sum);
	set(&record->high, sum + 1);
	set(&record->limit, UINT64_MAX);
	(void)snprintf(record->name, sizeof(record->name), "%s", name);
	return pfs_made_publish(self, PFS_BOX_OWNERS, reference);
}

void pfs_made_tick(struct pfs_made_box *self, uint64_t bytes)
{
	uint64_t number = get(&self->head->ticks) + 1;
	struct pfs_box_tick *tick =
		(struct pfs_box_tick *)(void *)(self->base +
						pfs_made_region(self, PFS_BOX_TICKS)->offset);
	tick += (number - 1) % PFS_BOX_TICKS_KEPT;
	memset(tick, 0, sizeof(*tick));
	tick->number = number;
	tick->realtime_ns = self->head->start_realtime_ns + number * 1000000000u;
	tick->own.tracked = bytes;
	tick->own.rss = bytes + 4096;
	tick->arenas[0] = (struct pfs_box_arena){
		.reference = 1, .threads = 2, .pool = "worker", .allocated = bytes, .active = bytes
	};
	tick->arenas[1].reference = PFS_BOX_ARENA_OTHERS;
	tick->instruments[0] = (struct pfs_box_share){ .reference = 1, .bytes = bytes };
	pfs_store_release(&self->head->ticks, number);
}

static void made_trace(struct pfs_box_trace *trace, const char *thread, uint32_t depth)
{
	trace->os_tid = 4711;
	trace->depth = depth;
	(void)snprintf(trace->thread, sizeof(trace->thread), "%s", thread);
	for (uint32_t i = 0; i < depth; i++)
		trace->frames[i] = 0x401000 + i;
}

void pfs_made_corruption(struct pfs_made_box *self)
{
	struct pfs_box_region *region = pfs_made_region(self, PFS_BOX_CORRUPTION);
	struct pfs_box_corruption *one =
		(struct pfs_box_corruption *)(void *)(self->base + region->offset);
	one->kind = PFS_BOX_DOUBLE_FREE;
	one->realtime_ns = self->head->start_realtime_ns;
	one->block = one->address = 0x7000;
	one->block_bytes = self->head->corrupted_bytes = 100;
	(void)snprintf(one->call, sizeof(one->call), "free");
	made_trace(&one->traces[PFS_BOX_TRACE_HERE], "worker", 3);
	made_trace(&one->traces[PFS_BOX_TRACE_FREED], "dropper", PFS_BOX_TRACE_FRAMES);
	one->modules[0].begin = 0x400000;
	one->modules[0].end = 0x500000;
	(void)snprintf(one->modules[0].path, sizeof(one->modules[0].path), "/usr/bin/fixture");
	pfs_store_release(&self->head->corruption, one->kind); /* [J9] release, pairs with [J10] */
}

void pfs_made_sample(struct pfs_made_box *self, const char *path)
{
	const struct pfs_made_sizes sizes = { .instruments = 8,
					      .threads = 16,
					      .accounts = 8,
					      .cells = 64,
					      .page_records = 8,
					      .stacks = 8,
					      .contexts = 8,
					      .samples = 16,
					      .profile_lg = 12 };
	pfs_made_begin(self, path, &sizes);
	uint32_t net = pfs_made_instrument(self, "memory/server/net");
	uint32_t sort = pfs_made_instrument(self, "memory/server/sort");
	(void)pfs_made_instrument(self, "memory/server/unused");
	uint32_t app = pfs_made_user(self, "app"), web = pfs_made_host(self, "web1");
	uint32_t account = pfs_made_account(self, app, web);
	uint32_t ones[3] = {
		pfs_made_thread(self, "worker", account, 0, 0),
		pfs_made_thread(self, "lone", 0, app, 0),
		pfs_made_thread(self, "nobody", 0, 0, 0),
	};
	for (uint32_t i = 0; i < 3; i++) {
		struct pfs_cell *cell = pfs_made_cell(self, ones[i], net);
		for (uint32_t j = 0; j < 5 + i; j++)
			pfs_made_alloc(self, cell, 1000);
		pfs_made_free(self, cell, 1000);
		pfs_made_foreign(cell, 1000);
	}
	struct pfs_cell *ended = pfs_made_cell(self, ones[0], sort);
	pfs_made_alloc(self, ended, 500);
	pfs_made_end_cell(ended);
	(void)pfs_made_cell_of(self, PFS_CELL_OF_ACCOUNT, account, net);
	(void)pfs_made_cell_of(self, PFS_CELL_OF_USER, app, net);
	(void)pfs_made_cell_of(self, PFS_CELL_OF_HOST, web, net);
	(void)pfs_made_cell_of(self, PFS_CELL_OF_GLOBAL, 0, sort);
	uint32_t cache = made_owner(self, 0, "cache", 100, 1100);
	(void)made_owner(self, made_owner(self, cache, "blocks", 400, 1000), "index", 600, 600);
	for (uint64_t i = 1; i <= 3; i++)
		pfs_made_tick(self, i * 1000);
	pfs_made_profile(self, ones[0], net);
	pfs_made_corruption(self);
}
