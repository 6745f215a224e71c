/*
 * program.c - the books of the program: opened at the first slow call with the options of the
 * environment or their defaults, left when the process ends.
 *
 * Ordering:  [PL1] pfs_program_on: store, release  <->  [PL2] pfs_program_on: load, acquire
 *            carries: the books and all options
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pfslab/malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "containers/alone.h"
#include "containers/message.h"
#include "counter.h"
#include "mapped.h"
#include "memory/books/books.h"
#include "memory/box/place.h"
#include "memory/malloc/start.h"
#include "memory/profile/profile.h"
#include "pools.h"

#define PUBLIC __attribute__((visibility("default")))
#define THREADS_MAX 16384u
#define THREADS_MOST 65536u
#define ACCOUNTS_MAX 256u
#define CELLS_MAX 131072u
#define SAMPLES_MAX 65536u
#define PROFILE_LG 19u
#define GLOBAL_THREADS_MAX 1000u /* its notes: 11 bits of instrument, the rest for a thread */

/* The places of all cells and samples fit a tag, with the unused space of their pages. */
_Static_assert(CELLS_MAX *UINT64_C(512) + SAMPLES_MAX * UINT64_C(320) <
		       UINT64_C(1) << (32 - PFS_SLACK_BITS + PFS_PLACE_BITS),
	       "places of cells and samples");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic(uint32_t) has_left;
static uint32_t owner_pid;

/* ---- options ---- */

void pfs_program_complain(const char *what, const char *more)
{
	char line[sizeof(struct pfs_message) + 256];
	int length = snprintf(line, sizeof(line), "libpfsmem: %s%s\n", what, more);
	ssize_t unused = write(STDERR_FILENO, line,
			       length < (int)sizeof(line) ? (size_t)length : sizeof(line) - 1);
	(void)unused;
}

/* The books of a child. */
static void complain_of_child(const char *text)
{
	pfs_program_complain(text, "");
}

/* Reads a number; an invalid one leaves the value as it is. */
static void read_number(const char *name, uint32_t most, uint32_t *value)
{
	const char *text = secure_getenv(name);
	char *end;
	if (text == NULL || text[0] == '\0')
		return;
	unsigned long number = strtoul(text, &end, 10);
	if (*end == '\0' && text[0] != '-' && number <= most)
		*value = (uint32_t)number;
	else {
		char fault[64];
		(void)snprintf(fault, sizeof(fault), ": must be 0 to %" PRIu32 "; ignored", most);
		pfs_program_complain(name, fault);
	}
}

static bool read_by_site(void)
{
	const char *by = secure_getenv("PFS_MEM_BY");
	if (by == NULL || by[0] == '\0' || strcmp(by, "library") == 0)
		return false;
	if (strcmp(by, "site") == 0)
		return true;
	pfs_program_complain("PFS_MEM_BY", ": must be library or site; library is used");
	return false;
}

static bool read_flag(const char *name)
{
	const char *text = secure_getenv(name);
	return text != NULL && text[0] != '\0' && strcmp(text, "0") != 0;
}

/* log2 of the mean bytes between samples; 0: no profile. Only the rule exact can have one. */
static uint32_t read_profile(const char *rule)
{
	const char *profile = secure_getenv("PFS_MEM_PROFILE");
	uint32_t lg = PROFILE_LG;
	read_number("PFS_MEM_LG_PROF_SAMPLE", PFS_PROFILE_LG_MOST, &lg);
	if (profile == NULL || profile[0] == '\0' || strcmp(profile, "on") == 0)
		return strcmp(rule, "exact") == 0 ? lg : 0;
	if (strcmp(profile, "off") != 0)
		pfs_program_complain("PFS_MEM_PROFILE", ": must be on or off; off is used");
	return 0;
}

static void read_config(struct pfs_memory_config *config)
{
	const char *rule = secure_getenv("PFS_MEM_RULE");
	pfs_memory_config_init(config);
	if (rule != NULL && rule[0] != '\0')
		config->rule = rule;
	bool is_global = strncmp(config->rule, "global", strlen("global")) == 0;
	config->threads_max = is_global ? GLOBAL_THREADS_MAX : THREADS_MAX;
	read_number("PFS_MEM_MAX_THREADS", is_global ? GLOBAL_THREADS_MAX : THREADS_MOST,
		    &config->threads_max);
	config->threads_max = config->threads_max != 0 ? config->threads_max : 1;
	config->accounts_max = ACCOUNTS_MAX;
	config->cells_max = CELLS_MAX;
	config->samples_max = SAMPLES_MAX;
	config->keep = read_flag("PFS_MEM_KEEP");
	pfs_program.tick_ms = config->tick_ms;
	config->tick_ms = 0; /* see ticker.c */
	read_number("PFS_MEM_MAX_INSTRUMENTS", PFS_BOX_INSTRUMENTS_MAX, &config->instruments_max);
	read_number("PFS_MEM_TICK_MS", 86400000, &pfs_program.tick_ms);
	pfs_program.by_site = read_by_site();
	pfs_program.is_exact = strcmp(config->rule, "exact") == 0;
	config->profile_lg = read_profile(config->rule);
}

/* ---- the end ---- */

/* Does nothing in a vfork's child, whose memory is its parent's. */
void pfs_program_leave(void)
{
	uint32_t before = 0;
	if (pfs_child_leave())
		return;
	if (!pfs_program_is_on() || (uint32_t)syscall(SYS_getpid) != owner_pid ||
	    !pfs_cas_relaxed(&has_left, &before, 1)) /* relaxed: only the first call counts */
		return;
	char limit[PFS_LIMIT_TEXT_BYTES];
	for (uint32_t i = 0; pfs_limits_idle(pfs_program.books, &i, limit, sizeof(limit));) {
		char line[sizeof(limit) + 200];
		(void)snprintf(line, sizeof(line),
			       ": no thread had this account, so the limit did nothing; the main "
			       "thread's account is %s@localhost",
			       pfs_program.name);
		pfs_program_complain(limit, line);
	}
	pfs_books_leave(pfs_program.books);
}

bool pfs_program_exec(bool will)
{
	if (pfs_child_leave() || !pfs_program_is_on() ||
	    (uint32_t)syscall(SYS_getpid) != owner_pid || pfs_program.books->box.is_private)
		return false;
	pfs_box_exec(&pfs_program.books->box, will);
	return true;
}

/* ---- start ---- */

/* The allocator's numbers for a tick. */
static void describe(struct pfs_box_tick *tick)
{
	struct pfs_box_own *own = &tick->own;
	struct pfs_malloc_counts counts;
	pfs_pools_count(&counts, tick->arenas);
	own->allocated = counts.allocated;
	own->cached = counts.cached;
	own->slab_free = counts.slab_free;
	own->dirty = counts.dirty + counts.muzzy;
	own->metadata = counts.metadata;
	own->mapped = counts.mapped;
	pfs_measured(own);
}

/* With a rule other than exact, a tag does not name a cell. Tags then point into zeroes, which no
 * thread owns, so every free takes the slow path. */
static char *zeroes(void)
{
	void *bytes = mmap(NULL, (size_t)1 << (32 - PFS_SLACK_BITS + PFS_PLACE_BITS), PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return bytes != MAP_FAILED ? bytes : NULL;
}

/* The bytes before the cells are zeroes: the end of another region's last page, after its words. */
static char *cells_of(struct pfs_books *books)
{
	uint64_t offset = pfs_box_region_of(&books->box, PFS_BOX_CELLS)->offset;
	pfs_store_relaxed(&books->box.says_full, 0); /* relaxed: one thread; start says it */
	if (!pfs_box_populate(&books->box, offset - PFS_PLACES_BEFORE, PFS_PLACES_BEFORE))
		return NULL;
	pfs_store_relaxed(&books->box.says_full, 1); /* relaxed: as above */
	return books->box.base + offset - PFS_PLACES_BEFORE;
}

/* A lock of glibc; other libraries have none. Its holder may be inside malloc and wait for the
 * desk. So a fork takes it first, as memory/malloc/start.c does, which resets it in the child. */
extern void _IO_list_lock(void) __attribute__((weak));
extern void _IO_list_unlock(void) __attribute__((weak));

static void show_mappers(void)
{
	struct pfs_box *box = &pfs_program.books->box;
	struct pfs_box_region *region = pfs_box_region_of(box, PFS_BOX_MAPPERS);
	if (region != NULL && pfs_box_populate(box, region->offset, region->bytes))
		pfs_mapped_show((struct pfs_box_mapper *)(void *)(box->base + region->offset));
}

static struct pfs_alone_fork alone;

/* One that is alone takes no lock. */
static void prepare(void)
{
	if (pfs_alone_begin(&alone)) {
		pfs_child_prepare();
		return;
	}
	if (_IO_list_lock != NULL)
		_IO_list_lock();
	pfs_child_lock();
	pfs_pools_lock();
	alone.is_on = false;
	pfs_child_prepare();
}

static void unlock(void)
{
	if (alone.is_on)
		return;
	pfs_pools_unlock();
	pfs_child_unlock();
}

static void in_parent(void)
{
	unlock();
	pfs_child_in_parent();
	if (!alone.is_on && _IO_list_unlock != NULL)
		_IO_list_unlock();
	pfs_alone_end(&alone);
}

static void in_child(void)
{
	unlock();
	pfs_walk_child();
	owner_pid = (uint32_t)getpid();
	pfs_cut_child();
	show_mappers();
	pfs_ticker_child();
	pfs_child_in_child();
	pfs_alone_end(&alone);
}

static void read_limits(void)
{
	struct pfs_message message;
	const char *text = secure_getenv("PFS_MEM_LIMIT");
	if (text != NULL && pfs_memory_limit_text(pfs_program.books, text, &message) != PFS_OK)
		pfs_program_complain("PFS_MEM_LIMIT: ", message.text);
}

static void start(void)
{
	struct pfs_memory_config config;
	struct pfs_message message;
	if (getauxval(AT_SECURE) != 0)
		return;
	pfs_start_handlers(); /* the allocator's first: innermost at a fork */
	pfs_box_own_name(pfs_program.name, pfs_program.file, sizeof(pfs_program.name));
	read_config(&config);
	if (!pfs_pools_start(secure_getenv("PFS_MEM_ARENAS"), pfs_program.name))
		pfs_program_complain("PFS_MEM_ARENAS", ": must be pool; ignored");
	if (pfs_memory_open(&config, &pfs_program.books, &message) != PFS_OK) {
		pfs_program_complain(message.text, "; allocations are not counted");
		return;
	}
	struct pfs_books *books = pfs_program.books;
	books->describe = describe;
	books->program_name = pfs_program.name;
	books->program_file = pfs_program.file;
	books->complain = complain_of_child;
	books->note = pfs_child_note;
	books->box.head->tick_ms = pfs_program.tick_ms;
	pfs_counting.generation = &books->control->generation;
	char *cells = pfs_program.is_exact ? cells_of(books) : zeroes();
	if (cells == NULL) {
		(void)pfs_message_set(&message, PFS_NO_MEMORY, "no memory for tags");
		if (pfs_program.is_exact)
			(void)pfs_box_is_full(&books->box, &message);
		pfs_program_complain(message.text, "; allocations are not counted");
		return;
	}
	pfs_counting.cells = cells;
	read_limits();
	show_mappers();
	pfs_sites_start();
	(void)at_quick_exit(pfs_program_leave); /* registered first, so it runs last */
	owner_pid = (uint32_t)getpid();
	(void)pthread_atfork(prepare, in_parent, in_child); /* registered last, so outermost */
	pfs_child_start();
	pfs_store_release(&pfs_program_on, 1); /* [PL1] release, pairs with [PL2] */
}

bool pfs_program_start(bool *later)
{
	extern char **environ;
	*later = environ == NULL;
	if (*later)
		return false;
	int errno_before = errno;
	(void)pthread_once(&once, start);
	errno = errno_before;
	return pfs_program_is_on();
}

const struct pfs_box *pfs_program_box(void)
{
	return pfs_program_is_on() ? &pfs_program.books->box : NULL;
}

/* Called after all destructors, and possibly in a signal handler. */
PUBLIC void _exit(int status)
{
	pfs_program_leave();
	for (;;)
		(void)syscall(SYS_exit_group, status);
}

PUBLIC void _Exit(int status)
{
	_exit(status);
}
