/*
 * ck_pr_c11.h - a port of Concurrency Kit's primitives to C11's atomics, for check/others: its own
 * are inline assembly, or volatile accesses, of which -fsanitize=thread says nothing or too little.
 *
 * Included before all else (-include), with -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO. It is as weak as
 * <ck_pr.h> allows on a machine with relaxed memory: loads, stores and all that reads and writes
 * are relaxed, and each fence orders what its name says, as far as C11 has one like it: a fence
 * between loads is an acquire, between stores a release, with a load behind a store a seq fence.
 * C11's are stronger in one thing: a release fence also keeps loads before stores, which a fence
 * of stores need not do (dmb ishst). A mistake that only shows so is not found.
 * -DPORT_DEPENDENCIES: what is read is acquired, as compilers have memory_order_consume. A race
 * that this mends is one where only an address or a condition depends on what was read: machines
 * keep such an order of an address, and of a store behind a condition, and C11 does not.
 * Without -DCK_MD_RMO it is what <ck_pr.h> has on x86: most fences are none.
 */
#ifndef PFS_CHECK_OTHERS_CK_PR_C11_H
#define PFS_CHECK_OTHERS_CK_PR_C11_H

#include <ck_cc.h>
#include <ck_limits.h>
#include <ck_md.h>
#ifdef CK_MD_RMO
#undef CK_MD_TSO /* as it is installed here */
#endif
#include <ck_stdbool.h>
#include <ck_stdint.h>

#include <pfslab/check.h>

/* Its own list of what a port may have, without doubles, and with exchanges. */
#define CK_F_PR
#define CK_PR_DISABLE_DOUBLE
#include <gcc/ck_f_pr.h>

#ifdef PORT_DEPENDENCIES
#define PORT_LOAD __ATOMIC_ACQUIRE
#else
#define PORT_LOAD __ATOMIC_RELAXED
#endif
#ifdef CK_MD_RMO
#define PORT_ORDER PORT_LOAD
#else
#define PORT_ORDER __ATOMIC_SEQ_CST /* or a compiler may make a store of an exchange */
#endif

CK_CC_INLINE static void ck_pr_stall(void)
{
	pfs_check_yield();
}

#define PORT_FENCE(name, order)                                  \
	CK_CC_FORCE_INLINE static void ck_pr_fence_strict_##name(void) \
	{                                                        \
		__atomic_thread_fence(order);                    \
	}
PORT_FENCE(load, __ATOMIC_ACQUIRE)
PORT_FENCE(load_atomic, __ATOMIC_ACQ_REL)
PORT_FENCE(load_store, __ATOMIC_ACQ_REL)
PORT_FENCE(acquire, __ATOMIC_ACQUIRE)
PORT_FENCE(lock, __ATOMIC_ACQUIRE)
PORT_FENCE(atomic, __ATOMIC_ACQ_REL)
PORT_FENCE(atomic_store, __ATOMIC_ACQ_REL)
PORT_FENCE(acqrel, __ATOMIC_ACQ_REL)
PORT_FENCE(store, __ATOMIC_RELEASE)
PORT_FENCE(store_atomic, __ATOMIC_RELEASE)
PORT_FENCE(release, __ATOMIC_RELEASE)
PORT_FENCE(unlock, __ATOMIC_RELEASE)
PORT_FENCE(atomic_load, __ATOMIC_SEQ_CST)
PORT_FENCE(store_load, __ATOMIC_SEQ_CST)
PORT_FENCE(memory, __ATOMIC_SEQ_CST)

/* name, type of the target, type of the value */
#define PORT_ACCESS(S, M, T)                                                       \
	CK_CC_FORCE_INLINE static T ck_pr_md_load_##S(const M *target)             \
	{                                                                          \
		return __atomic_load_n((const T *)target, PORT_LOAD);       \
	}                                                                          \
	CK_CC_FORCE_INLINE static bool ck_pr_cas_##S(M *target, T compare, T set)  \
	{                                                                          \
		return __atomic_compare_exchange_n((T *)target, &compare, set, 0,  \
						   PORT_ORDER,               \
						   PORT_ORDER);              \
	}                                                                          \
	CK_CC_FORCE_INLINE static T ck_pr_fas_##S(M *target, T value)              \
	{                                                                          \
		return __atomic_exchange_n((T *)target, value, PORT_ORDER);  \
	}
#define PORT_VALUE(S, T)                                                           \
	PORT_ACCESS(S, T, T)                                                       \
	CK_CC_FORCE_INLINE static void ck_pr_md_store_##S(T *target, T value)      \
	{                                                                          \
		__atomic_store_n(target, value, __ATOMIC_RELAXED);                 \
	}                                                                          \
	CK_CC_FORCE_INLINE static bool ck_pr_cas_##S##_value(T *target, T compare, \
							     T set, T *seen)       \
	{                                                                          \
		*seen = compare;                                                   \
		return __atomic_compare_exchange_n(target, seen, set, 0,           \
						   PORT_ORDER,               \
						   PORT_ORDER);              \
	}                                                                          \
	PORT_CHANGE(S, T)
#define PORT_CHANGE(S, T)                                                      \
	CK_CC_FORCE_INLINE static T ck_pr_faa_##S(T *target, T value)          \
	{                                                                      \
		return __atomic_fetch_add(target, value, PORT_ORDER);    \
	}                                                                      \
	CK_CC_FORCE_INLINE static void ck_pr_inc_##S(T *target)                \
	{                                                                      \
		(void)__atomic_fetch_add(target, 1, PORT_ORDER);         \
	}                                                                      \
	CK_CC_FORCE_INLINE static void ck_pr_dec_##S(T *target)                \
	{                                                                      \
		(void)__atomic_fetch_sub(target, 1, PORT_ORDER);         \
	}                                                                      \
	PORT_BITS(add, S, T) PORT_BITS(sub, S, T) PORT_BITS(and, S, T)         \
	PORT_BITS(or, S, T) PORT_BITS(xor, S, T)
#define PORT_BITS(name, S, T)                                                  \
	CK_CC_FORCE_INLINE static void ck_pr_##name##_##S(T *target, T value)  \
	{                                                                      \
		(void)__atomic_fetch_##name(target, value, PORT_ORDER);  \
	}

PORT_VALUE(char, char)
PORT_VALUE(int, int)
PORT_VALUE(uint, unsigned int)
PORT_VALUE(8, uint8_t)
PORT_VALUE(16, uint16_t)
PORT_VALUE(32, uint32_t)
PORT_VALUE(64, uint64_t)
PORT_ACCESS(ptr, void, void *)

CK_CC_FORCE_INLINE static void ck_pr_md_store_ptr(void *target, const void *value)
{
	__atomic_store_n((void **)target, (void *)(uintptr_t)value, __ATOMIC_RELAXED);
}

CK_CC_FORCE_INLINE static bool ck_pr_cas_ptr_value(void *target, void *compare, void *set,
						   void *seen)
{
	*(void **)seen = compare;
	return __atomic_compare_exchange_n((void **)target, (void **)seen, set, 0,
					   PORT_ORDER, PORT_ORDER);
}

#define CK_F_PR_FAS_CHAR
#define CK_F_PR_FAS_INT
#define CK_F_PR_FAS_UINT
#define CK_F_PR_FAS_8
#define CK_F_PR_FAS_16
#define CK_F_PR_FAS_32
#define CK_F_PR_FAS_64
#define CK_F_PR_FAS_PTR

#endif
