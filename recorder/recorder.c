/*
 * recorder.c - librecorder.so: writes down what a program allocates and frees.
 *
 *	PFSLAB_TRACE=FILE LD_PRELOAD=librecorder.so program
 *
 * PFSLAB_TRACE_SIZES=min-max   only objects of so many bytes
 * PFSLAB_TRACE_MAX=N           the file is closed after N events
 * PFSLAB_TRACE_PROGRAM=NAME    only a process of this name is recorded
 *
 * Recorded is the process that finds PFSLAB_TRACE, not those that it starts: children of fork
 * stop recording, and the variable is taken out of the environment. No thread is started: the
 * threads that fill the ring empty it in turns, and the last of it is written at exit.
 * A realloc is a free and an allocation.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "journal.h"
#include "ring.h"

#define DRAIN_EVERY 1024u
#define EXIT_WRONG_INPUT 2
#define FINISH_WAIT_NS 1000000000L
#define EARLY_BYTES 16384u
#define PFS_TLS __thread __attribute__((tls_model("initial-exec"))) /* else access may allocate */

static struct pfs_ring ring;
static struct pfs_journal journal; /* under the ring's lock */
static uint64_t size_min = 0, size_max = UINT64_MAX;
static pid_t owner;
static uint64_t begin_ns;
static PFS_TLS uint32_t thread_number; /* + 1; 0: none yet */

static struct {
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t count, size_t size);
	void *(*realloc)(void *object, size_t size);
	void (*free)(void *object);
	int (*posix_memalign)(void **object, size_t align, size_t size);
	void *(*aligned_alloc)(size_t align, size_t size);
	void *(*memalign)(size_t align, size_t size);
	bool found;
} real;

/* While the real functions are looked up, the linker may ask for memory. It is never freed. */
static PFS_TLS bool looking_up;
static char early[EARLY_BYTES] __attribute__((aligned(16)));
static size_t early_used;

static bool is_early(const void *object)
{
	return (const char *)object >= early && (const char *)object < early + EARLY_BYTES;
}

static void *early_malloc(size_t size)
{
	size_t room = (size + 15) / 16 * 16;

	if (room < size || room > EARLY_BYTES - early_used)
		return NULL;
	early_used += room;
	return early + early_used - room; /* zero from the start */
}

static void look_up(void)
{
	looking_up = true;
	*(void **)&real.malloc = dlsym(RTLD_NEXT, "malloc");
	*(void **)&real.calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&real.realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&real.free = dlsym(RTLD_NEXT, "free");
	*(void **)&real.posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	*(void **)&real.aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	*(void **)&real.memalign = dlsym(RTLD_NEXT, "memalign");
	looking_up = false;
	real.found = true;
}

/* The first call comes from the linker or a constructor, before there are threads. */
static bool ready(void)
{
	if (__builtin_expect(!real.found, 0) && !looking_up)
		look_up();
	return real.found;
}

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void complain(const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	int size = vsnprintf(text, sizeof(text) - 1, format, arguments);
	va_end(arguments);
	if (size < 0)
		return;
	size = size < (int)sizeof(text) - 1 ? size : (int)sizeof(text) - 2;
	text[size] = '\n';
	if (write(STDERR_FILENO, text, (size_t)size + 1) < 0)
		return; /* nobody is there to tell */
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Under the lock. */
static void close_journal(void)
{
	pfs_ring_record(&ring, false);
	if (journal.open && !pfs_journal_close(&journal))
		complain("librecorder: the trace could not be written; free some space and record "
			 "again");
}

static bool put_down(const struct pfs_ring_entry *entry)
{
	return entry->frees ? pfs_journal_free(&journal, entry->time_ns, entry->thread,
					       entry->address)
			    : pfs_journal_allocate(&journal, entry->time_ns, entry->thread,
						   entry->address, entry->size);
}

/* Take out what is there, up to a gap of a thread that has drawn but not filled. */
static void drain_locked(void)
{
	const struct pfs_ring_entry *entry;
	int kept_errno = errno;

	if (getpid() != owner) { /* a child that no atfork handler saw: the file is not its own */
		pfs_ring_record(&ring, false);
		journal.open = false;
	}
	while (journal.open && (entry = pfs_ring_look(&ring)) != NULL) {
		if (!put_down(entry))
			close_journal();
		pfs_ring_taken(&ring);
	}
	errno = kept_errno;
}

static void drain(void)
{
	if (!pfs_ring_try_lock(&ring))
		return;
	drain_locked();
	pfs_ring_unlock(&ring);
}

static void push(bool frees, const void *object, size_t size)
{
	uint64_t number = pfs_ring_draw(&ring);

	if (thread_number == 0)
		thread_number = pfs_ring_thread(&ring) % PFS_TRACE_THREADS_MAX + 1;
	while (!pfs_ring_has_room(&ring, number)) {
		if (!pfs_ring_recording(&ring))
			return; /* over: nobody takes entries out any more */
		drain();
		sched_yield();
	}
	struct pfs_ring_entry *entry = pfs_ring_entry(&ring, number);
	entry->time_ns = now_ns() - begin_ns;
	entry->address = (uintptr_t)object;
	entry->size = size;
	entry->thread = thread_number - 1;
	entry->frees = frees;
	pfs_ring_fill(entry, number);
	if (number % DRAIN_EVERY == 0)
		drain();
}

static inline void *allocated(void *object, size_t size)
{
	if (object != NULL && pfs_ring_recording(&ring) && size >= size_min && size <= size_max)
		push(false, object, size);
	return object;
}

/* Before the memory goes back: then another thread may get it, and draw a number. */
static inline void freeing(const void *object)
{
	if (object != NULL && pfs_ring_recording(&ring))
		push(true, object, 0);
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	if (!ready())
		return early_malloc(size);
	return allocated(real.malloc(size), size);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	if (!ready())
		return early_malloc(count * size);
	return allocated(real.calloc(count, size), count * size);
}

__attribute__((visibility("default"))) void free(void *object)
{
	if (is_early(object) || !ready())
		return;
	freeing(object);
	real.free(object);
}

__attribute__((visibility("default"))) void *realloc(void *object, size_t size)
{
	if (!ready())
		return early_malloc(size); /* the linker does not ask for more of the same */
	if (is_early(object)) {
		size_t most = (size_t)(early + EARLY_BYTES - (char *)object);
		void *moved = malloc(size);
		return moved == NULL ? NULL : memcpy(moved, object, size < most ? size : most);
	}
	freeing(object);
	void *moved = real.realloc(object, size);
	if (moved == NULL && size != 0 && object != NULL) { /* it failed: the old one lives on */
		allocated(object, malloc_usable_size(object));
		return NULL;
	}
	return allocated(moved, size);
}

__attribute__((visibility("default"))) int posix_memalign(void **object, size_t align, size_t size)
{
	int error = ready() ? real.posix_memalign(object, align, size) : ENOMEM;

	if (error == 0)
		allocated(*object, size);
	return error;
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t align, size_t size)
{
	return ready() ? allocated(real.aligned_alloc(align, size), size) : NULL;
}

__attribute__((visibility("default"))) void *memalign(size_t align, size_t size)
{
	return ready() ? allocated(real.memalign(align, size), size) : NULL;
}

/* A child has the parent's file, its memory and no other thread: it must not go on. */
static void before_fork(void)
{
	while (!pfs_ring_try_lock(&ring))
		sched_yield();
}

static void after_fork_parent(void)
{
	pfs_ring_unlock(&ring);
}

static void after_fork_child(void)
{
	pfs_ring_record(&ring, false);
	if (journal.open)
		close(journal.writer.file);
	journal.open = false;
	pfs_ring_unlock(&ring);
}

/* A bad value ends the program before it begins: a recording that is not made is no help. */
static uint64_t number_of(const char *variable, const char *text, const char *from, char **end)
{
	errno = 0;
	uint64_t value = strtoull(from, end, 10);

	if (from[0] >= '0' && from[0] <= '9' && errno == 0)
		return value;
	complain("librecorder: %s '%.80s': give whole numbers, as in PFSLAB_TRACE_MAX=100000 or "
		 "PFSLAB_TRACE_SIZES=16-256", variable, text);
	_exit(EXIT_WRONG_INPUT);
}

static void read_sizes(const char *text)
{
	char *end = NULL;

	size_min = number_of("PFSLAB_TRACE_SIZES", text, text, &end);
	size_max = number_of("PFSLAB_TRACE_SIZES", text, *end == '-' ? end + 1 : "", &end);
	if (*end != '\0' || size_max < size_min)
		number_of("PFSLAB_TRACE_SIZES", text, "", &end);
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("PFSLAB_TRACE");
	const char *program = getenv("PFSLAB_TRACE_PROGRAM");
	const char *sizes = getenv("PFSLAB_TRACE_SIZES");
	const char *most = getenv("PFSLAB_TRACE_MAX");
	uint64_t event_max = 0;
	char *end = NULL;

	if (path == NULL || path[0] == '\0' || !ready() ||
	    (program != NULL && strcmp(program, program_invocation_short_name) != 0))
		return;
	if (sizes != NULL)
		read_sizes(sizes);
	if (most != NULL) {
		event_max = number_of("PFSLAB_TRACE_MAX", most, most, &end);
		if (*end != '\0' || event_max == 0)
			number_of("PFSLAB_TRACE_MAX", most, "", &end);
	}
	owner = getpid();
	begin_ns = now_ns();
	if (pthread_atfork(before_fork, after_fork_parent, after_fork_child) != 0 ||
	    !pfs_journal_open(&journal, path, program_invocation_short_name, event_max)) {
		complain("librecorder: PFSLAB_TRACE '%.200s': cannot be written (%s); name another "
			 "file", path, strerror(errno));
		_exit(EXIT_WRONG_INPUT);
	}
	unsetenv("PFSLAB_TRACE");
	pfs_ring_record(&ring, true);
}

/*
 * Threads may still run: what they draw from now on is left out, what they drew before is
 * waited for, up to a second: one may have been stopped in between.
 */
__attribute__((destructor)) static void finish(void)
{
	if (!journal.open || getpid() != owner)
		return;
	pfs_ring_record(&ring, false);
	uint64_t drawn = pfs_ring_drawn(&ring);
	uint64_t until = now_ns() + FINISH_WAIT_NS;
	while (!pfs_ring_try_lock(&ring))
		sched_yield();
	do {
		drain_locked();
		sched_yield();
	} while (journal.open && pfs_ring_taken_count(&ring) < drawn && now_ns() < until);
	close_journal();
	pfs_ring_unlock(&ring);
}
