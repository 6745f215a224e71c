/*
 * corner_mallctl.c - mallctl: names and MIBs, what is refused, sums, and what is printed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "je.h"

#define BLOCKS 300
#define LARGE_BYTES ((size_t)1 << 20)

static void *blocks[BLOCKS];

/* ---- names, lengths ---- */

static int read_with(const char *name, size_t length)
{
	char place[32];
	return mallctl(name, place, &length, NULL, 0);
}

JE_CORNER(wrong_lengths)
{
	static const char *const names[] = { "epoch",
					     "version",
					     "arenas.page",
					     "arenas.nbins",
					     "arenas.bin.0.nregs",
					     "stats.allocated",
					     "stats.arenas.0.pactive",
					     "thread.arena",
					     "background_thread" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CORNER_CHECK(read_with(names[i], 3) == EINVAL, "%s in 3 bytes", names[i]);
		CORNER_CHECK(read_with(names[i], 0) == EINVAL, "%s in no bytes", names[i]);
		CORNER_CHECK(read_with(names[i], 9) == EINVAL, "%s in 9 bytes", names[i]);
		CORNER_CHECK(mallctl(names[i], NULL, NULL, NULL, 0) == 0, "%s of nothing",
			     names[i]);
	}
	uint64_t value = 0;
	size_t page = 0, length = 2;
	CORNER_CHECK(mallctl("arenas.page", &page, &length, NULL, 0) == EINVAL && length == 2 &&
			     page == 4096,
		     "2 bytes of arenas.page: %zu, length %zu", page, length);
	CORNER_CHECK(mallctl("epoch", NULL, NULL, &value, 4) == EINVAL, "4 bytes of epoch");
	CORNER_CHECK(mallctl("thread.arena", NULL, NULL, &value, 8) == EINVAL, "thread.arena");
	CORNER_CHECK(mallctl("thread.tcache.enabled", NULL, NULL, &value, 4) == EINVAL, "enabled");
	CORNER_CHECK(je_bool("thread.tcache.enabled"), "and it stays as it was");
}

JE_CORNER(unknown_names)
{
	/* clang-format off */
	static const char *const names[] = {
		"", "nothing", "stats.", "stats.nothing", "stats.allocated.more",
		"arenas.bin.x.size", "arenas.bin.38.size",
		"arenas.bin.-1.size", "arenas.lextent.196.size", "arena.100000.purge",
		"stats.arenas.99999.pactive", "stats.arenas.0.bins.38.curregs", "arenas.bin..size",
		"arenas.bin.99999999999999999999999.size", "epochs", "epoc"
	};
	/* clang-format on */
	static const char *const parts[] = { "stats", "arenas", "arenas.bin", "arenas.bin.0" };
	size_t mib[8];
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		CORNER_CHECK(mallctl(parts[i], NULL, NULL, NULL, 0) == ENOENT, "\"%s\"", parts[i]);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = 8;
		CORNER_CHECK(mallctl(names[i], NULL, NULL, NULL, 0) == ENOENT, "mallctl(\"%s\")",
			     names[i]);
		CORNER_CHECK(mallctlnametomib(names[i], mib, &length) == ENOENT, "mib of \"%s\"",
			     names[i]);
	}
}

JE_CORNER(read_only_and_write_only)
{
	static const char *const read_only[] = { "version",          "config.debug",
						 "opt.tcache",       "arenas.page",
						 "arenas.narenas",   "arenas.nbins",
						 "stats.allocated",  "stats.arenas.0.pactive",
						 "thread.allocated", "tcache.create" };
	static const char *const done[] = { "arena.0.purge", "arena.0.decay",
					    "thread.tcache.flush" };
	uint64_t value = 0;
	size_t length = sizeof(value);
	for (size_t i = 0; i < sizeof(read_only) / sizeof(read_only[0]); i++)
		CORNER_CHECK(mallctl(read_only[i], NULL, NULL, &value, sizeof(value)) == EPERM,
			     "%s is written", read_only[i]);
	for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++) {
		CORNER_CHECK(mallctl(done[i], &value, &length, NULL, 0) == EPERM, "%s is read",
			     done[i]);
		CORNER_CHECK(mallctl(done[i], NULL, NULL, &value, sizeof(value)) == EPERM,
			     "%s is written", done[i]);
		je_do(done[i]);
	}
	CORNER_CHECK(mallctl("tcache.destroy", &value, &length, NULL, 0) == EPERM, "destroy read");
	CORNER_CHECK(mallctl("tcache.flush", NULL, NULL, NULL, 0) != 0, "flush of nothing");
}

JE_CORNER(values_have_their_types)
{
	static const char *const of_unsigned[] = { "arenas.narenas", "arenas.nbins",
						   "opt.narenas",    "arenas.nlextents",
						   "thread.arena",   "stats.arenas.0.nthreads" };
	static const char *const of_size[] = { "arenas.page",
					       "arenas.quantum",
					       "arenas.tcache_max",
					       "max_background_threads",
					       "stats.active",
					       "stats.allocated",
					       "stats.metadata",
					       "stats.resident",
					       "stats.mapped",
					       "stats.retained",
					       "stats.arenas.0.pdirty",
					       "stats.arenas.0.mapped",
					       "stats.arenas.0.retained",
					       "stats.arenas.0.pmuzzy",
					       "stats.arenas.0.bins.3.curregs",
					       "stats.arenas.0.bins.3.curslabs" };
	static const char *const of_bool[] = {
		"config.debug",          "config.fill",       "config.prof",
		"config.stats",          "opt.tcache",        "opt.zero",
		"opt.background_thread", "background_thread", "arena.0.initialized",
		"thread.tcache.enabled"
	};
	for (size_t i = 0; i < sizeof(of_unsigned) / sizeof(of_unsigned[0]); i++)
		(void)je_unsigned(of_unsigned[i]);
	for (size_t i = 0; i < sizeof(of_size) / sizeof(of_size[0]); i++)
		(void)je_size(of_size[i]);
	for (size_t i = 0; i < sizeof(of_bool) / sizeof(of_bool[0]); i++)
		(void)je_bool(of_bool[i]);
	CORNER_CHECK(je_size("arenas.page") == 4096 && je_size("arenas.quantum") == 16, "page");
	CORNER_CHECK(je_text("version")[0] == '5', "version %s", je_text("version"));
	CORNER_CHECK(strcmp(je_text("opt.thp"), "default") == 0, "opt.thp");
	(void)je_ssize("opt.dirty_decay_ms");
	(void)je_ssize("arenas.muzzy_decay_ms");
	(void)je_ssize("arena.0.dirty_decay_ms");
	(void)je_uint64("stats.arenas.0.bins.3.nmalloc");
	CORNER_CHECK(je_bool("config.stats"), "config.stats");
	CORNER_CHECK(je_bool("arena.0.initialized"), "arena.0.initialized");
}

JE_CORNER(numbers_for_names)
{
	size_t mib[6], length = 6;
	unsigned bins = je_unsigned("arenas.nbins");
	CORNER_CHECK(mallctlnametomib("arenas.bin.0.size", mib, &length) == 0 && length == 4 &&
			     mib[2] == 0,
		     "arenas.bin.0.size: %zu numbers", length);
	for (unsigned bin = 0; bin < bins; bin++) {
		size_t size = 0, bytes = sizeof(size);
		mib[2] = bin;
		CORNER_CHECK(mallctlbymib(mib, 4, &size, &bytes, NULL, 0) == 0, "bin %u", bin);
		CORNER_CHECK(size == je_size(je_name("arenas.bin.%u.size", bin)), "bin %u", bin);
	}
	mib[2] = bins;
	CORNER_CHECK(mallctlbymib(mib, 4, NULL, NULL, NULL, 0) == ENOENT, "beyond the last bin");
	mib[2] = 0;
	CORNER_CHECK(mallctlbymib(mib, 3, NULL, NULL, NULL, 0) == ENOENT, "a part of a name");
	mib[4] = 0;
	CORNER_CHECK(mallctlbymib(mib, 5, NULL, NULL, NULL, 0) == ENOENT, "more than a name");
	length = 2;
	CORNER_CHECK(mallctlnametomib("arenas.bin.0.size", mib, &length) == 0 && length == 2,
		     "the first two numbers");
	mib[0] = (size_t)1 << 40;
	CORNER_CHECK(mallctlbymib(mib, 1, NULL, NULL, NULL, 0) == ENOENT, "a number of no name");
	length = 6;
	CORNER_CHECK(mallctlnametomib("stats.arenas.0.bins.7.curregs", mib, &length) == 0 &&
			     length == 6 && mib[2] == 0 && mib[4] == 7,
		     "two indexes");
}

/* ---- size classes ---- */

JE_CORNER(classes_are_true)
{
	size_t before = 0;
	for (unsigned bin = 0; bin < je_unsigned("arenas.nbins"); bin++) {
		size_t size = je_size(je_name("arenas.bin.%u.size", bin));
		uint32_t regions = 0;
		je_read(je_name("arenas.bin.%u.nregs", bin), &regions, sizeof(regions));
		size_t slab = je_size(je_name("arenas.bin.%u.slab_size", bin));
		CORNER_CHECK(nallocx(size, 0) == size && nallocx(before + 1, 0) == size,
			     "class %u of %zu bytes", bin, size);
		CORNER_CHECK(regions * size <= slab && slab % 4096 == 0 && regions > 0,
			     "%u regions of %zu bytes in %zu", regions, size, slab);
		before = size;
	}
	for (unsigned i = 0; i < je_unsigned("arenas.nlextents"); i++) {
		size_t size = je_size(je_name("arenas.lextent.%u.size", i));
		CORNER_CHECK(nallocx(size, 0) == size && nallocx(before + 1, 0) == size,
			     "large class %u of %zu bytes", i, size);
		before = size;
	}
	CORNER_CHECK(nallocx(before + 1, 0) == 0, "the last large class is not the last");
}

/* ---- sums ---- */

JE_CORNER(sums_are_true)
{
	je_refresh();
	size_t before = je_size("stats.allocated"), active = je_size("stats.active");
	size_t bytes = 0;
	for (unsigned i = 0; i < BLOCKS; i++) {
		blocks[i] = mallocx(LARGE_BYTES / 4 + i * 1000, 0);
		bytes += sallocx(blocks[i], 0);
	}
	CORNER_CHECK(je_size("stats.allocated") == before, "it is as it was at the epoch");
	je_refresh();
	size_t after = je_size("stats.allocated");
	CORNER_CHECK(after - before >= bytes && after - before <= bytes + 65536,
		     "%zu bytes were allocated, and stats.allocated grew by %zu", bytes,
		     after - before);
	CORNER_CHECK(je_size("stats.active") - active >= bytes, "active");
	CORNER_CHECK(je_size("stats.active") >= after, "active is at least what is allocated");
	CORNER_CHECK(je_size("stats.resident") >= je_size("stats.active"), "resident");
	CORNER_CHECK(je_size("stats.mapped") >= je_size("stats.active"), "mapped");
	CORNER_CHECK(je_size("stats.metadata") > 0, "metadata");
	CORNER_CHECK(je_size("stats.arenas.4096.large.allocated") >= bytes, "of all arenas");
	for (unsigned i = 0; i < BLOCKS; i++)
		dallocx(blocks[i], 0);
	je_refresh();
	CORNER_CHECK(je_size("stats.allocated") <= before + 65536, "%zu bytes stay",
		     je_size("stats.allocated") - before);
}

JE_CORNER(epochs)
{
	uint64_t first = je_uint64("epoch"), second = 7;
	size_t length = sizeof(second);
	uint64_t any = 100;
	CORNER_CHECK(je_uint64("epoch") == first, "a read begins no epoch");
	CORNER_CHECK(mallctl("epoch", &second, &length, &any, sizeof(any)) == 0, "epoch");
	CORNER_CHECK(second == first + 1, "%llu after %llu", (unsigned long long)second,
		     (unsigned long long)first);
}

/* ---- the rest ---- */

static bool becomes(unsigned tasks)
{
	for (unsigned i = 0; i < 50 && corner_task_count() != tasks; i++)
		(void)usleep(100000);
	return corner_task_count() == tasks;
}

JE_CORNER(background_thread)
{
	bool on = true, off = false;
	CORNER_CHECK(corner_task_count() == 1, "%u threads", corner_task_count());
	je_write("background_thread", &off, sizeof(off));
	CORNER_CHECK(!je_bool("background_thread"), "off");
	for (unsigned round = 0; round < 2; round++) {
		je_write("background_thread", &on, sizeof(on));
		CORNER_CHECK(je_bool("background_thread") && becomes(2), "on: %u threads",
			     corner_task_count());
		je_write("background_thread", &off, sizeof(off));
		CORNER_CHECK(!je_bool("background_thread") && becomes(1), "off: %u threads",
			     corner_task_count());
	}
	je_write("background_thread", &on, sizeof(on));
	je_write("background_thread", &off, sizeof(off));
	je_write("background_thread", &on, sizeof(on));
	CORNER_CHECK(becomes(2), "on, off, on at once: %u threads", corner_task_count());
}

static uint64_t *allocated_at, *freed_at, allocated_before, freed_before;

static void advanced(const char *what, uint64_t allocated, uint64_t freed)
{
	uint64_t is_allocated = *allocated_at - allocated_before;
	uint64_t is_freed = *freed_at - freed_before;
	allocated_before = *allocated_at;
	freed_before = *freed_at;
	CORNER_CHECK(what == NULL || (is_allocated == allocated && is_freed == freed),
		     "%s: %zu allocated, %zu freed; not %zu, %zu", what, (size_t)is_allocated,
		     (size_t)is_freed, (size_t)allocated, (size_t)freed);
}

static size_t class_of(void *block)
{
	return sallocx(block, 0);
}

/* Many sizes, resized in place and not, with mallocx. */
static void advance(void)
{
	enum { COUNT = 500 };
	void *made[COUNT];
	uint64_t sum = 0;
	advanced(NULL, 0, 0);
	for (unsigned i = 0; i < COUNT; i++) {
		made[i] = malloc(1 + i * 97);
		sum += class_of(made[i]);
	}
	advanced("malloc", sum, 0);
	for (unsigned i = 0; i < COUNT; i++)
		free(made[i]);
	advanced("free", 0, sum);
	void *block = malloc(50);
	size_t before = class_of(block);
	advanced("one", before, 0);
	for (size_t size = 5000; size < 5000000; size *= 3) {
		block = realloc(block, size);
		advanced("realloc", class_of(block), before);
		before = class_of(block);
	}
	dallocx(block, 0);
	advanced("dallocx", 0, before);
	block = mallocx(77, MALLOCX_ALIGN(4096));
	before = class_of(block);
	advanced("mallocx", before, 0);
	block = rallocx(block, 7777, 0);
	advanced("rallocx", class_of(block), before);
	before = class_of(block);
	free(block);
	advanced("free", 0, before);
}

static void *free_foreign(void *block)
{
	uint64_t *freed = NULL;
	je_read("thread.deallocatedp", &freed, sizeof(freed));
	uint64_t before = *freed, bytes = class_of(block);
	free(block);
	CORNER_CHECK(*freed - before == bytes, "another thread's block");
	return NULL;
}

JE_CORNER(pointers_to_counters)
{
	void *volatile block = malloc(333);
	size_t length = sizeof(allocated_at), before = je_uint64("thread.allocated");
	int error = mallctl("thread.allocatedp", &allocated_at, &length, NULL, 0);
	if (error == ENOENT && !je_is_counted())
		corner_skip("an allocator without such counters");
	CORNER_CHECK(error == 0 && *allocated_at >= before, "pointer: %s", strerror(error));
	je_read("thread.deallocatedp", &freed_at, sizeof(freed_at));
	advance();
	CORNER_CHECK(je_uint64("thread.allocated") == *allocated_at &&
			     je_uint64("thread.deallocated") == *freed_at,
		     "the values by name");
	pthread_t thread;
	CORNER_CHECK(pthread_create(&thread, NULL, free_foreign, block) == 0, "a thread");
	(void)pthread_join(thread, NULL);
}

OUR_CORNER(sbrk_is_never_first)
{
	const char *name = "secondary";
	CORNER_CHECK(strcmp(je_text("arena.0.dss"), "disabled") == 0, "at first");
	je_write("arena.0.dss", &name, sizeof(name));
	CORNER_CHECK(strcmp(je_text("arena.0.dss"), name) == 0, "secondary");
	name = "primary";
	CORNER_CHECK(mallctl("arena.0.dss", NULL, NULL, &name, sizeof(name)) == EFAULT, "primary");
	name = "nothing";
	CORNER_CHECK(mallctl("arena.0.dss", NULL, NULL, &name, sizeof(name)) == EINVAL, "nothing");
	name = "disabled";
	je_write("arena.4096.dss", &name, sizeof(name));
	CORNER_CHECK(strcmp(je_text("arena.0.dss"), name) == 0, "all of them");
}

struct text {
	size_t length;
	char bytes[1 << 18];
};

static void add_text(void *context, const char *piece)
{
	struct text *text = context;
	size_t length = strlen(piece);
	CORNER_CHECK(text->length + length < sizeof(text->bytes), "more than 256 KiB");
	memcpy(text->bytes + text->length, piece, length + 1);
	text->length += length;
}

JE_CORNER(stats_printed)
{
	static struct text text;
	malloc_stats_print(add_text, &text, NULL);
	CORNER_CHECK(strncmp(text.bytes, "___ Begin jemalloc statistics ___\n", 34) == 0, "begins");
	CORNER_CHECK(strstr(text.bytes, "--- End jemalloc statistics ---\n") != NULL, "ends");
	size_t all = text.length;
	text.length = 0;
	malloc_stats_print(add_text, &text, "gmablx");
	CORNER_CHECK(text.length < all, "options leave nothing out");
	text.length = 0;
	malloc_stats_print(add_text, &text, "J");
	int depth = 0;
	for (size_t i = 0; i < text.length; i++) {
		depth += text.bytes[i] == '{' ? 1 : text.bytes[i] == '}' ? -1 : 0;
		CORNER_CHECK(depth > 0 || text.bytes[i] == '\n' || text.bytes[i] == '}', "JSON");
	}
	CORNER_CHECK(depth == 0, "%d objects stay open", depth);
	CORNER_CHECK(strstr(text.bytes, "\"allocated\":") != NULL, "JSON without allocated");
	CORNER_CHECK(strstr(text.bytes, ",}") == NULL, "a comma before the end");
	CORNER_CHECK(strstr(text.bytes, "{,") == NULL, "a comma at the beginning");
}
