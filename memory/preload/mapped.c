/*
 * mapped.c - mmap, munmap and mremap of the program; see mapped.h.
 *
 * They may be called from anywhere: from a signal handler, before the library's start, or while a
 * collector has stopped the world by signals. So the table changes only with all signals blocked
 * and without allocation, and its lock is the innermost of all. At a fork it is taken last;
 * therefore its handlers are registered first. System calls are made without the lock. Ranges are
 * removed before the call and added after it, so never another thread's.
 */
#define _GNU_SOURCE
#include "mapped.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counter.h"
#include "memory/malloc/start.h"

#define PUBLIC __attribute__((visibility("default")))
#define RANGES_MAX 16384u
#define USUAL_END ((uintptr_t)1 << 47) /* end of what mmap returns, unless told otherwise */
#define OTHER 0u /* the mapper of callers without a file, and of those that do not fit */

/* From glibc 2.35 on. Without it all callers share one mapper. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

/* Bounds of the library itself, defined by the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* A library that maps memory; it may be unloaded since. */
struct mapper {
	char name[80]; /* empty: the program */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(uintptr_t) owner; /* of lock: the thread's &mark; 0: none */
static _Thread_local char mark __attribute__((tls_model("initial-exec")));
static struct pfs_range known[RANGES_MAX] PFS_SELDOM;
static struct pfs_range_sum sums[PFS_WHOSE_MAPPER + PFS_BOX_MAPPERS_MAX] PFS_SELDOM;   /* lock */
static struct pfs_ranges ranges = { .range = known, .sums = sums, .max = RANGES_MAX }; /* lock */
static struct mapper mappers[PFS_BOX_MAPPERS_MAX] PFS_SELDOM = { 0 };                  /* lock */
static uint32_t mapper_count = 1;                                                      /* lock */
static uint32_t stack_count; /* lock; calls of pfs_mapped_stack */
static struct pfs_box_mapper now[PFS_BOX_MAPPERS_MAX] PFS_SELDOM; /* lock; as shown in the box */
static struct pfs_box_mapper *shown;                              /* lock; NULL: nowhere */
static uint32_t shown_pid;                                        /* lock; the box's process */

static void name_mapper(char *text, uint32_t number)
{
	const char *name = number == OTHER ? "other" : mappers[number].name;
	(void)snprintf(text, PFS_BOX_NAME_BYTES, "memory/%.79s/mmap",
		       name[0] != '\0' ? name : pfs_program.file);
}

/* ---- the lock ---- */

struct held {
	uint64_t signals;
	bool is_nested; /* during a fork: the thread already holds the lock */
};

static struct held hold(void)
{
	struct held held = { .is_nested = false };
	uint64_t all = UINT64_MAX;
	(void)syscall(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &held.signals, sizeof(all));
	/* [PL6] acquire, pairs with [PL5] */
	held.is_nested = pfs_load_acquire(&owner) == (uintptr_t)&mark;
	if (held.is_nested)
		return held;
	(void)pthread_mutex_lock(&lock);
	pfs_store_release(&owner, (uintptr_t)&mark); /* [PL5] release, pairs with [PL6] */
	return held;
}

/* Writes what has changed to the box, unless this is a child without one. */
static void show(void)
{
	for (uint32_t i = 0; shown != NULL && i < mapper_count; i++) {
		const struct pfs_range_sum *sum = &sums[PFS_WHOSE_MAPPER + i];
		if (now[i].name[0] != '\0' && now[i].ranges == sum->ranges &&
		    now[i].mapped == sum->bytes)
			continue;
		if ((uint32_t)syscall(SYS_getpid) != shown_pid)
			return;
		name_mapper(now[i].name, i);
		now[i].ranges = sum->ranges;
		now[i].mapped = sum->bytes;
		pfs_bytes_store(&shown[i], &now[i], sizeof(now[i]));
	}
}

static void let_go(const struct held *held)
{
	if (!held->is_nested) {
		show();
		pfs_store_release(&owner, 0); /* [PL5] release, pairs with [PL6] */
		(void)pthread_mutex_unlock(&lock);
	}
	(void)syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &held->signals, NULL,
		      sizeof(held->signals));
}

/* Signals stay blocked until the fork is over, in the parent and in the child. */
static struct held forking; /* lock */

static void prepare(void)
{
	struct held held = hold();
	forking = held;
}

static void in_parent(void)
{
	struct held held = forking;
	let_go(&held);
}

static void in_child(void)
{
	struct held held = forking;
	held.is_nested = true;
	shown = NULL;
	pfs_store_release(&owner, 0); /* [PL5] release, pairs with [PL6] */
	(void)pthread_mutex_init(&lock, NULL);
	let_go(&held);
}

void pfs_start_handlers_inside(void)
{
	(void)pthread_atfork(prepare, in_parent, in_child);
}

/* ---- who maps ---- */

static bool is_own(const void *caller)
{
	return (uintptr_t)caller >= (uintptr_t)__ehdr_start && (uintptr_t)caller < (uintptr_t)_end;
}

bool pfs_mapped_is_library(uintptr_t address)
{
	return is_own((const void *)address); /* NOLINT: an address */
}

/* Under the lock. */
static uint32_t number_of(const struct mapper *wanted)
{
	for (uint32_t i = OTHER + 1; i < mapper_count; i++)
		if (strcmp(mappers[i].name, wanted->name) == 0)
			return i;
	if (mapper_count == PFS_BOX_MAPPERS_MAX)
		return OTHER;
	mappers[mapper_count] = *wanted;
	return mapper_count++;
}

/* The caller's library cannot be unloaded during the call. */
static bool find_mapper(const void *caller, struct mapper *mapper)
{
	struct dl_find_object found;
	if (_dl_find_object == NULL || _dl_find_object((void *)(uintptr_t)caller, &found) != 0)
		return false;
	pfs_site_module(mapper->name, sizeof(mapper->name), found.dlfo_link_map->l_name);
	return true;
}

static uintptr_t end_of(uintptr_t begin, size_t size_bytes)
{
	return begin + ((size_bytes + PFS_OS_PAGE - 1) & ~(size_t)(PFS_OS_PAGE - 1));
}

static void note(uintptr_t begin, uintptr_t end, const void *caller)
{
	struct mapper mapper = { 0 };
	bool own = is_own(caller);
	bool has_mapper = !own && find_mapper(caller, &mapper);
	struct held held = hold();
	uint32_t whose = own          ? PFS_WHOSE_OWN
			 : has_mapper ? PFS_WHOSE_MAPPER + number_of(&mapper)
				      : PFS_WHOSE_MAPPER + OTHER;
	pfs_ranges_add(&ranges, begin, end, whose);
	let_go(&held);
}

static void forget(uintptr_t begin, uintptr_t end)
{
	struct held held = hold();
	pfs_ranges_cut(&ranges, begin, end);
	let_go(&held);
}

/* ---- the calls ---- */

PUBLIC void *mmap(void *wanted, size_t size_bytes, int protection, int flags, int file,
		  off_t offset)
{
	void *got = (void *)syscall(SYS_mmap, wanted, size_bytes, protection, flags, file,
				    offset); /* NOLINT: an address */
	if (got == MAP_FAILED)
		return got;
	uintptr_t begin = (uintptr_t)got, end = end_of(begin, size_bytes);
	if ((flags & MAP_ANONYMOUS) != 0 && (flags & MAP_TYPE) == MAP_PRIVATE)
		note(begin, end, __builtin_return_address(0));
	else
		forget(begin, end);
	return got;
}

PUBLIC void *mmap64(void *wanted, size_t size_bytes, int protection, int flags, int file,
		    off_t offset) __attribute__((alias("mmap")));

/* Under the lock. */
static bool find_piece(uintptr_t begin, uintptr_t end, struct pfs_range *piece)
{
	uint32_t at = pfs_ranges_find(&ranges, begin);
	if (begin >= end || at == ranges.count || ranges.range[at].begin >= end)
		return false;
	*piece = ranges.range[at];
	if (piece->begin < begin)
		piece->begin = begin;
	if (piece->end > end)
		piece->end = end;
	return true;
}

/* For unusual ranges, which the system may refuse: changes the table after the call. */
static int unmap_odd(uintptr_t begin, size_t size_bytes)
{
	int status = (int)syscall(SYS_munmap, begin, size_bytes);
	if (status == 0)
		forget(begin, end_of(begin, size_bytes));
	return status;
}

/* If the system refuses it for lack of memory, the first known range is put back. */
PUBLIC int munmap(void *pages, size_t size_bytes)
{
	uintptr_t begin = (uintptr_t)pages, end = end_of(begin, size_bytes);
	struct pfs_range piece;
	if (begin % PFS_OS_PAGE != 0 || begin >= USUAL_END || size_bytes > USUAL_END - begin)
		return unmap_odd(begin, size_bytes);
	struct held held = hold();
	bool is_known = find_piece(begin, end, &piece);
	if (is_known)
		pfs_ranges_cut(&ranges, begin, end);
	let_go(&held);
	int status = (int)syscall(SYS_munmap, pages, size_bytes);
	if (status != 0 && is_known) {
		held = hold();
		pfs_ranges_add(&ranges, piece.begin, piece.end, piece.whose);
		let_go(&held);
	}
	return status;
}

/* The owner of a known range moves with it; an unknown range stays unknown. */
static void *move(void *pages, size_t before_bytes, size_t after_bytes, int flags, void *wanted)
{
	uintptr_t begin = (uintptr_t)pages, end = end_of(begin, before_bytes);
	struct pfs_range piece;
	bool is_known = before_bytes != 0 && pfs_mapped_piece(begin, end, &piece) &&
			piece.whose != PFS_WHOSE_STACK;
	if (is_known && (flags & 4 /* MREMAP_DONTUNMAP */) == 0)
		forget(begin, end);
	void *got = (void *)syscall(SYS_mremap, pages, before_bytes, after_bytes, flags,
				    wanted); /* NOLINT: an address */
	if (!is_known) {
		if (got != MAP_FAILED)
			forget((uintptr_t)got, end_of((uintptr_t)got, after_bytes));
		return got;
	}
	uintptr_t at = got != MAP_FAILED ? (uintptr_t)got : begin;
	struct held held = hold();
	pfs_ranges_add(&ranges, at, got != MAP_FAILED ? end_of(at, after_bytes) : end, piece.whose);
	let_go(&held);
	return got;
}

PUBLIC void *mremap(void *pages, size_t before_bytes, size_t after_bytes, int flags, ...)
{
	void *wanted = NULL;
	if ((flags & (MREMAP_FIXED | 4 /* MREMAP_DONTUNMAP */)) != 0) {
		va_list list;
		va_start(list, flags);
		wanted = va_arg(list, void *);
		va_end(list);
	}
	return move(pages, before_bytes, after_bytes, flags, wanted);
}

/* ---- for measurements ---- */

void pfs_mapped_stack(void)
{
	uintptr_t page = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)(PFS_OS_PAGE - 1);
	struct held held = hold();
	uint32_t at = pfs_ranges_find(&ranges, page);
	if (at == ranges.count ||
	    ranges.range[at].begin > page) /* not in a mapping of the program */
		pfs_ranges_add(&ranges, page, page + PFS_OS_PAGE, PFS_WHOSE_STACK);
	stack_count++;
	let_go(&held);
}

bool pfs_mapped_piece(uintptr_t begin, uintptr_t end, struct pfs_range *piece)
{
	struct held held = hold();
	bool is_there = find_piece(begin, end, piece);
	let_go(&held);
	return is_there;
}

uint32_t pfs_mapped_stacks(void)
{
	struct held held = hold();
	uint32_t count = stack_count;
	let_go(&held);
	return count;
}

void pfs_mapped_gone(uintptr_t begin, uintptr_t end, uint32_t stacks)
{
	struct pfs_range piece;
	struct held held = hold();
	while (stack_count == stacks && find_piece(begin, end, &piece)) {
		if (piece.whose == PFS_WHOSE_STACK)
			pfs_ranges_cut(&ranges, piece.begin, piece.end);
		begin = piece.end;
	}
	let_go(&held);
}

uint32_t pfs_mapped_sums(struct pfs_box_mapper *copy, uint64_t *lost)
{
	struct held held = hold();
	uint32_t count = mapper_count;
	memset(copy, 0, PFS_BOX_MAPPERS_MAX * sizeof(*copy));
	for (uint32_t i = 0; i < count; i++) {
		name_mapper(copy[i].name, i);
		copy[i].ranges = sums[PFS_WHOSE_MAPPER + i].ranges;
		copy[i].mapped = sums[PFS_WHOSE_MAPPER + i].bytes;
	}
	*lost = ranges.lost;
	let_go(&held);
	return count;
}

void pfs_mapped_show(struct pfs_box_mapper *box)
{
	struct held held = hold();
	memset(now, 0, sizeof(now));
	shown = box;
	shown_pid = (uint32_t)syscall(SYS_getpid);
	let_go(&held);
}

void pfs_mapped_measured(const struct pfs_box_mapper *mappers_then, uint32_t count,
			 uint64_t realtime_ns)
{
	struct held held = hold();
	for (uint32_t i = 0; shown != NULL && i < count; i++) {
		now[i].resident = mappers_then[i].resident;
		now[i].measured_mapped = mappers_then[i].mapped;
		now[i].measured_realtime_ns = realtime_ns;
		now[i].name[0] = '\0'; /* so that it is written */
	}
	let_go(&held);
}
