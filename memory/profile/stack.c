/*
 * stack.c - walks or unwinds stacks.
 *
 * Ordering:  [PS1] add a root: store, release  <->  [PS2] look: load, acquire
 *            carries: the entry
 *            [PS3] root_busy: exchange, seq, and store, release
 *            carries: entries of the previous holder, to the next one; it pairs with [PS3]
 */
#define _GNU_SOURCE
#include "stack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
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
#define ROOTS 16u
#define TAIL_MOST 3u
#define MAIN_STACK_BYTES (UINT64_C(8) << 20) /* at most this much of it is walked */

/* ---- what is known of a return address ---- */

enum step {
	STEP_UNKNOWN,
	STEP_BY_FRAME, /* the function keeps a frame pointer */
	STEP_FIXED,    /* the function's frame has a fixed size */
	STEP_ROOT,     /* neither, but the rest of the stack may be known */
	STEP_UNWOUND   /* neither */
};

#define STEP_BITS 3u
#define ADDRESS_BITS 47u
#define WORDS_BITS (64u - ADDRESS_BITS - STEP_BITS)

/* Words of a fixed frame << 50 | address << 3 | enum step; written by any thread. A lost store, or
 * a place taken by another address, costs one more unwinding; so every access is relaxed. */
static _Atomic(uint64_t) steps[STEPS] PFS_SELDOM;

/* What follows an address at a given distance from the stack's end. Written under root_busy, before
 * root_count includes it. */
static struct root {
	uintptr_t address;
	uint64_t distance;
	uint32_t tail_count;
	uint64_t tail[TAIL_MOST];
} roots[ROOTS];
static _Atomic(uint32_t) root_count;
static _Atomic(uint32_t) root_busy;

static uint32_t step_place(uintptr_t address)
{
	return (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 40) & (STEPS - 1);
}

struct known {
	enum step step;
	uint32_t words; /* of STEP_FIXED */
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
			return (struct known){ (enum step)(seen & ((1u << STEP_BITS) - 1)),
					       (uint32_t)(seen >> (64 - WORDS_BITS)) };
		if (seen == 0)
			break;
	}
	return (struct known){ STEP_UNKNOWN, 0 };
}

static void step_set(uintptr_t address, enum step step, uint64_t words)
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
	uint64_t entry = words << (64 - WORDS_BITS) | (uint64_t)address << STEP_BITS | step;
	pfs_store_relaxed(&steps[place], entry); /* relaxed: as in step_of */
}

void pfs_stack_forget(void)
{
	for (uint32_t i = 0; i < STEPS; i++)
		pfs_store_relaxed(&steps[i], 0); /* relaxed: as in step_of */
}

static const struct root *root_find(uintptr_t address, uint64_t distance)
{
	/* [PS2] acquire, pairs with [PS1]: the entries below it. */
	uint32_t count = pfs_load_acquire(&root_count);
	for (uint32_t i = 0; i < count; i++)
		if (roots[i].address == address && roots[i].distance == distance)
			return &roots[i];
	return NULL;
}

/* False: a different tail is known for this address and distance. */
static bool root_add(uintptr_t address, uint64_t distance, const uint64_t *tail, uint32_t count)
{
	const struct root *known = root_find(address, distance);
	if (known != NULL)
		return known->tail_count == count &&
		       memcmp(known->tail, tail, count * sizeof(*tail)) == 0;
	/* [PS3] seq, pairs with [PS3]: a thread that finds 1 leaves it to the next stack. */
	if (pfs_exchange_seq(&root_busy, 1) != 0)
		return true;
	/* relaxed: written only by the holder of root_busy */
	uint32_t at = pfs_load_relaxed(&root_count);
	if (at < ROOTS) {
		roots[at] = (struct root){ .address = address,
					   .distance = distance,
					   .tail_count = count };
		memcpy(roots[at].tail, tail, count * sizeof(*tail));
		pfs_store_release(&root_count, at + 1); /* [PS1] release, pairs with [PS2] */
	}
	pfs_store_release(&root_busy, 0); /* [PS3] release, pairs with [PS3]: the entries */
	return true;
}

/* ---- where the thread's stack is ---- */

struct bounds {
	uintptr_t low, high; /* 0: not known */
};
static _Thread_local struct bounds own;
static _Thread_local bool has_learned;
static _Thread_local uint32_t walks;
static pid_t first_pid;

extern void *__libc_stack_end __attribute__((weak));

/* In glibc 2.35 and later. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

/* In a child of fork the main thread's stack is that of the thread that forked. Runs before the
 * library that counts. */
__attribute__((constructor(101))) static void at_begin(void)
{
	first_pid = getpid();
}

/* Is the caller in the object that contains pthread_getattr_np? */
static bool is_of_libc(const void *caller)
{
	struct dl_find_object one, other;
	void *known = (void *)(uintptr_t)pthread_getattr_np;
	return _dl_find_object != NULL && _dl_find_object((void *)(uintptr_t)caller, &one) == 0 &&
	       _dl_find_object(known, &other) == 0 && one.dlfo_link_map == other.dlfo_link_map;
}

void pfs_stack_learn(const void *caller)
{
	pthread_attr_t attributes;
	void *low;
	size_t bytes;
	if (pfs_likely(has_learned) || is_of_libc(caller))
		return;
	has_learned = true;
	if (gettid() == getpid()) {
		if (getpid() != first_pid || &__libc_stack_end == NULL)
			return;
		own.high = (uintptr_t)__libc_stack_end;
		own.low = own.high - MAIN_STACK_BYTES;
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
	struct bounds bounds;
	uintptr_t frame; /* 0: not known */
	uintptr_t slot;  /* where the last return address is stored; 0: not known */
};

static bool may_read(const struct walk *walk, uintptr_t at, size_t bytes)
{
	return at % sizeof(uintptr_t) == 0 && at >= walk->bounds.low && walk->bounds.high != 0 &&
	       at <= walk->bounds.high - bytes;
}

/* One step by the frame pointer. Returns the caller's return address; 0: none. */
static PLAIN_READS uintptr_t walk_frame(struct walk *walk)
{
	uintptr_t frame = walk->frame;
	if (!may_read(walk, frame, 2 * sizeof(uintptr_t)))
		return 0;
	const uintptr_t *words = (const uintptr_t *)frame; /* NOLINT: the stack */
	walk->slot = frame + sizeof(uintptr_t);
	walk->bounds.low = walk->slot;
	walk->frame = words[0];
	return words[1];
}

/* One step over a frame of a fixed number of words, which may save the frame pointer anywhere. */
static PLAIN_READS uintptr_t walk_fixed(struct walk *walk, uint64_t words)
{
	uintptr_t slot = walk->slot + words * sizeof(uintptr_t);
	if (walk->slot == 0 || words == 0 || !may_read(walk, slot, sizeof(uintptr_t)))
		return 0;
	walk->slot = slot;
	walk->bounds.low = slot;
	walk->frame = 0;
	return *(const uintptr_t *)slot; /* NOLINT: the stack */
}

/* Take the rest of a stack from a known root; false: it is not known. */
static bool take_root(struct pfs_stack *stack, uint32_t depth, const struct walk *walk)
{
	const struct root *root = walk->slot == 0 ? NULL
						  : root_find(stack->frames[depth - 1],
							      walk->bounds.high - walk->slot);
	if (root == NULL || depth + root->tail_count > PFS_STACK_FRAMES)
		return false;
	memcpy(&stack->frames[depth], root->tail, root->tail_count * sizeof(uint64_t));
	stack->depth = depth + root->tail_count;
	return true;
}

/* Walk the whole stack, if every step is known. */
static bool walk_known(struct pfs_stack *stack, struct walk walk)
{
	for (uint32_t depth = 1;; depth++) {
		struct known known = step_of(stack->frames[depth - 1]);
		if (known.step == STEP_ROOT)
			return take_root(stack, depth, &walk);
		if (known.step != STEP_BY_FRAME && known.step != STEP_FIXED)
			return false;
		if (depth == PFS_STACK_FRAMES) {
			stack->depth = depth;
			stack->is_cut = 1;
			return true;
		}
		stack->frames[depth] = known.step == STEP_FIXED ? walk_fixed(&walk, known.words)
								: walk_frame(&walk);
		if (stack->frames[depth] == 0)
			return false;
	}
}

/* ---- by the unwinder ---- */

struct unwinding {
	struct pfs_stack *stack;
	uintptr_t caller;
};

static _Unwind_Reason_Code see_frame(struct _Unwind_Context *context, void *argument)
{
	struct unwinding *self = argument;
	struct pfs_stack *stack = self->stack;
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
static bool ends_nowhere(const struct pfs_stack *stack)
{
	uintptr_t last = stack->frames[stack->depth - 1];
	return _Unwind_FindEnclosingFunction((void *)last) == NULL; /* NOLINT: code */
}

static void unwind(struct pfs_stack *stack, uintptr_t caller)
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

/* Learn a step from an unwound stack: is the frame's size fixed by its table, and right for this
 * stack? Otherwise, does the frame pointer lead to the next address? */
static struct known learn_step(uintptr_t address, struct known known, uintptr_t next,
			       struct walk *walk)
{
	uint32_t bytes;
	struct walk fixed = *walk;
	if (known.step == STEP_FIXED && walk_fixed(&fixed, known.words) == next) {
		*walk = fixed;
		return known;
	}
	if (known.step == STEP_BY_FRAME)
		return walk_frame(walk) == next ? known : (struct known){ STEP_UNKNOWN, 0 };
	fixed = *walk;
	if (pfs_frames_fixed(address, &bytes) && bytes % sizeof(uintptr_t) == 0 &&
	    bytes / sizeof(uintptr_t) < 1u << WORDS_BITS &&
	    walk_fixed(&fixed, bytes / sizeof(uintptr_t)) == next) {
		*walk = fixed;
		return (struct known){ STEP_FIXED, bytes / sizeof(uintptr_t) };
	}
	return (struct known){ walk_frame(walk) == next ? STEP_BY_FRAME : STEP_UNKNOWN, 0 };
}

/* Learn which steps of an unwound stack can be walked. */
static void learn(const struct pfs_stack *stack, struct walk walk)
{
	for (uint32_t at = 0; at < stack->depth; at++) {
		uintptr_t address = stack->frames[at];
		uint32_t after = stack->depth - at - 1;
		struct walk before = walk;
		struct known known = step_of(address), now = { STEP_UNKNOWN, 0 };
		if (after == 0 && stack->is_cut != 0)
			return;
		if (after != 0)
			now = learn_step(address, known, stack->frames[at + 1], &walk);
		if (now.step != STEP_UNKNOWN) {
			if (known.step == STEP_UNKNOWN)
				step_set(address, now.step, now.words);
			if (known.step == STEP_UNKNOWN || known.step == now.step)
				continue;
			step_set(address, STEP_UNWOUND, 0);
			return;
		}
		bool is_root = before.slot != 0 && after <= TAIL_MOST && stack->is_cut == 0 &&
			       known.step != STEP_UNWOUND &&
			       root_add(address, before.bounds.high - before.slot,
					&stack->frames[at + 1], after);
		step_set(address, is_root ? STEP_ROOT : STEP_UNWOUND, 0);
		return;
	}
}

/* ---- both ---- */

static uint64_t hash_of(const struct pfs_stack *stack)
{
	uint64_t hash = stack->depth << 1 | stack->is_cut;
	for (uint32_t i = 0; i < stack->depth; i++) {
		hash = (hash ^ stack->frames[i]) * UINT64_C(0x9E3779B97F4A7C15);
		hash ^= hash >> 29;
	}
	return hash;
}

void pfs_stack_take(struct pfs_stack *stack, const struct pfs_stack_from *from)
{
	struct walk walk = { bounds_now(), from->frame, from->slot };
	stack->frames[0] = (uintptr_t)from->caller;
	stack->is_cut = 0;
	bool is_walked = from->slot != 0 && ++walks % PFS_STACK_AGAIN != 0 &&
			 walk_known(stack, walk);
	if (!is_walked) {
		unwind(stack, (uintptr_t)from->caller);
		if (from->slot != 0)
			learn(stack, walk);
	}
	stack->hash = hash_of(stack);
}
