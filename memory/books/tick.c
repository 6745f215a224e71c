/*
 * tick.c - at each tick: write the state of the memory to the box's ring, update the estimates of
 * marks, and fold finished cells.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "containers/thread_signals.h"
#include "memory/books/books.h"
#include "memory/profile/profile.h"

/* ---- sums by instrument and account ---- */

struct sums {
	uint64_t *instruments; /* current bytes, [instruments_max] */
	uint64_t *accounts;    /* [accounts_max + 1] */
	uint32_t account_count;
	uint64_t bytes, blocks;
};

static void add_cell(const struct pfs_books *self, struct sums *sums, struct pfs_cell *cell)
{
	struct pfs_cell_sums read = pfs_cell_read(cell);
	uint64_t bytes = read.alloc_bytes - read.free_bytes;
	/* Cells of users and hosts are also included in the global one. */
	if (cell->level == PFS_CELL_OF_USER || cell->level == PFS_CELL_OF_HOST)
		return;
	if (cell->instrument - 1 < self->instruments_max)
		sums->instruments[cell->instrument - 1] += bytes;
	if (cell->account < sums->account_count)
		sums->accounts[cell->account] += bytes;
	sums->bytes += bytes;
	sums->blocks += read.allocs - read.frees;
}

/* Stores the largest values as shares, in descending order; a reference is an index + first. */
static void take_largest(struct pfs_box_share *shares, uint32_t share_count, const uint64_t *values,
			 uint32_t value_count, uint32_t first)
{
	memset(shares, 0, share_count * sizeof(*shares));
	for (uint32_t i = 0; i < value_count; i++) {
		uint32_t at = share_count;
		while (at > 0 && (int64_t)values[i] > (int64_t)shares[at - 1].bytes)
			at--;
		if (at == share_count || (int64_t)values[i] <= 0)
			continue;
		memmove(&shares[at + 1], &shares[at], (share_count - at - 1) * sizeof(*shares));
		shares[at] = (struct pfs_box_share){ .reference = i + first, .bytes = values[i] };
	}
}

static void read_sums(struct pfs_books *self, struct pfs_box_tick *tick)
{
	uint32_t accounts = (uint32_t)(self->shelves[PFS_SHELF_ACCOUNTS].region->bytes /
				       sizeof(struct pfs_box_account)) +
			    1;
	struct sums sums = { .account_count = accounts };
	sums.instruments = calloc(self->instruments_max + accounts, sizeof(uint64_t));
	if (sums.instruments == NULL)
		return;
	sums.accounts = sums.instruments + self->instruments_max;
	struct pfs_walk walk;
	struct pfs_cell *cell;
	pfs_walk_begin(&walk, self->shelves[PFS_SHELF_CELLS].handle, PFS_WALK_LIVE);
	while ((cell = pfs_walk_next(&walk)) != NULL)
		add_cell(self, &sums, cell);
	pfs_walk_end(&walk);
	take_largest(tick->instruments, PFS_BOX_TICK_INSTRUMENTS, sums.instruments,
		     self->instruments_max, 1);
	sums.accounts[0] = 0; /* threads without an account */
	take_largest(tick->accounts, PFS_BOX_TICK_ACCOUNTS, sums.accounts, accounts, 0);
	tick->own.tracked = sums.bytes;
	tick->own.blocks = sums.blocks;
	free(sums.instruments);
}

/* ---- numbers of the system ---- */

void pfs_system_rss(struct pfs_system_rss *rss)
{
	char text[4096];
	static const struct {
		const char *name;
		size_t offset;
	} lines[] = {
		{ "VmRSS:", offsetof(struct pfs_system_rss, all) },
		{ "RssAnon:", offsetof(struct pfs_system_rss, anon) },
		{ "RssFile:", offsetof(struct pfs_system_rss, file) },
		{ "RssShmem:", offsetof(struct pfs_system_rss, shmem) },
	};
	int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t got = file >= 0 ? read(file, text, sizeof(text) - 1) : 0;
	if (file >= 0)
		(void)close(file);
	text[got > 0 ? got : 0] = '\0';
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *at = strstr(text, lines[i].name);
		uint64_t kilobytes = at != NULL ? strtoull(strchr(at, ':') + 1, NULL, 10) : 0;
		*(uint64_t *)(void *)((char *)rss + lines[i].offset) = kilobytes * 1024;
	}
}

static void read_system(struct pfs_box_own *own)
{
	struct pfs_system_rss rss;
	pfs_system_rss(&rss);
	own->rss = rss.all;
	own->rss_anon = rss.anon;
	own->rss_file = rss.file;
	own->rss_shmem = rss.shmem;
}

void pfs_memory_tick(struct pfs_books *memory)
{
	struct pfs_box_tick tick;
	if (pfs_books_are_shut(memory))
		return;
	memset((void *)&tick, 0, sizeof(tick));
	struct pfs_box_region *region = pfs_box_region_of(&memory->box, PFS_BOX_TICKS);
	pfs_desk_open(memory);
	pfs_marks_tick(memory);
	pfs_profile_tick(memory);
	read_sums(memory, &tick);
	tick.own.accounts = memory->private_bytes;
	/* relaxed: a flag. */
	bool has_headers = pfs_load_relaxed(&memory->box.head->has_headers) != 0;
	tick.own.headers = has_headers ? 16 * tick.own.blocks : 0;
	read_system(&tick.own);
	tick.own.box = pfs_box_resident(&memory->box);
	if (memory->describe != NULL)
		memory->describe(&tick);
	tick.realtime_ns = pfs_box_now_ns();
	/* relaxed: ticks are made under the desk. */
	uint64_t number = pfs_load_relaxed(&memory->box.head->ticks) + 1;
	tick.number = number;
	uint64_t offset = region->offset + (number - 1) % PFS_BOX_TICKS_KEPT * sizeof(tick);
	if (pfs_box_populate(&memory->box, offset, sizeof(tick))) {
		pfs_bytes_store(memory->box.base + offset, &tick, sizeof(tick));
		/* relaxed: readers check the tick's own number, ordered by [L5]. */
		pfs_store_relaxed(&memory->box.head->ticks, number);
	}
	pfs_desk_close(memory);
}

/* ---- the thread ---- */

static void *tick_on(void *context)
{
	struct pfs_books *self = context;
	struct timespec until;
	(void)pthread_setname_np(pthread_self(), "pfsmem");
	(void)clock_gettime(CLOCK_REALTIME, &until);
	(void)pthread_mutex_lock(&self->tick_lock);
	while (!self->is_ending) {
		uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)self->config.tick_ms * 1000000;
		until.tv_sec += (time_t)(ns / 1000000000);
		until.tv_nsec = (long)(ns % 1000000000);
		(void)pthread_cond_timedwait(&self->end_tick, &self->tick_lock, &until);
		if (self->is_ending)
			break;
		(void)pthread_mutex_unlock(&self->tick_lock);
		pfs_memory_tick(self);
		(void)pthread_mutex_lock(&self->tick_lock);
	}
	(void)pthread_mutex_unlock(&self->tick_lock);
	return NULL;
}

void pfs_ticker_start(struct pfs_books *self)
{
	sigset_t before;
	self->is_ending = false;
	pfs_thread_signals_block(&before);
	self->has_ticker = pthread_create(&self->ticker, NULL, tick_on, self) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void pfs_ticker_end(struct pfs_books *self)
{
	if (!self->has_ticker)
		return;
	(void)pthread_mutex_lock(&self->tick_lock);
	self->is_ending = true;
	(void)pthread_cond_signal(&self->end_tick);
	(void)pthread_mutex_unlock(&self->tick_lock);
	(void)pthread_join(self->ticker, NULL);
	self->has_ticker = false;
}
