/*
 * urcu_c11.h - a port of liburcu's atomic operations and barriers to C11's, for check/others: its
 * own are inline assembly on x86, and volatile accesses.
 *
 * Included before all else (-include). It is as weak as liburcu's manual allows (uatomic-api.md):
 * what returns a value is between two full barriers, all else is relaxed. A barrier between loads
 * is an acquire fence here, between stores a release fence; C11's are a little stronger.
 * -DPORT_DEPENDENCIES: what is loaded is acquired, as compilers have memory_order_consume, and
 * stores release. A race that this mends is one where only an address depends on what was loaded,
 * or where a plain access is to what was loaded; machines keep both.
 */
#ifndef PFS_CHECK_OTHERS_URCU_C11_H
#define PFS_CHECK_OTHERS_URCU_C11_H

#include <pfslab/check.h>

/* In the place of urcu/arch/x86.h and urcu/uatomic/x86.h. */
#define _URCU_ARCH_X86_H
#define _URCU_ARCH_UATOMIC_X86_H
#define UATOMIC_HAS_ATOMIC_BYTE
#define UATOMIC_HAS_ATOMIC_SHORT
#define CAA_CACHE_LINE_SIZE 128

#define caa_cpu_relax() pfs_check_yield()
#define cmm_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define cmm_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define cmm_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)

#include <urcu/arch/generic.h>
#include <urcu/compiler.h>
#include <urcu/system.h>

#ifdef PORT_DEPENDENCIES
#define PORT_ORDER __ATOMIC_ACQUIRE
#define PORT_STORE __ATOMIC_RELEASE
#else
#define PORT_ORDER __ATOMIC_RELAXED
#define PORT_STORE __ATOMIC_RELAXED
#endif

#undef CMM_LOAD_SHARED
#undef _CMM_LOAD_SHARED
#undef CMM_STORE_SHARED
#undef _CMM_STORE_SHARED
#define CMM_LOAD_SHARED(p) __atomic_load_n(&(p), PORT_ORDER)
#define _CMM_LOAD_SHARED(p) CMM_LOAD_SHARED(p)
#define CMM_STORE_SHARED(p, value) __atomic_store_n(&(p), (value), PORT_STORE)
#define _CMM_STORE_SHARED(p, value) CMM_STORE_SHARED(p, value)

#define uatomic_set(address, value) ((void)CMM_STORE_SHARED(*(address), (value)))
#define uatomic_read(address) CMM_LOAD_SHARED(*(address))

/* Between two full barriers. */
#define PORT_BETWEEN(address, operation)            \
	__extension__({                             \
		__typeof__(*(address)) port_seen;   \
		cmm_mb();                           \
		port_seen = (operation);            \
		cmm_mb();                           \
		port_seen;                          \
	})
#define uatomic_cmpxchg(address, old, value)                                               \
	__extension__({                                                                    \
		__typeof__(*(address)) port_old = (old);                                   \
		cmm_mb();                                                                  \
		(void)__atomic_compare_exchange_n((address), &port_old, (value), 0,        \
						  PORT_ORDER, PORT_ORDER);                 \
		cmm_mb();                                                                  \
		port_old;                                                                  \
	})
#define uatomic_xchg(address, value) \
	PORT_BETWEEN(address, __atomic_exchange_n((address), (value), PORT_ORDER))
#define uatomic_add_return(address, value) \
	PORT_BETWEEN(address, __atomic_add_fetch((address), (value), PORT_ORDER))
#define uatomic_sub_return(address, value) \
	PORT_BETWEEN(address, __atomic_sub_fetch((address), (value), PORT_ORDER))
#define uatomic_add(address, value) \
	((void)__atomic_fetch_add((address), (value), __ATOMIC_RELAXED))
#define uatomic_sub(address, value) \
	((void)__atomic_fetch_sub((address), (value), __ATOMIC_RELAXED))
#define uatomic_inc(address) uatomic_add((address), 1)
#define uatomic_dec(address) uatomic_sub((address), 1)
#define uatomic_or(address, value) \
	((void)__atomic_fetch_or((address), (value), __ATOMIC_RELAXED))
#define uatomic_and(address, value) \
	((void)__atomic_fetch_and((address), (value), __ATOMIC_RELAXED))

/* What sleeps between two looks only looks again. */
#include <poll.h>
#define poll(fds, count, timeout) (pfs_check_yield(), 0)

#define _LGPL_SOURCE /* what would be calls of the library is in line, and seen */

#endif
