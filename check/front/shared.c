#define _GNU_SOURCE
#include "base/now.h"
#include "check/front/shared.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check/machine/trace.h"

#define PROGRESS_EXECUTIONS 256u /* after this many a process reads the clock */
#define PROGRESS_SECONDS 0.5

static struct shared {
	pthread_mutex_t lock;
	uint32_t may_fail[PFS_USER_THREADS_MAX];
	uint32_t meets[PFS_USER_MEETS_MAX];
	struct pfs_shared_place notes[PFS_NOTE_COUNT];
	/* Of the line. */
	const char *scenario;
	uint64_t executions;
	double begun, shown;
	bool is_shown;
} * shared;

static uint32_t untold; /* executions of this process */
static bool is_watched;

bool pfs_shared_begin(void)
{
	void *memory = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	shared = memory;
	is_watched = isatty(STDERR_FILENO) == 1;
	pfs_shared_alone();
	return true;
}

void pfs_shared_alone(void)
{
	pthread_mutexattr_t attributes;
	(void)pthread_mutexattr_init(&attributes);
	(void)pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	(void)pthread_mutex_init(&shared->lock, &attributes);
	(void)pthread_mutexattr_destroy(&attributes);
}

void pfs_shared_lock(void)
{
	(void)pthread_mutex_lock(&shared->lock);
}

void pfs_shared_unlock(void)
{
	(void)pthread_mutex_unlock(&shared->lock);
}

void pfs_shared_reset(const char *scenario)
{
	memset(shared->may_fail, 0, sizeof(shared->may_fail));
	memset(shared->meets, 0, sizeof(shared->meets));
	memset(shared->notes, 0, sizeof(shared->notes));
	shared->scenario = scenario;
	shared->executions = 0;
	shared->begun = shared->shown = is_watched ? pfs_now_seconds(CLOCK_MONOTONIC) : 0;
	untold = 0;
}

void pfs_shared_may_fail(uint32_t thread, uint32_t count)
{
	pfs_shared_lock();
	if (shared->may_fail[thread] < count)
		shared->may_fail[thread] = count;
	pfs_shared_unlock();
}

void pfs_shared_meets(uint32_t barrier, uint32_t users)
{
	pfs_shared_lock();
	shared->meets[barrier] |= users;
	pfs_shared_unlock();
}

void pfs_shared_take_meets(uint32_t meets[PFS_USER_MEETS_MAX])
{
	for (uint32_t i = 0; i < PFS_USER_MEETS_MAX; i++)
		meets[i] |= shared->meets[i];
}

void pfs_shared_note(enum pfs_shared_note note, const struct pfs_sim_place *place)
{
	struct pfs_shared_place *noted = &shared->notes[note];
	if (noted->is_noted)
		return;
	pfs_shared_lock();
	if (!noted->is_noted && place != NULL) {
		noted->line = place->line;
		(void)snprintf(noted->file, sizeof(noted->file), "%s", place->file);
		(void)snprintf(noted->what, sizeof(noted->what), "%s", place->text);
	}
	noted->is_noted = true;
	pfs_shared_unlock();
}

const struct pfs_shared_place *pfs_shared_noted(enum pfs_shared_note note)
{
	return &shared->notes[note];
}

void pfs_shared_take(uint32_t may_fail[PFS_USER_THREADS_MAX])
{
	memcpy(may_fail, shared->may_fail, sizeof(shared->may_fail));
}

void pfs_shared_progress(void)
{
	if (!is_watched || ++untold < PROGRESS_EXECUTIONS)
		return;
	double now = pfs_now_seconds(CLOCK_MONOTONIC);
	pfs_shared_lock();
	shared->executions += untold;
	untold = 0;
	if (now - shared->shown >= PROGRESS_SECONDS) {
		shared->shown = now;
		shared->is_shown = true;
		(void)fprintf(stderr, "\r%.30s: %llu executions, %.0f s ", shared->scenario,
			      (unsigned long long)shared->executions, now - shared->begun);
	}
	pfs_shared_unlock();
}

void pfs_shared_progress_end(void)
{
	if (shared->is_shown)
		(void)fprintf(stderr, "\r%70s\r", "");
	shared->is_shown = false;
}
