/*
 * tsan.c - the functions that gcc and clang call with -fsanitize=thread for each access of the
 * program; their names and arguments are the compilers'.
 *
 * The program is bound to these functions in pfs-check, not to ThreadSanitizer's. clang marks no
 * compare-and-swap as weak, so with clang none fails spuriously.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/front/futex.h"
#include "check/front/library.h"
#include "check/front/loops.h"
#include "check/front/refuse.h"
#include "check/front/sizes.h"
#include "check/front/user.h"
#include "check/front/volatile.h"
#include "check/machine/model.h"
#include "check/machine/trace.h"

#define HERE __builtin_return_address(0)

/* ---- plain ---- */

#define PFS_PLAIN_REPORT pfs_user_plain
/* A read may be a loop's that waits. */
#define PFS_VOLATILE_ENTRY(name, size, writes)                     \
	void tsan##name(void *address)                             \
	{                                                          \
		pfs_volatile_access(address, (size), writes, HERE); \
	}                                                          \
	PFS_LOOPS_ENTRY(#name, "tsan" #name);
#include "check/machine/plain_entries.h"

void __tsan_init(void)
{
	const char *error = pfs_library_starts();
	if (error != NULL)
		pfs_refuse_now(error, "cannot run");
}

PFS_PLAIN_ENTRY(__tsan_vptr_read, sizeof(void *), false)

void __tsan_vptr_update(void **address, void *value)
{
	/* A destructor writes what is there already. */
	if (*address != value)
		pfs_user_plain(address, sizeof(*address), true, HERE);
}

/* ---- calls ---- */

/* Of what is below the caller's frame, nothing is left. */
static __attribute__((noinline)) void forget_below(struct pfs_user_thread *self)
{
	uint32_t depth = self->call_depth;
	if (depth < 2 || depth > PFS_USER_CALLS_MAX)
		return;
	uintptr_t frame = self->calls[depth - 2].frame;
	pfs_sizes_enter(self->id, frame);
	pfs_loops_unshare(self, frame);
}

static inline void enter(const struct pfs_user_call *call)
{
	struct pfs_user_thread *self = pfs_user_current();
	if (self->call_depth < PFS_USER_CALLS_MAX)
		self->calls[self->call_depth] = *call;
	self->call_depth++;
	if (self->shared_count != 0 || pfs_sizes_lowest[self->id] != UINTPTR_MAX)
		forget_below(self);
}

static __attribute__((noinline)) void enter_and_close(const void *code, const void *inside,
						      uintptr_t frame)
{
	enter(&(struct pfs_user_call){ code, inside, frame });
}

/* It calls others at its end only, and so leaves little on the stack: a function of the program
 * that is called next has that in variables that it has not written, which loops.h compares. */
void __tsan_func_entry(void *caller)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	if (__builtin_expect(pfs_user.closes != NULL, 0))
		enter_and_close(caller, HERE, frame);
	else
		enter(&(struct pfs_user_call){ caller, HERE, frame });
}

void __tsan_func_exit(void)
{
	struct pfs_user_thread *self = pfs_user_current();
	if (self->call_depth != 0)
		self->call_depth--;
}

/* What is in between must not be seen: constructors of globals, with clang. */
void __tsan_ignore_thread_begin(void)
{
	pfs_sim_quiet();
}

void __tsan_ignore_thread_end(void)
{
	pfs_sim_loud();
}

/* ---- atomic ---- */

static enum pfs_sim_order order_of(int order)
{
	switch (order) {
	case __ATOMIC_RELAXED: return PFS_SIM_RELAXED;
	case __ATOMIC_CONSUME: /* as compilers do */
	case __ATOMIC_ACQUIRE: return PFS_SIM_ACQUIRE;
	case __ATOMIC_RELEASE: return PFS_SIM_RELEASE;
	case __ATOMIC_ACQ_REL: return PFS_SIM_ACQ_REL;
	default: return PFS_SIM_SEQ;
	}
}

static uint64_t act(enum pfs_sim_kind kind, const volatile void *address, uint32_t size_bytes,
		    uint64_t operand, int order, const void *code)
{
	const void *own;
	uint64_t seen;
	const struct pfs_sim_place *place = pfs_user_place(code, &own);
	if (kind == PFS_SIM_LOAD &&
	    pfs_futex_looks_again((void *)(uintptr_t)address, place, code, &seen))
		return pfs_loops_skip(), seen;
	struct pfs_sim_operation operation = { .address = (void *)(uintptr_t)address,
					       .operand = operand,
					       .place = place,
					       .size_bytes = size_bytes,
					       .kind = (uint8_t)kind,
					       .order = (uint8_t)order_of(order) };
	return pfs_user_execute(&operation);
}

/* What a compare-and-swap is given by address: a plain read, and a plain write if it fails. clang
 * makes these itself. */
#define GIVEN(expected, writes) pfs_user_plain((expected), sizeof(*(expected)), (writes), HERE)

/* Returns what was seen; *failed: although the values were equal. */
static uint64_t compare(const volatile void *address, uint32_t size_bytes, uint64_t expected,
			uint64_t value, bool weak, int order, int failure, bool *failed,
			const void *code)
{
	const void *own;
	struct pfs_sim_operation operation = { (void *)(uintptr_t)address,
					       value,
					       expected,
					       pfs_user_place(code, &own),
					       size_bytes,
					       PFS_SIM_CAS,
					       (uint8_t)order_of(order),
					       (uint8_t)order_of(failure) };
	*failed = weak && pfs_user_fails();
	if (*failed) {
		operation.kind = PFS_SIM_LOAD;
		operation.order = operation.failure;
	}
	uint64_t seen = pfs_user_execute(&operation);
	if (*failed) /* the next one does not */
		pfs_loops_effect(pfs_user_current());
	return seen;
}

/* What may only read is called by way of loops.h. */
#define ENTRY(bits, name) PFS_LOOPS_ENTRY("__tsan_atomic" #bits "_" #name, "tsan" #bits "_" #name)

#define CHANGE(bits, T, name, kind, operand)                                                 \
	T tsan##bits##_##name(volatile T *address, T value, int order)                       \
	{                                                                                    \
		return (T)act((kind), address, sizeof(T), (uint64_t)(operand), order, HERE); \
	}                                                                                    \
	ENTRY(bits, name);
#define COMPARE(bits, T, name, weak)                                                               \
	int tsan##bits##_##name(volatile T *address, T *expected, T value, int order, int failure) \
	{                                                                                          \
		bool failed;                                                                       \
		GIVEN(expected, false);                                                            \
		T wanted = *expected;                                                              \
		T seen = (T)compare(address, sizeof(T), (uint64_t)wanted, (uint64_t)value, (weak), \
				    order, failure, &failed, HERE);                                \
		if (seen == wanted && !failed)                                                     \
			return 1;                                                                  \
		GIVEN(expected, true);                                                             \
		*expected = seen;                                                                  \
		return 0;                                                                          \
	}                                                                                          \
	ENTRY(bits, name);
#define ATOMIC(bits, T)                                                                           \
	T tsan##bits##_load(const volatile T *address, int order)                                 \
	{                                                                                         \
		return (T)act(PFS_SIM_LOAD, address, sizeof(T), 0, order, HERE);                  \
	}                                                                                         \
	ENTRY(bits, load);                                                                        \
	void __tsan_atomic##bits##_store(volatile T *address, T value, int order)                 \
	{                                                                                         \
		(void)act(PFS_SIM_STORE, address, sizeof(T), (uint64_t)value, order, HERE);       \
	}                                                                                         \
	CHANGE(bits, T, exchange, PFS_SIM_EXCHANGE, value)                                        \
	CHANGE(bits, T, fetch_add, PFS_SIM_ADD, value)                                            \
	CHANGE(bits, T, fetch_sub, PFS_SIM_ADD, (T)(0 - value))                                   \
	CHANGE(bits, T, fetch_or, PFS_SIM_OR, value)                                              \
	CHANGE(bits, T, fetch_and, PFS_SIM_AND, value)                                            \
	CHANGE(bits, T, fetch_xor, PFS_SIM_XOR, value)                                            \
	CHANGE(bits, T, fetch_nand, PFS_SIM_NAND, value)                                          \
	COMPARE(bits, T, compare_exchange_strong, false)                                          \
	COMPARE(bits, T, compare_exchange_weak, true)                                             \
	T tsan##bits##_compare_exchange_val(volatile T *address, T expected, T value, int order,  \
					    int failure)                                          \
	{                                                                                         \
		bool failed;                                                                      \
		return (T)compare(address, sizeof(T), (uint64_t)expected, (uint64_t)value, false, \
				  order, failure, &failed, HERE);                                 \
	}                                                                                         \
	ENTRY(bits, compare_exchange_val);
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

/* ---- 16 bytes ---- */

typedef unsigned __int128 wide_int;

/* A store is an exchange, as in libatomic: it is not buffered. */
static void act_wide(enum pfs_sim_kind kind, const volatile void *address,
		     struct pfs_sim_wide *wide, int order, int failure, const void *code)
{
	const void *own;
	struct pfs_sim_operation operation = { .address = (void *)(uintptr_t)address,
					       .operand = (uint64_t)(uintptr_t)wide,
					       .expected = (uint64_t)wide->expected,
					       .place = pfs_user_place(code, &own),
					       .size_bytes = PFS_SIM_WIDE_BYTES,
					       .kind = (uint8_t)kind,
					       .order = (uint8_t)order_of(order),
					       .failure = (uint8_t)order_of(failure) };
	if (pfs_user.machine != NULL && pfs_user.machine->model->keeps_old)
		pfs_machine_find(PFS_FOUND_UNCHECKED,
				 PFS_SIDES(pfs_side_here("accesses", operation.place)),
				 "an atomic access of 16 bytes at " PFS_SIDE_1
				 ": --memory views keeps no old values of that size; use --memory "
				 "sc or tso");
	(void)pfs_user_execute(&operation);
}

static wide_int change_wide(enum pfs_sim_kind kind, const volatile void *address, wide_int operand,
			    int order, const void *code)
{
	struct pfs_sim_wide wide = { .operand = operand };
	act_wide(kind, address, &wide, order, __ATOMIC_RELAXED, code);
	return wide.seen;
}

static wide_int compare_wide(const volatile void *address, wide_int expected, wide_int value,
			     bool weak, int order, int failure, bool *wrote, const void *code)
{
	struct pfs_sim_wide wide = { .operand = value, .expected = expected };
	bool fails = weak && pfs_user_fails();
	act_wide(fails ? PFS_SIM_LOAD : PFS_SIM_CAS, address, &wide, fails ? failure : order,
		 failure, code);
	if (fails)
		pfs_loops_effect(pfs_user_current());
	*wrote = wide.wrote;
	return wide.seen;
}

wide_int tsan128_load(const volatile wide_int *address, int order)
{
	return change_wide(PFS_SIM_LOAD, address, 0, order, HERE);
}
ENTRY(128, load);

void __tsan_atomic128_store(volatile wide_int *address, wide_int value, int order)
{
	(void)change_wide(PFS_SIM_EXCHANGE, address, value, order, HERE);
}

#define CHANGE_WIDE(name, kind, operand)                                               \
	wide_int tsan128_##name(volatile wide_int *address, wide_int value, int order) \
	{                                                                              \
		return change_wide((kind), address, (operand), order, HERE);           \
	}                                                                              \
	ENTRY(128, name);
CHANGE_WIDE(exchange, PFS_SIM_EXCHANGE, value)
CHANGE_WIDE(fetch_add, PFS_SIM_ADD, value)
CHANGE_WIDE(fetch_sub, PFS_SIM_ADD, 0 - value)
CHANGE_WIDE(fetch_or, PFS_SIM_OR, value)
CHANGE_WIDE(fetch_and, PFS_SIM_AND, value)
CHANGE_WIDE(fetch_xor, PFS_SIM_XOR, value)
CHANGE_WIDE(fetch_nand, PFS_SIM_NAND, value)

#define COMPARE_WIDE(name, weak)                                                                \
	int tsan128_##name(volatile wide_int *address, wide_int *expected, wide_int value,      \
			   int order, int failure)                                              \
	{                                                                                       \
		bool wrote;                                                                     \
		GIVEN(expected, false);                                                         \
		wide_int seen = compare_wide(address, *expected, value, (weak), order, failure, \
					     &wrote, HERE);                                     \
		if (wrote)                                                                      \
			return 1;                                                               \
		GIVEN(expected, true);                                                          \
		*expected = seen;                                                               \
		return 0;                                                                       \
	}                                                                                       \
	ENTRY(128, name);
COMPARE_WIDE(compare_exchange_strong, false)
COMPARE_WIDE(compare_exchange_weak, true)

wide_int tsan128_compare_exchange_val(volatile wide_int *address, wide_int expected, wide_int value,
				      int order, int failure)
{
	bool wrote;
	return compare_wide(address, expected, value, false, order, failure, &wrote, HERE);
}
ENTRY(128, compare_exchange_val);

/* ---- fences ---- */

void __tsan_atomic_thread_fence(int order)
{
	const void *own;
	const struct pfs_sim_place *place = pfs_user_place(HERE, &own);
	if (order == __ATOMIC_RELAXED)
		return;
	pfs_loops_fence(pfs_user_current(), order_of(order));
	pfs_machine_fence(order_of(order), place);
	pfs_user_arrive();
}

/* For a signal handler in the same thread; there is none. */
void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}

/* These tell ThreadSanitizer about orders that it does not see; here fences are seen, and nothing
 * else orders. */
void AnnotateHappensBefore(const char *file, int line, void *address)
{
	(void)file, (void)line, (void)address;
}

void AnnotateHappensAfter(const char *file, int line, void *address)
{
	(void)file, (void)line, (void)address;
}
