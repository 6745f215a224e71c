/*
 * cut.c - the handler of SIGBUS: gives a truncated box private memory, and passes on what is not a
 * box's.
 *
 * Ordering:  [CU1] place: store, release  <->  [CU2] place: load, acquire
 *            carries: the watched mapping's address, size and head, to a handler on another thread
 */
#define _GNU_SOURCE
#include "cut.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "containers/action.h"

#define PLACES 64u

static _Atomic(struct pfs_cut *) places[PLACES];
static struct pfs_action front; /* of SIGBUS */

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

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	int errno_before = errno;
	if (!is_mended(info))
		pfs_action_pass_on(&front, number, info, context);
	errno = errno_before;
}

void pfs_cut_child(void)
{
	pfs_action_child(&front);
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

/* ---- watches ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of watches, not of the handler */
static uint32_t watched;

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
		pfs_action_begin(&front, SIGBUS, on_bus_error);
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
		pfs_action_end(&front); /* this code may be unloaded */
	self->is_watched = false;
	(void)pthread_mutex_unlock(&lock);
}
