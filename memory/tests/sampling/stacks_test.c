/*
 * stacks_test.c - each stack that is taken is the one that the unwinder finds, and is walked once
 * it is known: below functions with frames of all kinds, which different callers share; and where
 * a stack has the same beginning as the one before it, or the same words at other places.
 *
 * usage: sampling_stacks
 */
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "memory/profile/stack.h"

#define NOINLINE __attribute__((noinline))
#define STAY __asm__ volatile("" : : : "memory") /* prevents a tail call */
#define TAKES 4u
#define TRIES 64u

static int failures;
static _Thread_local struct pfs_stack taken;
static _Thread_local uintptr_t last_slot;
static _Thread_local bool only_slot;

static void complain(const char *what, const char *where)
{
	(void)printf("FAILED: %s: %s\n", where, what);
	failures++;
}

/* As the library takes it for a call that returns to this function's caller. */
NOINLINE void take(const char *where);
void take(const char *where)
{
	static _Thread_local struct pfs_stack unwound;
	const uintptr_t *words = __builtin_frame_address(0);
	struct pfs_stack_from from = { __builtin_return_address(0), words[0],
				       (uintptr_t)&words[1] };
	struct pfs_stack_from nowhere = { from.caller, 0, 0 };
	last_slot = from.slot;
	if (only_slot)
		return;
	(void)pfs_stack_take(&unwound, &nowhere);
	pfs_stack_learn(from.caller);
	bool is_last = pfs_stack_take(&taken, &from);
	const struct pfs_box_stack *have = &taken.record, *want = &unwound.record;
	if (have->depth != want->depth || have->is_cut != want->is_cut ||
	    memcmp(have->frames, want->frames, have->depth * sizeof(have->frames[0])) != 0 ||
	    taken.hash != unwound.hash)
		complain(is_last ? "another stack, taken for the last one" : "another stack",
			 where);
}

/* So often that the last ones are walked, and are the same as the one before. */
static inline __attribute__((always_inline)) void take_often(const char *where)
{
	for (unsigned i = 0; i < TAKES; i++) {
		__asm__ volatile("" : "+r"(i)); /* one call, and not four */
		take(where);
	}
	if (!only_slot && !taken.is_walked)
		complain("not walked", where);
}

/* ---- frames of all kinds ---- */

typedef void work(unsigned bytes, const char *where);

NOINLINE static void in_fixed(unsigned bytes, const char *where)
{
	(void)bytes;
	take_often(where);
	STAY;
}

NOINLINE static void in_alloca(unsigned bytes, const char *where)
{
	volatile char *room = alloca(bytes);
	room[0] = 1;
	take_often(where);
	STAY;
}

NOINLINE static void in_array(unsigned bytes, const char *where)
{
	char room[bytes];
	__asm__ volatile("" : : "r"(room) : "memory");
	take_often(where);
	STAY;
}

NOINLINE static void in_aligned(unsigned bytes, const char *where)
{
	_Alignas(128) char room[128];
	__asm__ volatile("" : : "r"(room + bytes % 128) : "memory");
	take_often(where);
	STAY;
}

/* Uses all registers that a function has to save, the frame pointer included. */
NOINLINE static void in_saved(unsigned bytes, const char *where)
{
	volatile unsigned from[6] = { bytes, 1, 2, 3, 4, 5 };
	unsigned a = from[0], b = from[1], c = from[2], d = from[3], e = from[4], f = from[5];
	take_often(where);
	__asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}

static work *const kinds[] = { in_fixed, in_alloca, in_array, in_aligned, in_saved };
static const char *const names[] = { "fixed", "alloca", "array", "aligned", "saved" };
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Two callers of the same kind of frame, so that what they call is at the same place. */
#define CALLER(name)                                                             \
	NOINLINE static void name(work *call, unsigned bytes, const char *where) \
	{                                                                        \
		call(bytes, where);                                              \
		STAY;                                                            \
	}
CALLER(one)
CALLER(other)

static void all_kinds(void)
{
	for (unsigned round = 0; round < 3; round++)
		for (unsigned kind = 0; kind < KINDS; kind++) {
			one(kinds[kind], 64, names[kind]);
			other(kinds[kind], 64, names[kind]);
		}
}

/* A frame of one kind below each of another kind. */
NOINLINE static void through_alloca(work *call, unsigned bytes, const char *where)
{
	volatile char *room = alloca(bytes);
	room[0] = 1;
	call(bytes, where);
	STAY;
}

static void mixed_kinds(void)
{
	for (unsigned kind = 0; kind < KINDS; kind++) {
		through_alloca(kinds[kind], 48, names[kind]);
		through_alloca(kinds[kind], 96, names[kind]);
	}
}

/* ---- the same beginning and the same words, but another frame pointer ---- */

/* Its return address stays where in_alloca has room that it does not write, if called instead. */
NOINLINE static void between(unsigned bytes, const char *where)
{
	char room[256];
	__asm__ volatile("" : : "r"(room) : "memory");
	in_alloca(bytes, where);
	STAY;
}

static void moved_frame(void)
{
	static work *const calls[] = { in_alloca, between, between, in_alloca, between };
	static const char *const says[] = { "", "", "through another function", "without it",
					    "through another function again" };
	const unsigned bytes = 1024;
	uintptr_t slot = 0;
	unsigned less = 0;
	/* First the places alone are compared. One call for all, so that its return address and its
	 * place are the same. */
	for (unsigned i = 0; i < 5; i++) {
		only_slot = i < 2;
		calls[i](calls[i] == between ? bytes - less : bytes, says[i]);
		STAY;
		if (i == 0)
			slot = last_slot;
		if (i == 1 && last_slot != slot && less < 16 * (TRIES - 1)) {
			less += 16;
			i = 0; /* the next is 1 again */
		}
		if (i == 1 && last_slot != slot) {
			only_slot = false;
			(void)printf("the frames have no common place: not tried\n");
			return;
		}
	}
}

static void *run(void *unused)
{
	all_kinds();
	mixed_kinds();
	moved_frame();
	pfs_stack_forget();
	all_kinds();
	return unused;
}

int main(void)
{
	pthread_t thread;
	(void)run(NULL);
	if (pthread_create(&thread, NULL, run, NULL) != 0 || pthread_join(thread, NULL) != 0)
		return 2;
	return failures != 0;
}
