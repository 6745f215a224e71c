/*
 * recorder.c - librecorder.so: records what a program allocates and frees.
 *
 *	PFSLAB_TRACE=FILE LD_PRELOAD=librecorder.so program
 *
 * PFSLAB_TRACE_SIZES=min-max   only objects with a size in this range, in bytes
 * PFSLAB_TRACE_MAX=N           the file is closed after N events
 * PFSLAB_TRACE_PROGRAM=NAME    only a process of this name is recorded
 *
 * The process that finds PFSLAB_TRACE is recorded, and not the processes that it starts: a child
 * with a copy of the memory finds that nothing is recorded, and the variable is removed from the
 * environment. No thread is started: the threads that fill the ring also empty it, and the rest is
 * written at the end; endings.c handles the ends without exit. A realloc is a free and an
 * allocation.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "journal.h"
#include "recorder.h"
#include "ring.h"
#include "base/now.h"

#define DRAIN_EVERY 1024u
#define EXIT_WRONG_INPUT 2
#define FINISH_WAIT_NS 1000000000L
#define EARLY_BYTES 16384u
#define PFS_TLS __thread __attribute__((tls_model("initial-exec"))) /* else access may allocate */

static struct pfs_trace_ring ring;
static struct pfs_journal journal; /* under the ring's lock */
static uint64_t size_min = 0, size_max = UINT64_MAX;
static pid_t owner;
static uint64_t begin_ns;
static PFS_TLS uint32_t thread_number; /* + 1; 0: none yet */
static PFS_TLS bool busy;              /* here already: a signal handler interrupted this thread */

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

/* While the real functions are looked up, the linker may allocate. That memory is never freed. */
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
	syscall(SYS_write, STDERR_FILENO, text, (size_t)size + 1); /* write() can be cancelled */
}

static const char *text_of(int error)
{
	return error == ESTALE   ? "the file was changed, moved or removed"
	       : error == EINVAL ? "not a regular file"
				 : strerrordesc_np(error); /* strerror may allocate */
}

/* Under the lock. */
static void close_journal(void)
{
	pfs_ring_stop(&ring);
	if (!journal.open)
		return;
	if (!pfs_journal_finish(&journal))
		complain("librecorder: '%.200s' cannot be finished (%s); it is readable up to "
			 "event %llu",
			 journal.file.path, text_of(journal.file.error),
			 (unsigned long long)journal.writer.info.events);
	pfs_journal_close(&journal);
}

static bool put_down(const struct pfs_ring_entry *entry)
{
	return entry->frees
		       ? pfs_journal_free(&journal, entry->time_ns, entry->thread, entry->address)
		       : pfs_journal_allocate(&journal, entry->time_ns, entry->thread,
					      entry->address, entry->size);
}

/* Take out the filled entries, up to the first that a thread has drawn but not filled. */
static void drain_locked(void)
{
	const struct pfs_ring_entry *entry;

	while (journal.open && (entry = pfs_ring_look(&ring)) != NULL) {
		if (!put_down(entry))
			close_journal();
		pfs_ring_taken(&ring);
	}
}

static void drain(bool flush)
{
	int kept_errno = errno;

	if (!pfs_ring_try_lock(&ring))
		return;
	drain_locked();
	if (flush && journal.open)
		pfs_journal_flush(&journal);
	pfs_ring_unlock(&ring);
	errno = kept_errno;
}

static void push(bool frees, const void *object, size_t size)
{
	if (busy)
		return; /* what it interrupted may hold the lock, or the next entry */
	busy = true;
	uint64_t number = pfs_ring_draw(&ring);
	if (thread_number == 0)
		thread_number = pfs_ring_thread(&ring) % PFS_TRACE_THREADS_MAX + 1;
	while (!pfs_ring_has_room(&ring, number)) {
		if (!pfs_ring_recording(&ring)) {
			busy = false;
			return; /* over: no thread takes entries out any more */
		}
		drain(false);
		sched_yield();
	}
	struct pfs_ring_entry *entry = pfs_ring_entry(&ring, number);
	entry->time_ns = pfs_now_ns(CLOCK_MONOTONIC) - begin_ns;
	entry->address = (uintptr_t)object;
	entry->size = size;
	entry->thread = thread_number - 1;
	entry->frees = frees;
	pfs_ring_fill(entry, number);
	if (number % DRAIN_EVERY == 0)
		drain(true);
	busy = false;
}

static inline void *allocated(void *object, size_t size)
{
	if (object != NULL && pfs_ring_recording(&ring) && size >= size_min && size <= size_max)
		push(false, object, size);
	return object;
}

/* Before the memory is freed: after that another thread may get it, and draw a number. */
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
		return early_malloc(size); /* the linker does not realloc early memory */
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

/* A bad value ends the program before it begins, because it would not be recorded. */
static uint64_t number_of(const char *variable, const char *text, const char *from, char **end)
{
	errno = 0;
	uint64_t value = strtoull(from, end, 10);

	if (from[0] >= '0' && from[0] <= '9' && errno == 0)
		return value;
	complain("librecorder: %s '%.80s': give whole numbers, as in PFSLAB_TRACE_MAX=100000 or "
		 "PFSLAB_TRACE_SIZES=16-256",
		 variable, text);
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

/*
 * The program may define its own getenv and unsetenv, as bash does, which use another environment.
 * What main receives is this one.
 */
static const char *look_for(const char *name, bool take_out)
{
	const char *value = NULL;
	size_t size = strlen(name);

	for (char **at = environ; at != NULL && *at != NULL; at++) {
		if (strncmp(*at, name, size) != 0 || (*at)[size] != '=')
			continue;
		value = *at + size + 1;
		for (char **next = at; take_out && *next != NULL; next++)
			next[0] = next[1];
		break;
	}
	return value;
}

static _Atomic(bool) *make_switch(void)
{
	void *page = mmap(NULL, sizeof(_Atomic(bool)), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page != MAP_FAILED && madvise(page, sizeof(_Atomic(bool)), MADV_WIPEONFORK) == 0)
		return page;
	complain("librecorder: no memory with MADV_WIPEONFORK (%s); it needs Linux 4.14",
		 text_of(errno));
	_exit(EXIT_WRONG_INPUT);
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = look_for("PFSLAB_TRACE", false);
	const char *program = look_for("PFSLAB_TRACE_PROGRAM", false);
	const char *sizes = look_for("PFSLAB_TRACE_SIZES", false);
	const char *most = look_for("PFSLAB_TRACE_MAX", false);
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
	begin_ns = pfs_now_ns(CLOCK_MONOTONIC);
	_Atomic(bool) *recording = make_switch();
	bool open = pfs_journal_open(&journal, path, program_invocation_short_name, event_max);
	look_for("PFSLAB_TRACE", true);
	if (!open && journal.file.error == EBUSY) { /* then this process is not recorded */
		complain("librecorder: PFSLAB_TRACE '%.200s': another process records into it; "
			 "this one (%s) is not recorded",
			 path, program_invocation_short_name);
		return;
	}
	if (!open) {
		complain("librecorder: PFSLAB_TRACE '%.200s': cannot be written (%s); name another "
			 "file",
			 path, text_of(journal.file.error));
		_exit(EXIT_WRONG_INPUT);
	}
	at_quick_exit(pfs_recorder_finish);
	pfs_ring_begin(&ring, recording);
}

/*
 * Take out what was drawn so far. Threads may still run: what they draw later is left out or comes
 * later. A thread may have been stopped between drawing and filling, or with the lock: wait for it,
 * up to a second. If it returns true the lock is held.
 */
static bool take_all(void)
{
	uint64_t drawn = pfs_ring_drawn(&ring),
		 until = pfs_now_ns(CLOCK_MONOTONIC) + FINISH_WAIT_NS;

	if (busy || !pfs_ring_recording(&ring) || getpid() != owner)
		return false;
	while (!pfs_ring_try_lock(&ring)) {
		if (pfs_now_ns(CLOCK_MONOTONIC) > until)
			return false;
		sched_yield();
	}
	for (;;) {
		drain_locked();
		if (!journal.open || pfs_ring_taken_count(&ring) >= drawn ||
		    pfs_now_ns(CLOCK_MONOTONIC) > until)
			return true;
		sched_yield();
	}
}

__attribute__((destructor)) void pfs_recorder_finish(void)
{
	if (!take_all())
		return;
	close_journal();
	pfs_ring_unlock(&ring);
}

bool pfs_recorder_pause(void)
{
	if (!take_all())
		return false;
	busy = true;
	if (journal.open && !pfs_journal_finish(&journal))
		close_journal();
	return true;
}

void pfs_recorder_resume(void)
{
	if (journal.open && !pfs_journal_resume(&journal))
		close_journal();
	pfs_ring_unlock(&ring);
	busy = false;
}
