/*
 * corner_misuse.c - free of a pointer that is not a live block: the process must abort, after one
 * line on stderr that names the pointer. Each misuse runs in a child, which then allocates and
 * frees blocks of that size. Aborting later is "ok" if the pointer was not returned in between, and
 * "late" if it was. Any other outcome fails and is described.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corner.h"

#define SURVIVED 42
#define TEXT_BYTES 4000
#define HANG_SECONDS 10

#define AFTERWARDS 3000

/* In memory shared with the child. */
struct story {
	void *named;       /* the line must contain this pointer */
	size_t size;       /* the size of blocks to allocate afterwards */
	unsigned rightful; /* how often malloc may return it afterwards */
	unsigned given;    /* how often it did */
	bool later;        /* the misuse itself has returned */
};
static struct story *story;

/* Note the pointer, and hide it from the compiler. */
static void *name(void *pointer)
{
	story->named = pointer;
	return corner_opaque_pointer(pointer);
}

static void go_on(void)
{
	static void *blocks[AFTERWARDS];
	unsigned count = story->size > 65536 ? 40 : AFTERWARDS;
	story->later = true;
	for (unsigned i = 0; i < count; i++) {
		blocks[i] = malloc(story->size);
		story->given += blocks[i] == story->named;
	}
	for (unsigned i = 0; i < count; i++)
		free(blocks[i]);
	(void)malloc_trim(0);
}

static void map_story(void)
{
	story = mmap(NULL, sizeof(*story), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	CORNER_CHECK(story != MAP_FAILED, "no memory to share");
	story->size = 40;
}

static size_t read_all(int from, char *text)
{
	size_t length = 0;
	for (;;) {
		ssize_t more = read(from, text + length, TEXT_BYTES - 1 - length);
		if (more <= 0 && !(more < 0 && errno == EINTR))
			break;
		length += more > 0 ? (size_t)more : 0;
	}
	text[length] = 0;
	return length;
}

static void judge(int status, char *text, size_t length)
{
	char digits[40], first[120];
	const char *when = story->later ? "later " : "";
	unsigned lines = 0;
	for (size_t i = 0; i < length; i++)
		lines += text[i] == '\n';
	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, "\n"), text);
	if (length == 0)
		(void)strcpy(first, "nothing on stderr");
	CORNER_CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != SURVIVED,
		     "survives, and gives it out %u times; %s", story->given, first);
	CORNER_CHECK(WIFSIGNALED(status), "exit %d; %s", WEXITSTATUS(status), first);
	CORNER_CHECK(WTERMSIG(status) != SIGALRM, "hung; %s", first);
	bool can_be_mapped = (uintptr_t)story->named >> 47 == 0;
	if (WTERMSIG(status) == SIGSEGV && !story->later && !can_be_mapped)
		corner_late("SIGSEGV in the call itself: no program has such an address");
	CORNER_CHECK(WTERMSIG(status) == SIGABRT, "%ssignal %d; %s", when, WTERMSIG(status), first);
	(void)snprintf(digits, sizeof(digits), "%zx", (size_t)(uintptr_t)story->named);
	CORNER_CHECK(lines == 1, "%saborts with %u lines; %s", when, lines, first);
	CORNER_CHECK(strcasestr(text, digits) != NULL, "%saborts; the line does not name it: %s",
		     when, first);
	if (story->given > story->rightful)
		corner_late("gives it out %u times before: %s", story->given, first);
	corner_note("%s%s", when, first);
}

static void must_abort(void (*misuse)(void))
{
	static char text[TEXT_BYTES];
	int ends[2], status = 0;
	map_story();
	CORNER_CHECK(pipe(ends) == 0, "no pipe");
	pid_t child = fork();
	CORNER_CHECK(child >= 0, "fork");
	if (child == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		(void)close(ends[0]);
		(void)alarm(HANG_SECONDS);
		misuse();
		go_on();
		_exit(SURVIVED);
	}
	(void)close(ends[1]);
	size_t length = read_all(ends[0], text);
	(void)waitpid(child, &status, 0);
	judge(status, text, length);
}

/* A subtest whose body must abort. */
#define MISUSE(what)                   \
	static void do_##what(void);   \
	CORNER(what)                   \
	{                              \
		must_abort(do_##what); \
	}                              \
	static void do_##what(void)
#define MISUSE_CALL(what, call) \
	MISUSE(what)            \
	{                       \
		call;           \
	}

static void *name_for_twice(size_t size)
{
	story->size = size;
	story->rightful = 1;
	return name(malloc(size));
}

static void twice(size_t size)
{
	void *block = name_for_twice(size);
	free(block);
	free(corner_opaque_pointer(block));
}

/* So many frees follow that the block leaves every small cache; it is not allocated again. */
static void twice_later(size_t size, unsigned others)
{
	void **blocks = mmap(NULL, others * sizeof(*blocks), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *block = name_for_twice(size);
	for (unsigned i = 0; i < others; i++)
		blocks[i] = malloc(size);
	free(block);
	for (unsigned i = 0; i < others; i++)
		free(blocks[i]);
	free(corner_opaque_pointer(block));
}

MISUSE_CALL(twice_small, twice(40))
MISUSE_CALL(twice_smallest, twice(1))
MISUSE_CALL(twice_medium, twice(3000))
MISUSE_CALL(twice_large, twice(100000))
MISUSE_CALL(twice_huge, twice((size_t)50 << 20))
MISUSE_CALL(twice_after_few, twice_later(40, 3))
MISUSE_CALL(twice_after_many, twice_later(40, 5000))
MISUSE_CALL(twice_large_later, twice_later(100000, 20))

static void *free_it(void *block)
{
	free(block);
	return NULL;
}

static void free_elsewhere(void *block)
{
	pthread_t thread;
	(void)pthread_create(&thread, NULL, free_it, block);
	(void)pthread_join(thread, NULL);
}

MISUSE(twice_other_thread)
{
	void *block = name_for_twice(40);
	free(block);
	free_elsewhere(corner_opaque_pointer(block));
}

MISUSE(twice_both_threads)
{
	void *block = name_for_twice(40);
	free_elsewhere(block);
	free(corner_opaque_pointer(block));
}

static void inside(char *block, size_t size, size_t offset)
{
	story->size = size;
	free(name(block + offset));
}

MISUSE_CALL(inside_small, inside(malloc(200), 200, 16))
MISUSE_CALL(inside_odd, inside(malloc(200), 200, 1))
MISUSE_CALL(inside_large, inside(malloc(100000), 100000, 4096))
MISUSE_CALL(inside_huge, inside(malloc((size_t)50 << 20), (size_t)50 << 20, 2 << 20))
MISUSE_CALL(inside_aligned, inside(memalign(4096, 8192), 8192, 64))

/* Inside a slab of a class that is not a power of two, where no block begins. */
MISUSE(inside_next)
{
	(void)malloc(200);
	inside(malloc(200), 200, 200 - 8);
}

MISUSE(foreign_stack)
{
	char buffer[200];
	memset(buffer, 0, sizeof(buffer));
	free(name(buffer + 16 - (uintptr_t)buffer % 16 + 32));
}

MISUSE(foreign_data)
{
	static _Alignas(16) char data[200] = { 1 };
	free(name(data + 32));
}

MISUSE(foreign_mapped)
{
	char *mapped = mmap(NULL, (size_t)1 << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	free(name(mapped + 16));
}

MISUSE(foreign_mapped_start)
{
	free(name(mmap(NULL, (size_t)8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0)));
}

MISUSE_CALL(foreign_text, free(name((void *)(uintptr_t)must_abort)))
MISUSE_CALL(foreign_low, free(name((void *)(uintptr_t)0x1230)))

/* A value that cannot be an address, and one with the highest bit set. */
MISUSE_CALL(foreign_wild, free(name((void *)(uintptr_t)UINT64_C(0x5a5a5a5a5a5a5a50))))
MISUSE_CALL(foreign_kernel, free(name((void *)(uintptr_t)UINT64_C(0xffff800012345670))))

MISUSE(realloc_freed)
{
	void *block = name_for_twice(40);
	free(block);
	(void)!realloc(corner_opaque_pointer(block), 100);
}

MISUSE(realloc_foreign)
{
	static _Alignas(16) char data[200] = { 1 };
	(void)!realloc(name(data + 32), 400);
}

MISUSE(realloc_inside)
{
	story->size = 200;
	(void)!realloc(name((char *)malloc(200) + 16), 400);
}

/* A crash handler that allocates, as many do: it must complete. */
static void allocate_and_leave(int signal_number)
{
	static const char done[] = "handler done\n";
	(void)signal_number;
	for (size_t size = 1; size < 100000; size *= 3)
		free(malloc(size));
	(void)!write(STDERR_FILENO, done, sizeof(done) - 1);
	_exit(0);
}

static char *kept_before;

/* The same with every call, and with a fork whose child allocates, too. */
static void call_all_and_leave(int signal_number)
{
	unsigned char *block = NULL;
	(void)signal_number;
	for (size_t size = 1; size < 1000000; size *= 3) {
		block = realloc(block, size);
		corner_stamp(block, size, 1);
		block = realloc(block, size * 2);
		size_t kept = corner_stamp_differs(block, size, 1);
		if (kept != size || malloc_usable_size(block) < size * 2)
			_exit(2);
		void *aligned = memalign(256, size);
		char *zeroes = calloc(1, size);
		if ((uintptr_t)aligned % 256 != 0 || zeroes[0] != 0 || zeroes[size - 1] != 0)
			_exit(3);
		free(aligned);
		free(zeroes);
	}
	free(block);
	char *before = realloc(kept_before, 50);
	if (strcmp(before, "before") != 0)
		_exit(4);
	pid_t child = fork();
	int status = 0;
	if (child == 0)
		exit(malloc(100) == NULL);
	if (waitpid(child, &status, 0) != child || status != 0)
		_exit(5);
	exit(0);
}

static void run_with_handler(void (*handler)(int), void (*misuse)(void))
{
	int status = 0;
	map_story();
	pid_t child = fork();
	if (child == 0) {
		(void)alarm(HANG_SECONDS);
		(void)signal(SIGABRT, handler);
		(void)signal(SIGSEGV, handler);
		misuse();
		go_on();
		_exit(SURVIVED);
	}
	(void)waitpid(child, &status, 0);
	CORNER_CHECK(WIFEXITED(status), "the handler ended by signal %d", WTERMSIG(status));
	CORNER_CHECK(WEXITSTATUS(status) != SURVIVED, "survives");
	CORNER_CHECK(WEXITSTATUS(status) == 0, "the handler exits with %d", WEXITSTATUS(status));
}

static void twice_huge_and_small(void)
{
	do_twice_huge();
	do_twice_small();
}

CORNER(handler_allocates)
{
	run_with_handler(allocate_and_leave, twice_huge_and_small);
}

static void *free_twice_and_stay(void *opaque)
{
	void *block = malloc(40), *other = malloc(40);
	free(block);
	free(other);
	free(block);
	(void)pthread_barrier_wait(opaque);
	(void)pause();
	return NULL;
}

/* Another thread's mistake is detected by a thread that empties its ring and holds locks. */
static void twice_in_another_ring(void)
{
	pthread_t thread;
	pthread_barrier_t done;
	kept_before = strcpy(malloc(20), "before");
	(void)pthread_barrier_init(&done, NULL, 2);
	if (pthread_create(&thread, NULL, free_twice_and_stay, &done) != 0)
		_exit(6);
	(void)pthread_barrier_wait(&done);
	(void)malloc_trim(0);
	(void)sleep(3);
}

CORNER(handler_allocates_in_locks)
{
	run_with_handler(call_all_and_leave, twice_in_another_ring);
}
