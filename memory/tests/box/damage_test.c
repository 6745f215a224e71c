/*
 * damage_test.c - damaged and hostile boxes of live and dead programs: each is read, or refused
 * with one line, in bounded time.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "fixture_test.h"
#include "memory/box/reader.h"
#include "probe_test.h"
#include "stress/harness/harness.h"

#define FLIPS 10000u
#define USED_MAX 512u

static struct pfs_made_box box;
static char path[128];
static uint64_t results[3];

struct range {
	uint64_t offset, bytes;
};
static struct range used[USED_MAX];
static uint32_t used_count;

/* Finds the allocated pages. */
static void find_used(int file)
{
	off_t at = 0;
	used_count = 0;
	while (used_count < USED_MAX && (at = lseek(file, at, SEEK_DATA)) >= 0) {
		off_t hole = lseek(file, at, SEEK_HOLE);
		for (; at < hole && used_count < USED_MAX; at += PFS_BOX_PAGE)
			used[used_count++] = (struct range){ (uint64_t)at, PFS_BOX_PAGE };
	}
}

static int begin(bool is_live)
{
	(void)snprintf(path, sizeof(path), "/dev/shm/pfslab-damage-%u.box", (unsigned)getpid());
	pfs_made_sample(&box, path);
	int file = open(path, O_RDWR | O_CLOEXEC);
	PFS_CHECK(file >= 0);
	memset(results, 0, sizeof(results));
	find_used(file);
	PFS_CHECK(used_count > 5);
	if (!is_live)
		pfs_made_leave(&box);
	PFS_CHECK_IS(pfs_probe_box(path), PFS_PROBE_FINE);
	return file;
}

static void end(int file)
{
	(void)printf("       %llu refused, %llu inconsistent, %llu fine\n",
		     (unsigned long long)results[PFS_PROBE_REFUSED],
		     (unsigned long long)results[PFS_PROBE_INCONSISTENT],
		     (unsigned long long)results[PFS_PROBE_FINE]);
	(void)close(file);
	(void)unlink(path);
}

static void read_at(int file, void *to, size_t bytes, uint64_t at)
{
	PFS_CHECK_IS(pread(file, to, bytes, (off_t)at), (ssize_t)bytes);
}

static void write_at(int file, const void *from, size_t bytes, uint64_t at)
{
	PFS_CHECK_IS(pwrite(file, from, bytes, (off_t)at), (ssize_t)bytes);
}

/* ---- cut ---- */

static void cut(const struct pfs_case *at)
{
	(void)at;
	int file = begin(false);
	char copy[160];
	static struct pfs_box_head head;
	read_at(file, (void *)&head, sizeof(head), 0);
	uint64_t bytes = head.file_bytes;
	(void)snprintf(copy, sizeof(copy), "%s.cut", path);
	PFS_CHECK(rename(path, copy) == 0);
	for (uint32_t i = 0; i <= head.region_count; i++) {
		uint64_t edge = i < head.region_count ? head.regions[i].offset : bytes;
		for (int by = -2; by <= 1; by++) {
			uint64_t to = edge + (uint64_t)(int64_t)by;
			if (to >= bytes)
				continue;
			PFS_CHECK(ftruncate(file, (off_t)to) == 0);
			PFS_CHECK_IS(pfs_probe_box(copy), PFS_PROBE_REFUSED);
			results[PFS_PROBE_REFUSED]++;
			PFS_CHECK(ftruncate(file, (off_t)bytes) == 0);
		}
	}
	for (uint64_t to = 0; to < 3 * PFS_BOX_PAGE; to += to < 2048 ? 1 : 512) {
		PFS_CHECK(ftruncate(file, (off_t)to) == 0);
		PFS_CHECK_IS(pfs_probe_box(copy), PFS_PROBE_REFUSED);
		results[PFS_PROBE_REFUSED]++;
		/* The full length with zeroes at the end: what a full disk leaves. */
		PFS_CHECK(ftruncate(file, (off_t)bytes) == 0);
		results[pfs_probe_box(copy)]++;
		PFS_CHECK(ftruncate(file, (off_t)to) == 0);
		write_at(file, (const char *)&head + (to < sizeof(head) ? to : 0),
			 to < sizeof(head) ? sizeof(head) - to : 0, to);
	}
	PFS_CHECK(rename(copy, path) == 0);
	end(file);
}

/* ---- bits ---- */

static uint64_t random_of(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void flip_bits(bool is_live)
{
	int file = begin(is_live);
	uint64_t state = 20260101;
	for (uint32_t i = 0; i < FLIPS; i++) {
		const struct range *range = &used[random_of(&state) % used_count];
		uint64_t at = range->offset + random_of(&state) % range->bytes;
		unsigned char before, after;
		read_at(file, &before, 1, at);
		after = (unsigned char)(before ^ 1u << random_of(&state) % 8);
		write_at(file, &after, 1, at);
		results[pfs_probe_box(path)]++;
		write_at(file, &before, 1, at);
	}
	PFS_CHECK_IS(pfs_probe_box(path), PFS_PROBE_FINE);
	PFS_CHECK(results[PFS_PROBE_REFUSED] != 0 && results[PFS_PROBE_INCONSISTENT] != 0);
	end(file);
}

static void dead_bits(const struct pfs_case *at)
{
	(void)at;
	flip_bits(false);
}

static void live_bits(const struct pfs_case *at)
{
	(void)at;
	flip_bits(true);
}

/* ---- hostile words: every word of the head, and of the first records of each kind ---- */

static void try_word(int file, uint64_t at)
{
	uint32_t before;
	read_at(file, &before, sizeof(before), at);
	const uint32_t words[] = { 0,          1,          before + 1, before - 1, before * 2,
				   0x7FFFFFFF, 0x80000000, 0xFFFFF000, UINT32_MAX };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		write_at(file, &words[i], sizeof(words[i]), at);
		results[pfs_probe_box(path)]++;
	}
	write_at(file, &before, sizeof(before), at);
}

static void try_all_words(bool is_live)
{
	int file = begin(is_live);
	static struct pfs_box_head head;
	read_at(file, (void *)&head, sizeof(head), 0);
	for (uint64_t at = 0; at < offsetof(struct pfs_box_head, program); at += 4)
		try_word(file, at);
	uint64_t regions = offsetof(struct pfs_box_head, regions);
	for (uint64_t at = regions; at < regions + head.region_count * sizeof(head.regions[0]);
	     at += 4)
		try_word(file, at);
	for (uint32_t i = 0; i < head.region_count; i++) {
		const struct pfs_box_region *region = &head.regions[i];
		uint32_t bytes = region->record_bytes < 448 ? region->record_bytes : 448;
		for (uint32_t at = 0; at < bytes; at += 4)
			try_word(file, region->offset + at);
		for (uint32_t slot = 0; slot < region->page_records; slot++)
			try_word(file, region->offset + region->words_offset + slot * 4);
	}
	PFS_CHECK_IS(pfs_probe_box(path), PFS_PROBE_FINE);
	PFS_CHECK(results[PFS_PROBE_REFUSED] != 0 && results[PFS_PROBE_INCONSISTENT] != 0);
	end(file);
}

static void dead_hostile(const struct pfs_case *at)
{
	(void)at;
	try_all_words(false);
}

static void live_hostile(const struct pfs_case *at)
{
	(void)at;
	try_all_words(true);
}

/* Heads that must be refused, each for one reason. */
static void heads(const struct pfs_case *at)
{
	(void)at;
	int file = begin(false);
	static struct pfs_box_head head, changed;
	read_at(file, (void *)&head, sizeof(head), 0);
	for (int i = 0; i < 12; i++) {
		memcpy((void *)&changed, (void *)&head, sizeof(head));
		struct pfs_box_region *cells = &changed.regions[5], *ticks = &changed.regions[6];
		PFS_CHECK_IS(cells->kind, PFS_BOX_CELLS);
		switch (i) {
		case 0: cells->offset += 8, cells->bytes -= PFS_BOX_PAGE; break;
		case 1: cells->offset = head.file_bytes; break;
		case 2: cells->offset = 0; break;
		case 3: cells->offset = ticks->offset; break;
		case 4: cells->page_records++; break;
		case 5: cells->words_offset += cells->page_bytes; break;
		case 6: cells->words_offset++; break;
		case 7: pfs_store_relaxed(&cells->page_count, 9); break; /* relaxed: a copy */
		case 8: cells->page_bytes++; break;
		case 9: cells->kind = PFS_BOX_NONE; break;
		case 10: ticks->kind = PFS_BOX_CELLS; break;
		default: ticks->page_records = 1;
		}
		write_at(file, (void *)&changed, sizeof(changed), 0);
		if (pfs_probe_box(path) != PFS_PROBE_REFUSED)
			(void)fprintf(stderr, "head %d\n", i);
		PFS_CHECK_IS(pfs_probe_box(path), PFS_PROBE_REFUSED);
	}
	end(file);
}

/* A live box claims pages that it does not have: reading must not allocate them. */
static void no_such_pages(const struct pfs_case *at)
{
	const struct pfs_made_sizes sizes = {
		.instruments = 8, .threads = 16, .accounts = 8, .cells = 100000, .page_records = 64
	};
	struct stat before, after;
	(void)at;
	(void)snprintf(path, sizeof(path), "/dev/shm/pfslab-damage-%u.box", (unsigned)getpid());
	pfs_made_begin(&box, path, &sizes);
	struct pfs_box_region *region = pfs_made_region(&box, PFS_BOX_CELLS);
	uint32_t pages = (uint32_t)(region->bytes / region->page_bytes);
	pfs_store_release(&region->page_count, pages);
	PFS_CHECK(stat(path, &before) == 0);
	results[pfs_probe_box(path)]++;
	PFS_CHECK(stat(path, &after) == 0);
	PFS_CHECK(after.st_blocks < before.st_blocks + 64);
	(void)unlink(path);
}

/* Unterminated texts: the reader does not continue into the next field. */
static void endless_texts(const struct pfs_case *at)
{
	(void)at;
	int file = begin(false);
	for (uint32_t i = 0; i < used_count; i++) {
		const struct range *range = &used[i];
		char *full = malloc(range->bytes), *before = malloc(range->bytes);
		PFS_CHECK(full != NULL && before != NULL);
		read_at(file, before, range->bytes, range->offset);
		memcpy(full, before, range->bytes);
		for (uint64_t j = i == 0 ? offsetof(struct pfs_box_head, program) : 0;
		     j < range->bytes && !(i == 0 && j >= offsetof(struct pfs_box_head, regions));
		     j++)
			full[j] = full[j] != 0 || i == 0 ? 'x' : full[j];
		write_at(file, full, range->bytes, range->offset);
		results[pfs_probe_box(path)]++;
		write_at(file, before, range->bytes, range->offset);
		free(full);
		free(before);
	}
	end(file);
}

/* Unterminated names are cut; instruments beyond the maximum are left out. */
static void limits(const struct pfs_case *at)
{
	const struct pfs_made_sizes sizes = {
		.instruments = 1040, .threads = 8, .accounts = 8, .cells = 8, .page_records = 8
	};
	struct pfs_message message;
	struct pfs_snapshot *snapshot;
	(void)at;
	(void)snprintf(path, sizeof(path), "/dev/shm/pfslab-damage-%u.box", (unsigned)getpid());
	pfs_made_begin(&box, path, &sizes);
	box.head->instruments_max = PFS_BOX_INSTRUMENTS_MAX;
	for (uint32_t i = 0; i < 1030; i++)
		(void)pfs_made_instrument(&box, "memory/sql/x");
	struct pfs_box_instrument *first = pfs_made_at(&box, PFS_BOX_INSTRUMENTS, 1);
	struct pfs_box_account *user = pfs_made_at(&box, PFS_BOX_USERS, pfs_made_user(&box, "app"));
	memset(first->name, 'n', sizeof(first->name));
	memset(user->user_name, 'u', sizeof(user->user_name));
	memset(user->host_name, 'h', sizeof(user->host_name));
	memset(box.head->program, 'p', sizeof(box.head->program));
	struct pfs_reader *reader = pfs_reader_open(path, &message);
	PFS_CHECK(reader != NULL);
	PFS_CHECK((snapshot = pfs_snapshot_take(reader, 0, &message)) != NULL);
	PFS_CHECK_IS(snapshot->instrument_count, PFS_BOX_INSTRUMENTS_MAX);
	PFS_CHECK_IS(strlen(snapshot->instruments[0].name), PFS_BOX_NAME_BYTES - 1);
	PFS_CHECK_IS(strlen(snapshot->users[0].user_name), PFS_BOX_USER_BYTES - 1);
	PFS_CHECK_IS(strlen(snapshot->users[0].host_name), PFS_BOX_HOST_BYTES - 1);
	PFS_CHECK_IS(strlen(snapshot->info.program), sizeof(box.head->program) - 1);
	PFS_CHECK_IS(snapshot->damaged, 1);
	pfs_snapshot_free(snapshot);
	pfs_reader_close(reader);
	(void)unlink(path);
}

/* Bytes that a file would have to be copied for; written where bytes are to be data. */
static void grow(int file, struct pfs_box_head *head, uint32_t kind, uint64_t bytes)
{
	static char data[1 << 20];
	memset(data, 1, sizeof(data));
	struct pfs_box_region *region =
		(struct pfs_box_region *)&head->regions[head->region_count++];
	*region = (struct pfs_box_region){
		.kind = kind,
		.record_bytes = kind == PFS_BOX_SWITCHES ? sizeof(struct pfs_box_switch) : 8,
		.offset = (head->file_bytes + PFS_BOX_PAGE - 1) / PFS_BOX_PAGE * PFS_BOX_PAGE,
		.bytes = bytes,
		.page_bytes = 1 << 20,
		.page_count = kind >= PFS_BOX_KINDS ? (uint32_t)(bytes >> 20) : 0,
	};
	head->file_bytes = region->offset + bytes;
	PFS_CHECK(ftruncate(file, (off_t)head->file_bytes) == 0);
	for (uint64_t at = 0; at < bytes; at += sizeof(data))
		write_at(file, data, sizeof(data), region->offset + at);
	write_at(file, (void *)head, sizeof(*head), 0);
}

static uint64_t resident(void)
{
	unsigned long pages = 0, all;
	FILE *from = fopen("/proc/self/statm", "re");
	PFS_CHECK(from != NULL && fscanf(from, "%lu %lu", &all, &pages) == 2);
	(void)fclose(from);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A box with more data than records, then with more than root copies of another user's. */
static void too_much(const struct pfs_case *at)
{
	const uint64_t mib = UINT64_C(1) << 20;
	static struct pfs_box_head head;
	struct pfs_message message = { "" };
	char folder[64];
	(void)at;
	int file = begin(false);
	read_at(file, (void *)&head, sizeof(head), 0);
	grow(file, &head, PFS_BOX_KINDS + 1, 64 * mib);
	uint64_t before = resident();
	struct pfs_reader *reader = pfs_reader_open(path, &message);
	PFS_CHECK(reader != NULL && resident() - before < 16 * mib);
	pfs_reader_close(reader);
	(void)snprintf(folder, sizeof(folder), "/dev/shm/pfslab-foreign-%u", (unsigned)getpid());
	struct statvfs room;
	if (geteuid() == 0 && statvfs("/dev/shm", &room) == 0 &&
	    room.f_bavail * (uint64_t)room.f_bsize > 1024 * mib) {
		char moved[128];
		(void)snprintf(moved, sizeof(moved), "%s/1-1.box", folder);
		PFS_CHECK(mkdir(folder, 0700) == 0 && rename(path, moved) == 0);
		PFS_CHECK(fchown(file, 65534, 65534) == 0 && chown(folder, 65534, 65534) == 0);
		PFS_CHECK((reader = pfs_reader_open(moved, &message)) != NULL);
		pfs_reader_close(reader);
		grow(file, &head, PFS_BOX_SWITCHES, 513 * mib);
		before = resident();
		reader = pfs_reader_open(moved, &message);
		PFS_CHECK(reader == NULL && resident() - before < 16 * mib);
		PFS_CHECK(strstr(message.text, "holds more than the 512 MiB") != NULL &&
			  strstr(message.text, "run pfs-mem as user") != NULL);
		(void)unlink(moved);
		(void)rmdir(folder);
	}
	end(file);
}

int main(int argc, char **argv)
{
	static const struct pfs_test tests[] = {
		{ .name = "cut", .run = cut },
		{ .name = "dead_bits", .run = dead_bits },
		{ .name = "live_bits", .run = live_bits },
		{ .name = "dead_hostile", .run = dead_hostile },
		{ .name = "live_hostile", .run = live_hostile },
		{ .name = "limits", .run = limits },
		{ .name = "heads", .run = heads },
		{ .name = "no_such_pages", .run = no_such_pages },
		{ .name = "endless_texts", .run = endless_texts },
		{ .name = "too_much", .run = too_much },
	};
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
