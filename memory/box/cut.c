/*
 * cut.c - the handler of SIGBUS: gives a truncated box private memory, and passes on what is not a
 * box's.
 *
 * Ordering:  [CU1] place: store, release  <->  [CU2] place: load, acquire
 *            carries: the watched mapping's address, size and head, to a handler on another thread
 *            [CU3] theirs: store, release  <->  [CU4] theirs: load, acquire
 *            carries: the program's action, written before its place becomes current
 */
#define _GNU_SOURCE
#include "cut.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLACES 64u
#define ACTIONS 64u /* old ones stay valid for handlers that are reading them */

static _Atomic(struct pfs_cut *) places[PLACES];
static _Atomic(uint32_t) has_handler;
static pid_t owner; /* the process whose actions these are */
static struct sigaction actions[ACTIONS];
static _Atomic(uint32_t) theirs;  /* the current one of actions */
static _Atomic(uint32_t) written; /* of them; one caller of sigaction at a time */

pfs_cut_sigaction *pfs_cut_system = sigaction;

/* ---- a box ---- */

static struct pfs_cut *find(const char *address)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		struct pfs_cut *one = pfs_load_acquire(&places[i]); /* [CU2] acquire, pairs with
								     * [CU1] */
		if (one != NULL && address >= one->base && address < one->base + one->bytes)
			return one;
	}
	return NULL;
}

/* Zero would be a limit that refuses everything. */
static void lift_limits(char *fresh, const struct pfs_box_region *region)
{
	bool has_pages = region->page_records != 0;
	uint64_t page_bytes = has_pages ? region->page_bytes : region->bytes;
	uint64_t records = has_pages ? region->page_records : region->bytes / region->record_bytes;
	size_t field = region->kind == PFS_BOX_LIMITS ? offsetof(struct pfs_box_limit, bytes)
						      : offsetof(struct pfs_box_owner, limit);
	for (uint64_t page = 0; page < region->bytes; page += page_bytes)
		for (uint64_t i = 0; i < records; i++)
			memset(fresh + region->offset + page + i * region->record_bytes + field,
			       0xFF, sizeof(uint64_t));
}

/* One step replaces the mapping, so no thread sees a part of it. False: no memory. */
static bool replace(struct pfs_cut *self)
{
	char *fresh = mmap(NULL, self->bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fresh == MAP_FAILED)
		return false;
	if (self->head.region_count != 0)
		memcpy((void *)fresh, (void *)&self->head, sizeof(self->head));
	for (uint32_t i = 0; i < self->head.region_count; i++)
		if (self->head.regions[i].kind == PFS_BOX_LIMITS ||
		    self->head.regions[i].kind == PFS_BOX_OWNERS)
			lift_limits(fresh, &self->head.regions[i]);
	return mremap(fresh, self->bytes, self->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, self->base) ==
	       self->base;
}

/* True: the access can be repeated. */
static bool is_mended(const siginfo_t *info)
{
	uint32_t state = PFS_CUT_NOT;
	struct pfs_cut *self = info->si_code == BUS_ADRERR ? find(info->si_addr) : NULL;
	if (self == NULL)
		return false;
	/* relaxed: the mapping is shared by the kernel; the state only elects one thread. */
	if (!pfs_cas_relaxed(&self->state, &state, PFS_CUT_BEGUN))
		return state != PFS_CUT_FAILED; /* another thread mends it: try again */
	bool fine = replace(self);
	/* relaxed: as above */
	pfs_store_relaxed(&self->state, fine ? PFS_CUT_DONE : PFS_CUT_FAILED);
	if (fine && self->line != NULL)
		(void)!write(STDERR_FILENO, self->line, strlen(self->line));
	return fine;
}

/* ---- the program's action ---- */

/* Ends the program as without a handler: by the repeated access, or by the signal that was sent. */
static void end_by_default(int number, bool was_sent)
{
	const struct sigaction none = { .sa_handler = SIG_DFL };
	(void)pfs_cut_system(number, &none, NULL);
	if (was_sent)
		(void)syscall(SYS_tgkill, getpid(), gettid(), number);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	/* [CU4] acquire, pairs with [CU3]. */
	struct sigaction action = actions[pfs_load_acquire(&theirs)];
	bool was_sent = info->si_code <= 0;
	if (action.sa_handler == SIG_IGN && was_sent)
		return;
	if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
		end_by_default(number, was_sent);
		return;
	}
	if ((action.sa_flags & (int)SA_RESETHAND) != 0) {
		const struct sigaction none = { .sa_handler = SIG_DFL };
		(void)pfs_cut_action(&none, NULL);
	}
	if ((action.sa_flags & SA_SIGINFO) != 0)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	int errno_before = errno;
	if (!is_mended(info))
		pass_on(number, info, context);
	errno = errno_before;
}

/* With the flags and the mask of the program's action, which it may rely on. */
static int install(const struct sigaction *action, struct sigaction *before)
{
	struct sigaction ours = { .sa_flags = SA_ONSTACK };
	if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
		ours = *action;
	ours.sa_flags = (ours.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
	ours.sa_sigaction = on_bus_error;
	return pfs_cut_system(SIGBUS, &ours, before);
}

/* A vfork's child shares this memory, but has actions of its own until it execs. */
static int act_alone(const struct sigaction *action, struct sigaction *before)
{
	struct sigaction now;
	int result = pfs_cut_system(SIGBUS, action, &now);
	if (result != 0 || before == NULL)
		return result;
	/* [CU4] acquire, pairs with [CU3]. */
	*before = now.sa_sigaction == on_bus_error ? actions[pfs_load_acquire(&theirs)] : now;
	return 0;
}

int pfs_cut_action(const struct sigaction *action, struct sigaction *before)
{
	if (getpid() != owner)
		return act_alone(action, before);
	/* [CU4] acquire, pairs with [CU3]. */
	struct sigaction now = actions[pfs_load_acquire(&theirs)];
	if (action != NULL) {
		/* relaxed: a program changes the action of a signal on one thread at a time. */
		uint32_t place = (pfs_fetch_add_relaxed(&written, 1) + 1) % ACTIONS;
		actions[place] = *action;
		pfs_store_release(&theirs, place); /* [CU3] release, pairs with [CU4] */
		if (install(action, NULL) != 0)
			return -1;
	}
	if (before != NULL)
		*before = now;
	return 0;
}

void pfs_cut_child(void)
{
	owner = getpid();
}

bool pfs_cut_happened(void)
{
	for (uint32_t i = 0; i < PLACES; i++) {
		/* [CU2] acquire, pairs with [CU1]. */
		struct pfs_cut *one = pfs_load_acquire(&places[i]);
		if (one != NULL && pfs_cut_is(one))
			return true;
	}
	return false;
}

bool pfs_cut_handles(void)
{
	return pfs_load_relaxed(&has_handler) != 0; /* relaxed: before the program's own threads */
}

/* ---- watches ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of watches, not of the handler */
static uint32_t watched;

/* Under the lock, with the first watch. */
static void begin_handling(void)
{
	struct sigaction now;
	owner = getpid();
	if (pfs_cut_system(SIGBUS, NULL, &now) != 0)
		return;
	actions[0] = now;
	pfs_store_release(&theirs, 0); /* [CU3] release, pairs with [CU4] */
	if (install(&now, NULL) == 0)
		pfs_store_relaxed(&has_handler, 1); /* relaxed: see pfs_cut_handles */
}

/* Under the lock, after the last: this code may be unloaded. Another handler stays. */
static void end_handling(void)
{
	struct sigaction now;
	/* relaxed: under the lock. */
	if (pfs_load_relaxed(&has_handler) == 0 || pfs_cut_system(SIGBUS, NULL, &now) != 0)
		return;
	if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_bus_error)
		/* [CU4] acquire, pairs with [CU3]. */
		(void)pfs_cut_system(SIGBUS, &actions[pfs_load_acquire(&theirs)], NULL);
	pfs_store_relaxed(&has_handler, 0); /* relaxed: as above */
}

void pfs_cut_watch(struct pfs_cut *self, char *base, uint64_t bytes, bool is_ours)
{
	self->base = base;
	self->bytes = bytes;
	if (is_ours)
		memcpy((void *)&self->head, base, sizeof(self->head));
	pfs_store_relaxed(&self->state, PFS_CUT_NOT); /* relaxed: [CU1] carries it */
	(void)pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < PLACES && !self->is_watched; i++) {
		struct pfs_cut *none = NULL;
		self->is_watched = pfs_cas_release(&places[i], &none, self); /* [CU1] release,
									      * pairs with [CU2] */
	}
	watched += self->is_watched;
	if (self->is_watched && watched == 1)
		begin_handling();
	(void)pthread_mutex_unlock(&lock);
}

void pfs_cut_forget(struct pfs_cut *self)
{
	(void)pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i < PLACES && self->is_watched; i++)
		/* relaxed: its own entry. */
		if (pfs_load_relaxed(&places[i]) == self)
			pfs_store_relaxed(&places[i], NULL); /* relaxed: nobody uses the box */
	watched -= self->is_watched;
	if (self->is_watched && watched == 0)
		end_handling();
	self->is_watched = false;
	(void)pthread_mutex_unlock(&lock);
}
