/*
 * stack.c - walks or unwinds stacks.
 */
#define _GNU_SOURCE
#include "stack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include "containers/compiler.h"
#include "frames.h"

#if defined(__clang__)
#define PLAIN_READS __attribute__((no_sanitize("address", "thread")))
#else
#define PLAIN_READS __attribute__((no_sanitize_address, no_sanitize_thread))
#endif

#define STEPS (1u << 13)
#define STEP_TRIES 8u
#define MAIN_STACK_BYTES (UINT64_C(8) << 20) /* at most this much of it is walked */

/* ---- what is known of a return address ---- */

enum step {
	STEP_UNKNOWN,
	STEP_UNWOUND, /* only the unwinder gets on from here */
	STEP_NOWHERE, /* the stack is cut here: there is no unwind table */
	STEP_LAST,    /* the stack ends here */
	STEP_POINTED, /* as the kinds of frames.h */
	STEP_STORED,
	STEP_FIXED /* the caller's frame pointer is in its register; + n: n + 1 words below the
		    * frame's begin */
};
#define SAVED_MOST 8u

#define STEP_BITS 4u
#define ADDRESS_BITS 47u
#define WORDS_BITS (64u - ADDRESS_BITS - STEP_BITS)
_Static_assert(STEP_FIXED + SAVED_MOST - 1 < 1u << STEP_BITS, "steps have a number each");

/* Words of the step's rule << 51 | address << 4 | step; written by any thread. A lost store, or a
 * place taken by another address, costs one more unwinding; so every access is relaxed. */
static _Atomic(uint64_t) steps[STEPS] PFS_SELDOM;

/* Changes when steps are forgotten. */
static _Atomic(uint32_t) forgets;

static uint32_t step_place(uintptr_t address)
{
	return (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 40) & (STEPS - 1);
}

struct known {
	uint32_t step, words;
};

static bool is_of(uint64_t entry, uintptr_t address)
{
	return (entry << WORDS_BITS) >> (WORDS_BITS + STEP_BITS) == address;
}

static struct known step_of(uintptr_t address)
{
	uint32_t at = step_place(address);
	for (uint32_t tried = 0; tried < STEP_TRIES; tried++) {
		/* relaxed: an entry is a single word. */
		uint64_t seen = pfs_load_relaxed(&steps[(at + tried) % STEPS]);
		if (is_of(seen, address))
			return (struct known){ (uint32_t)seen & ((1u << STEP_BITS) - 1),
					       (uint32_t)(seen >> (64 - WORDS_BITS)) };
		if (seen == 0)
			break;
	}
	return (struct known){ STEP_UNKNOWN, 0 };
}

static void step_set(uintptr_t address, struct known known)
{
	uint32_t at = step_place(address), place = at;
	if (address >> ADDRESS_BITS != 0)
		return;
	for (uint32_t tried = 0; tried < STEP_TRIES; tried++) {
		place = (at + tried) % STEPS;
		uint64_t seen = pfs_load_relaxed(&steps[place]); /* relaxed: as in step_of */
		if (seen == 0 || is_of(seen, address))
			break;
		place = at; /* all are taken: replace the first */
	}
	uint64_t entry = (uint64_t)known.words << (64 - WORDS_BITS) |
			 (uint64_t)address << STEP_BITS | known.step;
	pfs_store_relaxed(&steps[place], entry); /* relaxed: as in step_of */
}

void pfs_stack_forget(void)
{
	(void)pfs_fetch_add_relaxed(&forgets, 1); /* relaxed: as in step_of */
	for (uint32_t i = 0; i < STEPS; i++)
		pfs_store_relaxed(&steps[i], 0); /* relaxed: as in step_of */
}

/* The step that a rule comes to. */
static struct known step_by(const struct pfs_frame_rule *rule)
{
	static const uint32_t plain[] = { [PFS_FRAME_NONE] = STEP_NOWHERE,
					  [PFS_FRAME_LAST] = STEP_LAST,
					  [PFS_FRAME_FIXED] = STEP_FIXED,
					  [PFS_FRAME_POINTED] = STEP_POINTED,
					  [PFS_FRAME_STORED] = STEP_STORED };
	struct known known = { plain[rule->kind], rule->words };
	if (rule->saved != 0)
		known.step += rule->saved - 1;
	if (rule->saved == 1 || rule->saved > SAVED_MOST || rule->words >= 1u << WORDS_BITS)
		known = (struct known){ STEP_UNWOUND, 0 };
	return known;
}

/* ---- where the thread's stack is ---- */

struct bounds {
	uintptr_t low, high; /* 0: not known */
};
static _Thread_local struct bounds own;
static _Thread_local bool has_learned;

extern void *__libc_stack_end __attribute__((weak));

/* In glibc 2.35 and later. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

/* In the loader. */
extern void *__tls_get_addr(void *) __attribute__((weak));

/* Are both addresses of one file? */
static bool are_together(const void *one, uintptr_t other)
{
	struct dl_find_object of_one, of_other;
	return _dl_find_object((void *)(uintptr_t)one, &of_one) == 0 &&
	       _dl_find_object((void *)other, &of_other) == 0 && /* NOLINT: code */
	       of_one.dlfo_link_map == of_other.dlfo_link_map;
}

/* Is the caller in the C library or in the loader? */
static bool is_of_libc(const void *caller)
{
	return _dl_find_object != NULL && (are_together(caller, (uintptr_t)pthread_getattr_np) ||
					   are_together(caller, (uintptr_t)__tls_get_addr));
}

void pfs_stack_learn(const void *caller)
{
	pthread_attr_t attributes;
	void *low;
	size_t bytes;
	if (pfs_likely(has_learned) || is_of_libc(caller))
		return;
	has_learned = true;
	/* The main thread's stack, which may also be that of a forked child's first thread. */
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t end = &__libc_stack_end != NULL ? (uintptr_t)__libc_stack_end : 0;
	if (here < end && end - here < MAIN_STACK_BYTES) {
		own = (struct bounds){ end - MAIN_STACK_BYTES, end };
		return;
	}
	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &low, &bytes) == 0)
		own = (struct bounds){ (uintptr_t)low, (uintptr_t)low + bytes };
	(void)pthread_attr_destroy(&attributes);
}

/* The range that a walk may read now: above the calling function's frame. */
static struct bounds bounds_now(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	if (here < own.low || here >= own.high)
		return (struct bounds){ 0, 0 };
	return (struct bounds){ here, own.high };
}

/* ---- walked ---- */

struct walk {
	struct pfs_stack *stack;
	struct bounds bounds;
	uintptr_t slot;  /* where the last return address is stored */
	uintptr_t frame; /* the frame pointer, if `kept` is 0 */
	uintptr_t kept;  /* where the frame pointer is stored: few steps need it */
};

/* Read a word of the stack, and remember it. False: it is not above the first return address. */
static PLAIN_READS bool look(const struct walk *walk, uintptr_t at, uintptr_t *value)
{
	struct pfs_stack *stack = walk->stack;
	if (at % sizeof(uintptr_t) != 0 || at <= stack->from.slot ||
	    at > walk->bounds.high - sizeof(uintptr_t))
		return false;
	*value = *(const uintptr_t *)at; /* NOLINT: the stack */
	uint32_t count = stack->word_count;
	uintptr_t place = at - stack->from.slot;
	if (count < PFS_STACK_WORDS && place <= UINT32_MAX) {
		stack->words[count] = *value;
		stack->places[count] = (uint32_t)place;
		stack->word_count = count + 1;
	} else {
		stack->word_count = PFS_STACK_WORDS + 1;
	}
	return true;
}

/* Where the return address of a frame is stored that begins where the frame pointer says; 0: it
 * cannot be read. */
static uintptr_t slot_by_pointer(struct walk *walk, struct known known)
{
	uintptr_t begin;
	if (walk->kept == 0)
		walk->stack->has_used_frame = true;
	else if (!look(walk, walk->kept, &walk->frame))
		return 0;
	walk->kept = walk->frame; /* it points to the caller's */
	if (known.step == STEP_POINTED)
		return walk->frame + sizeof(uintptr_t);
	return look(walk, walk->frame - known.words * sizeof(uintptr_t), &begin)
		       ? begin - sizeof(uintptr_t)
		       : 0;
}

/* Step to the caller. Returns its return address; 0: none. */
static uintptr_t step_up(struct walk *walk, struct known known)
{
	uintptr_t slot = walk->slot + known.words * sizeof(uintptr_t), next;
	if (known.step < STEP_FIXED)
		slot = slot_by_pointer(walk, known);
	else if (known.step != STEP_FIXED)
		walk->kept = slot - (known.step - STEP_FIXED) * sizeof(uintptr_t);
	if (slot <= walk->slot || !look(walk, slot, &next))
		return 0;
	walk->slot = slot;
	return next;
}

static struct walk walk_from(struct pfs_stack *stack, const struct pfs_stack_from *from)
{
	stack->from = *from;
	stack->word_count = 0;
	stack->has_used_frame = false;
	/* relaxed: as in step_of */
	stack->forgets = pfs_load_relaxed(&forgets);
	return (struct walk){ stack, bounds_now(), from->slot, from->frame, 0 };
}

/* Walk the whole stack, if every step is known. */
static bool walk_known(struct pfs_stack *stack, const struct pfs_stack_from *from)
{
	struct walk walk = walk_from(stack, from);
	struct pfs_box_stack *record = &stack->record;
	if (from->slot < walk.bounds.low || from->slot >= walk.bounds.high)
		return false;
	record->frames[0] = (uintptr_t)from->caller;
	record->is_cut = 0;
	for (record->depth = 1;; record->depth++) {
		struct known known = step_of(record->frames[record->depth - 1]);
		bool is_full = record->depth == PFS_STACK_FRAMES;
		if (known.step == STEP_LAST)
			return true;
		if (known.step == STEP_UNKNOWN || (known.step == STEP_UNWOUND && !is_full))
			return false;
		record->is_cut = known.step == STEP_NOWHERE || is_full;
		if (record->is_cut != 0)
			return true;
		uintptr_t next = step_up(&walk, known);
		if (next == 0)
			return false;
		record->frames[record->depth] = next;
	}
}

/* Is it the stack that was walked last? That depends on where it began, on what is known of its
 * addresses, and on the words that were read: while these are the same, a walk would be. */
static PLAIN_READS bool is_last(const struct pfs_stack *stack, const struct pfs_stack_from *from)
{
	if (!stack->is_walked || stack->word_count > PFS_STACK_WORDS ||
	    stack->from.caller != from->caller || stack->from.slot != from->slot ||
	    (stack->has_used_frame && stack->from.frame != from->frame) ||
	    stack->forgets != pfs_load_relaxed(&forgets)) /* relaxed: as in step_of */
		return false;
	for (uint32_t i = 0; i < stack->word_count; i++)
		/* NOLINTNEXTLINE: the stack */
		if (*(const uintptr_t *)(from->slot + stack->places[i]) != stack->words[i])
			return false;
	return true;
}

/* ---- by the unwinder ---- */

struct unwinding {
	struct pfs_box_stack *stack;
	uintptr_t caller;
};

static _Unwind_Reason_Code see_frame(struct _Unwind_Context *context, void *argument)
{
	struct unwinding *self = argument;
	struct pfs_box_stack *stack = self->stack;
	uintptr_t address = _Unwind_GetIP(context);
	if (stack->depth == 0 && address != self->caller)
		return _URC_NO_REASON; /* a frame of this library */
	if (address == 0)
		return _URC_END_OF_STACK;
	if (stack->depth == PFS_STACK_FRAMES) {
		stack->is_cut = 1;
		return _URC_END_OF_STACK;
	}
	stack->frames[stack->depth++] = address;
	return _URC_NO_REASON;
}

/* Does the stack continue where the unwinder has no table? The unwinder reports the end and a
 * missing table alike. */
static bool ends_nowhere(const struct pfs_box_stack *stack)
{
	uintptr_t last = stack->frames[stack->depth - 1];
	return _Unwind_FindEnclosingFunction((void *)last) == NULL; /* NOLINT: code */
}

static void unwind(struct pfs_box_stack *stack, uintptr_t caller)
{
	struct unwinding self = { stack, caller };
	stack->depth = 0;
	stack->is_cut = 0;
	(void)_Unwind_Backtrace(see_frame, &self);
	if (stack->depth == 0) { /* the unwinder never reached the caller */
		stack->frames[0] = caller;
		stack->depth = 1;
		stack->is_cut = 1;
	} else if (stack->is_cut == 0 && ends_nowhere(stack)) {
		stack->is_cut = 1;
	}
}

/* Does the step from the last address that was walked lead to the next one of an unwound stack? */
static bool is_right(struct walk *walk, const struct known *known, uint32_t at)
{
	const struct pfs_box_stack *record = &walk->stack->record;
	bool is_end = at + 1 == record->depth, is_cut = record->is_cut != 0;
	if (known->step == STEP_UNWOUND || (is_end && record->depth == PFS_STACK_FRAMES && is_cut))
		return true;
	if (known->step == STEP_LAST || known->step == STEP_NOWHERE)
		return is_end && is_cut == (known->step == STEP_NOWHERE);
	return !is_end && step_up(walk, *known) == record->frames[at + 1];
}

/* Learn which steps of an unwound stack can be walked, up to the first that cannot. */
static void learn(struct pfs_stack *stack, const struct pfs_stack_from *from)
{
	struct walk walk = walk_from(stack, from);
	const struct known unwound = { STEP_UNWOUND, 0 };
	struct known known = { STEP_UNKNOWN, 0 };
	struct pfs_frame_rule rule;
	if (from->slot < walk.bounds.low || from->slot >= walk.bounds.high)
		return;
	for (uint32_t at = 0; at < stack->record.depth && known.step != STEP_UNWOUND; at++) {
		uintptr_t address = stack->record.frames[at];
		known = step_of(address);
		if (known.step == STEP_UNKNOWN)
			known = pfs_frames_rule(address, &rule) ? step_by(&rule) : unwound;
		if (!is_right(&walk, &known, at))
			known = unwound;
		step_set(address, known);
	}
}

/* ---- both ---- */

static uint64_t hash_of(const struct pfs_box_stack *stack)
{
	uint64_t hash = stack->depth << 1 | stack->is_cut;
	for (uint32_t i = 0; i < stack->depth; i++) {
		hash = (hash ^ stack->frames[i]) * UINT64_C(0x9E3779B97F4A7C15);
		hash ^= hash >> 29;
	}
	return hash;
}

bool pfs_stack_take(struct pfs_stack *stack, const struct pfs_stack_from *from)
{
	bool may_walk = from->slot != 0 && ++stack->takes % PFS_STACK_AGAIN != 0;
	if (may_walk && is_last(stack, from))
		return true;
	stack->is_walked = may_walk && walk_known(stack, from);
	if (!stack->is_walked) {
		unwind(&stack->record, (uintptr_t)from->caller);
		if (from->slot != 0)
			learn(stack, from);
	}
	stack->hash = hash_of(&stack->record);
	return false;
}
