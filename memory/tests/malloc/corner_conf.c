/*
 * corner_conf.c - PFS_MALLOC_CONF: a wrong option is reported once, and each option does what it
 * says. A subtest runs this program again with options, as `corner_conf probe NAME`, and reads its
 * output.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "je.h"

#define SAID_BYTES 8192
#define BLOCKS 200
#define BLOCK_BYTES 1000
#define LARGE_BYTES ((size_t)1 << 20)
#define LARGE 16
#define LARGE_PAGES (LARGE * LARGE_BYTES / 4096)

static void *blocks[BLOCKS];

/* ---- probes: what a process with options looks at ---- */

static struct corner *probes;

#define PROBE(name)                                                      \
	static void name(void);                                          \
	static struct corner probe_##name = { #name, name, NULL, NULL }; \
	__attribute__((constructor)) static void add_##name(void)        \
	{                                                                \
		probe_##name.next = probes;                              \
		probes = &probe_##name;                                  \
	}                                                                \
	static void name(void)

PROBE(nothing)
{
	free(malloc(100));
}

static void *nothing_in_thread(void *unused)
{
	return nothing(), unused;
}

static void *allocate_and_stay(void *has_started)
{
	nothing();
	*(volatile bool *)has_started = true;
	return (void)sleep(60), NULL;
}

/* From now on the process has a second thread that has allocated. */
static void stay_two(void)
{
	static volatile bool has_started;
	corner_start(1, allocate_and_stay, (void *)&has_started);
	while (!has_started)
		(void)usleep(1000);
}

PROBE(threads_and_child)
{
	corner_threads(4, nothing_in_thread, NULL);
	corner_child((void (*)(void *))nothing, NULL, 10);
}

static size_t cached(void)
{
	je_refresh();
	return je_size("stats.arenas.0.tcache_bytes");
}

/* How many bytes of one class stay cached after many frees. */
static size_t kept(void)
{
	for (unsigned i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(BLOCK_BYTES);
	je_do("thread.idle");
	size_t before = cached();
	for (unsigned i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	return cached() - before;
}

PROBE(keeps_nothing)
{
	CORNER_CHECK(!je_bool("thread.tcache.enabled") && kept() == 0, "%zu bytes stay", kept());
}

PROBE(keeps_three)
{
	size_t bytes = kept();
	CORNER_CHECK(bytes > 0 && bytes <= 3072, "%zu bytes stay", bytes);
}

PROBE(keeps_many)
{
	CORNER_CHECK(kept() > 3072, "%zu bytes stay", kept());
}

static size_t pages(const char *name)
{
	je_refresh();
	return je_size(name);
}

static size_t dirty(void)
{
	return pages("stats.arenas.4096.pdirty");
}

static void fill_and_free(void)
{
	for (unsigned i = 0; i < LARGE; i++)
		blocks[i] = memset(malloc(LARGE_BYTES), 1, LARGE_BYTES);
	for (unsigned i = 0; i < LARGE; i++)
		free(blocks[i]);
}

static void wait_ms(unsigned ms)
{
	(void)usleep(ms * 1000);
}

PROBE(dirty_stays)
{
	stay_two();
	fill_and_free();
	wait_ms(700);
	CORNER_CHECK(dirty() >= LARGE_PAGES, "%zu pages are left", dirty());
}

PROBE(dirty_goes_at_once)
{
	fill_and_free();
	CORNER_CHECK(dirty() < LARGE_PAGES / 2, "%zu pages are left", dirty());
}

PROBE(dirty_becomes_muzzy)
{
	fill_and_free();
	CORNER_CHECK(pages("stats.arenas.4096.pmuzzy") >= LARGE_PAGES, "%zu pages are muzzy",
		     pages("stats.arenas.4096.pmuzzy"));
}

PROBE(dirty_goes_in_time)
{
	stay_two();
	fill_and_free();
	CORNER_CHECK(dirty() >= LARGE_PAGES / 2, "%zu pages are left at once", dirty());
	for (unsigned i = 0; i < 50 && dirty() != 0; i++)
		wait_ms(100);
	CORNER_CHECK(dirty() == 0, "%zu pages are left after 5 s", dirty());
}

static bool has_ticker(void)
{
	bool has = false;
	struct dirent *task;
	DIR *tasks = opendir("/proc/self/task");
	while (tasks != NULL && (task = readdir(tasks)) != NULL) {
		char path[300], name[64] = "";
		(void)snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		FILE *file = fopen(path, "re");
		has |= file != NULL && fgets(name, sizeof(name), file) != NULL &&
		       strcmp(name, "pfsmalloc\n") == 0;
		if (file != NULL)
			(void)fclose(file);
	}
	(void)closedir(tasks);
	return has;
}

PROBE(no_ticker)
{
	stay_two();
	fill_and_free();
	wait_ms(50);
	CORNER_CHECK(!has_ticker(), "there is a thread that ticks");
}

PROBE(ticker)
{
	CORNER_CHECK(!has_ticker(), "one thread, and there is another that ticks");
	stay_two();
	fill_and_free();
	for (unsigned i = 0; i < 30 && !has_ticker(); i++)
		wait_ms(100);
	CORNER_CHECK(has_ticker(), "there is no thread that ticks");
}

static pthread_barrier_t together;
static unsigned threads_of_arena[8];

static void *note_arena(void *unused)
{
	nothing();
	(void)pthread_barrier_wait(&together);
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	(void)pthread_mutex_lock(&lock);
	threads_of_arena[je_unsigned("thread.arena") % 8]++;
	(void)pthread_mutex_unlock(&lock);
	return unused;
}

PROBE(three_arenas)
{
	CORNER_CHECK(je_unsigned("arenas.narenas") == 3 && je_unsigned("opt.narenas") == 3,
		     "%u arenas", je_unsigned("arenas.narenas"));
	(void)pthread_barrier_init(&together, NULL, 9);
	corner_threads(9, note_arena, NULL);
	for (unsigned i = 0; i < 3; i++)
		CORNER_CHECK(threads_of_arena[i] >= 2, "%u threads in arena %u",
			     threads_of_arena[i], i);
}

PROBE(large_has_its_arena)
{
	void *large = malloc(8 * LARGE_BYTES), *smaller = malloc(LARGE_BYTES), *small = malloc(64);
	void *named = mallocx(8 * LARGE_BYTES, MALLOCX_ARENA(0) | MALLOCX_TCACHE_NONE);
	unsigned of_large = je_arena_of(large);
	CORNER_CHECK(of_large != je_arena_of(small) && je_arena_of(smaller) == je_arena_of(small),
		     "arenas %u, %u, %u", of_large, je_arena_of(smaller), je_arena_of(small));
	CORNER_CHECK(je_arena_of(named) == 0, "a named arena");
	CORNER_CHECK(je_ssize(je_name("arena.%u.dirty_decay_ms", of_large)) == 0, "its decay");
	void *again = malloc(9 * LARGE_BYTES);
	CORNER_CHECK(je_arena_of(again) == of_large, "another arena for the second block");
	unsigned own = je_unsigned("arenas.create");
	je_write("thread.arena", &own, sizeof(own));
	CORNER_CHECK(je_arena_of(malloc(8 * LARGE_BYTES)) == own, "the thread's own arena");
}

PROBE(large_goes_at_once)
{
	char *large = memset(malloc(8 * LARGE_BYTES), 1, 8 * LARGE_BYTES);
	size_t before = corner_resident_bytes();
	free(large);
	CORNER_CHECK(corner_resident_bytes() + 6 * LARGE_BYTES < before, "it stays resident");
}

static void is_filled_with(unsigned char byte)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		size_t size = 1 + i * i;
		unsigned char *block = malloc(size);
		for (size_t at = 0; at < size; at++)
			CORNER_CHECK(block[at] == byte, "byte %zu of %zu: %#x", at, size,
				     block[at]);
		memset(block, 0x3c, size);
		free(block);
	}
}

PROBE(filled_with_zero)
{
	is_filled_with(0);
}

PROBE(filled_with_junk)
{
	is_filled_with(0xa5);
}

PROBE(ask_too_much)
{
	(void)corner_opaque_pointer(malloc(corner_opaque(SIZE_MAX / 4)));
}

/* The mapping of a block excludes huge pages. */
PROBE(small_pages)
{
	char line[512];
	uintptr_t block = (uintptr_t)malloc(LARGE_BYTES);
	bool is_inside = false;
	FILE *file = fopen("/proc/self/smaps", "re");
	while (fgets(line, sizeof(line), file) != NULL) {
		unsigned long from, to;
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			is_inside = from <= block && block < to;
		if (is_inside && strncmp(line, "VmFlags:", 8) == 0) {
			CORNER_CHECK(strstr(line, " nh") != NULL, "%s", line);
			(void)fclose(file);
			return;
		}
	}
	corner_fail("the block is in no mapping");
}

static int run_probe(const char *name)
{
	for (struct corner *probe = probes; probe != NULL; probe = probe->next)
		if (strcmp(probe->name, name) == 0)
			probe->run();
	return 0;
}

/* `show NAME`: print a value of mallctl on stderr. */
static int show(const char *name)
{
	int64_t value = 0;
	size_t length = sizeof(value);
	int error = mallctl(name, &value, &length, NULL, 0);
	if (error != 0 && length == 0)
		return 1;
	if (strcmp(name, "opt.thp") == 0 || strcmp(name, "opt.junk") == 0)
		(void)fprintf(stderr, "%s", je_text(name));
	else
		(void)fprintf(stderr, "%lld", (long long)value);
	return 0;
}

/* ---- a process with options ---- */

struct said {
	int status;
	unsigned lines;
	char text[SAID_BYTES];
};

/* The output of `corner_conf WHAT NAME`, stderr and stdout together. */
static struct said run_with(const char *conf, const char *what, const char *name)
{
	static struct said said;
	int ends[2];
	CORNER_CHECK(pipe(ends) == 0, "pipe");
	pid_t child = fork();
	if (child == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)close(ends[0]);
		(void)close(ends[1]);
		(void)setenv("PFS_MALLOC_CONF", conf, 1);
		(void)alarm(30);
		(void)execl("/proc/self/exe", "corner_conf", what, name, (char *)NULL);
		_exit(99);
	}
	(void)close(ends[1]);
	size_t length = 0;
	ssize_t got;
	while ((got = read(ends[0], said.text + length, SAID_BYTES - 1 - length)) > 0)
		length += (size_t)got;
	said.text[length] = '\0';
	(void)close(ends[0]);
	CORNER_CHECK(waitpid(child, &said.status, 0) == child, "waitpid");
	said.lines = 0;
	for (size_t i = 0; i < length; i++)
		said.lines += said.text[i] == '\n';
	return said;
}

static void probe(const char *conf, const char *name)
{
	struct said said = run_with(conf, "probe", name);
	CORNER_CHECK(said.status == 0 && said.lines == 0, "%s with \"%s\": status %#x; %.99s", name,
		     conf, (unsigned)said.status, said.text);
}

/* ---- subtests ---- */

OUR_CORNER(wrong_is_named_once)
{
	static const char *const wrong[][2] = {
		{ "nonsense:1", "nonsense" },  { "tcache:maybe", "tcache" },
		{ "tcache:1", "tcache" },      { "narenas:-1", "narenas" },
		{ "tick_ms:soon", "tick_ms" }, { "tick_ms:", "tick_ms" },
		{ "narenas", "narenas" },      { "dirty_decay_ms:-3", "dirty_decay_ms" },
		{ "thp:always", "thp" },       { "muzzy_decay_ms:-2", "muzzy_decay_ms" },
		{ "zero:TRUE", "zero" },       { "oversize_threshold:1x", "oversize_threshold" },
		{ "Tcache:true", "Tcache" },   { "narenas:9999999999999999", "narenas" },
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct said said = run_with(wrong[i][0], "probe", "threads_and_child");
		CORNER_CHECK(said.status == 0, "\"%s\": status %#x; %s", wrong[i][0],
			     (unsigned)said.status, said.text);
		CORNER_CHECK(said.lines == 1 && strstr(said.text, wrong[i][1]) != NULL,
			     "\"%s\": %u lines: %s", wrong[i][0], said.lines, said.text);
	}
	struct said two = run_with("first:1,tcache:true,second:2", "probe", "nothing");
	CORNER_CHECK(two.lines == 2 && strstr(two.text, "first") < strstr(two.text, "second"),
		     "%u lines: %s", two.lines, two.text);
	probe("", "nothing");
	probe(",,tcache:true,", "threads_and_child");
}

OUR_CORNER(wrong_can_abort)
{
	struct said said = run_with("abort_conf:true,nonsense:1", "probe", "nothing");
	CORNER_CHECK(WIFSIGNALED(said.status) && WTERMSIG(said.status) == SIGABRT, "status %#x",
		     (unsigned)said.status);
	CORNER_CHECK(said.lines == 1 && strstr(said.text, "nonsense") != NULL, "%s", said.text);
	probe("abort_conf:true,tcache:false", "nothing");
}

/* mallctl returns each value that was set; a wrong value leaves the default. */
OUR_CORNER(values_are_told)
{
	static const char *const set[][3] = {
		{ "tcache", "false", "0" },
		{ "tcache_bytes_max", "5000", "5000" },
		{ "tcache_nslots_small_max", "0x11", "17" },
		{ "narenas", "5", "5" },
		{ "dirty_decay_ms", "-1", "-1" },
		{ "dirty_decay_ms", "-2", "-2" },
		{ "dirty_percent", "70", "70" },
		{ "muzzy_decay_ms", "1234", "1234" },
		{ "tick_ms", "77", "77" },
		{ "background_thread", "false", "0" },
		{ "oversize_threshold", "123456789012", "123456789012" },
		{ "strict", "true", "1" },
		{ "tags", "true", "1" },
		{ "zero", "true", "1" },
		{ "junk", "true", "true" },
		{ "xmalloc", "true", "1" },
		{ "abort_conf", "true", "1" },
		{ "thp", "never", "never" },
	};
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
		char conf[100], name[64];
		(void)snprintf(conf, sizeof(conf), "%s:%s", set[i][0], set[i][1]);
		(void)snprintf(name, sizeof(name), "opt.%s", set[i][0]);
		struct said said = run_with(conf, "show", name);
		CORNER_CHECK(said.status == 0 && strcmp(said.text, set[i][2]) == 0,
			     "%s: mallctl says %s", conf, said.text);
	}
	struct said said = run_with("tick_ms:soon", "show", "opt.tick_ms");
	CORNER_CHECK(strstr(said.text, "\n1000") != NULL, "a wrong one: %s", said.text);
}

OUR_CORNER(caches)
{
	probe("", "keeps_many");
	probe("tcache:false", "keeps_nothing");
	probe("tcache_nslots_small_max:3", "keeps_three");
	probe("tcache_bytes_max:3500", "keeps_three");
}

OUR_CORNER(decay)
{
	probe("dirty_decay_ms:-1,tick_ms:50", "dirty_stays");
	probe("dirty_decay_ms:0", "dirty_goes_at_once");
	probe("dirty_decay_ms:0,muzzy_decay_ms:-1", "dirty_becomes_muzzy");
	probe("dirty_decay_ms:500,tick_ms:50", "dirty_goes_in_time");
	probe("tick_ms:50", "dirty_goes_in_time");
	probe("dirty_decay_ms:-1,oversize_threshold:8000000", "large_goes_at_once");
}

OUR_CORNER(oversize)
{
	probe("oversize_threshold:8000000", "large_has_its_arena");
}

OUR_CORNER(ticks)
{
	probe("", "ticker");
	probe("tick_ms:0", "no_ticker");
	probe("background_thread:false", "no_ticker");
	probe("tick_ms:0", "dirty_stays");
}

OUR_CORNER(arenas)
{
	probe("narenas:3", "three_arenas");
}

OUR_CORNER(fills)
{
	probe("zero:true", "filled_with_zero");
	probe("junk:true", "filled_with_junk");
	probe("thp:never", "small_pages");
}

OUR_CORNER(no_memory_aborts)
{
	probe("", "ask_too_much");
	struct said said = run_with("xmalloc:true", "probe", "ask_too_much");
	CORNER_CHECK(WIFSIGNALED(said.status) && WTERMSIG(said.status) == SIGABRT, "status %#x",
		     (unsigned)said.status);
	CORNER_CHECK(said.lines == 1, "%u lines: %s", said.lines, said.text);
}

OUR_CORNER(stats_at_exit)
{
	struct said said = run_with("stats_print:true", "probe", "nothing");
	CORNER_CHECK(said.status == 0 && strstr(said.text, "allocated") != NULL, "%s", said.text);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "probe") == 0)
		return run_probe(argv[2]);
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(argv[2]);
	return corner_main(argc, argv);
}
