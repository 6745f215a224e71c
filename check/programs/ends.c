/*
 * ends.c - programs that end, or do not, in ways that say nothing of their accesses: signals, loops
 * without one, frees of what is no block, writes of code that was not compiled for it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <pfslab/check.h>

static atomic_int flag;
static char *_Atomic kept;
static int *volatile nowhere;
static volatile int nothing;
static _Atomic uint64_t tagged;

static void touch(void *argument)
{
	(void)atomic_load(&flag);
}

#define SCENARIO(name, code)                      \
	static void name##_body(void *argument)   \
	{                                         \
		atomic_store(&flag, 1);           \
		code                              \
	}                                         \
	PFS_CHECK_SCENARIO(name)                  \
	{                                         \
		pfs_check_thread(name##_body, 0); \
		pfs_check_thread(touch, 0);       \
	}

/* Without -fsanitize=thread: as libc does it, unseen. */
__attribute__((no_sanitize_thread, noinline)) static void write_unseen(char *to, size_t at)
{
	((volatile char *)to)[at] = 1;
}

SCENARIO(into_nowhere, *nowhere = 1;)
SCENARIO(loads_nowhere, (void)atomic_load((atomic_int *)nowhere);)
SCENARIO(trap, __builtin_trap();)
SCENARIO(division, nothing = 7 % nothing;)
SCENARIO(turns, while (nothing == 0) {})
SCENARIO(turns_without_access, for (;;) { __asm__ volatile(""); })
SCENARIO(deep, char frame[3 << 20]; write_unseen(frame, 0); kept = frame + sizeof(frame) - 1;)
SCENARIO(frees_global, free((void *)(uintptr_t)&flag);)
SCENARIO(frees_inside, char *block = malloc(8); kept = block; free(block + 4);)

SCENARIO(unseen_behind, kept = malloc(8); write_unseen(kept, 8); free(kept);)
SCENARIO(unseen_behind_kept, kept = malloc(8); write_unseen(kept, 23);)
SCENARIO(unseen_after_free, kept = malloc(8); free(kept); write_unseen(kept, 7);)
SCENARIO(unseen_fine, kept = malloc(8); write_unseen(kept, 7); free(kept);)
SCENARIO(frees_of_libc, free(strdup("a text of libc's"));)

/* A value of two halves, and one of many digits. */
SCENARIO(shows_values, atomic_store(&tagged, 0x500000003); atomic_store(&tagged, UINT64_MAX);
	 __builtin_trap();)

/* Before its first operation. */
static void *reads_nowhere(void *argument)
{
	(void)argument;
	nothing = *nowhere;
	return NULL;
}

static void begins_nowhere(void *argument)
{
	pthread_t thread;
	(void)argument;
	pthread_create(&thread, NULL, reads_nowhere, NULL);
	pthread_join(thread, NULL);
}

PFS_CHECK_SCENARIO(begins_nowhere)
{
	pfs_check_thread(begins_nowhere, 0);
}
