/*
 * names.c - replacements of functions of libc and of C++'s run-time in the checked program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/front/barriers.h"
#include "check/front/clock.h"
#include "check/front/futex.h"
#include "check/front/heap.h"
#include "check/front/libc.h"
#include "check/front/library.h"
#include "check/front/limit.h"
#include "check/front/locals.h"
#include "check/front/locks.h"
#include "check/front/loops.h"
#include "check/front/mutexes.h"
#include "check/front/names.h"
#include "check/front/places.h"
#include "check/front/refuse.h"
#include "check/front/thread_local.h"
#include "check/front/threads.h"
#include "check/front/user.h"
#include "check/machine/trace.h"

#define HERE __builtin_return_address(0)
#define ALIGN_USUAL ((size_t)16)
#define FIX "no scenario was executed"

static const struct pfs_sim_place *place_of(const void *code)
{
	const void *own;
	return pfs_user_place(code, &own);
}

/* ---- memory ---- */

void *pfs_names_take(size_t align, size_t size, const void *code)
{
	if (pfs_user_runs()) { /* not in a constructor */
		pfs_limit_spend(PFS_LIMIT_STEP + size / PFS_LIMIT_BYTES);
		pfs_loops_effect(pfs_user_current());
	}
	void *block = pfs_check_heap_take(align > ALIGN_USUAL ? align : ALIGN_USUAL, size,
					  place_of(code));
	if (block == NULL)
		errno = ENOMEM;
	return block;
}

/* Freeing is a write to all of the block: a concurrent read is a race. */
static void give(void *block, const void *code)
{
	char name[PFS_NAME_BYTES];
	pfs_loops_effect(pfs_user_current());
	if (!pfs_check_heap_has(block)) {
		const struct pfs_sim_place *place = place_of(code);
		const char *file = pfs_trace_base_name(place->file);
		if (!pfs_library_name(block, name, sizeof(name)) &&
		    !pfs_user_stack_name(block, name, sizeof(name)))
			pfs_refuse_now("leave out the call that returned it",
				       "frees, at %s:%d, what malloc did not return", file,
				       place->line);
		pfs_machine_find(PFS_FOUND_BAD_FREE, PFS_SIDES(pfs_side_here("frees", place)),
				 "free at " PFS_SIDE_1 " of %s, which malloc did not return", name);
		return;
	}
	size_t size = pfs_check_heap_size(block);
	if (size != 0 && pfs_user.machine->run.running != NULL) {
		const void *own;
		(void)pfs_user_place(code, &own);
		for (size_t done = 0; done < size; done += 1u << 20) {
			size_t part = size - done < 1u << 20 ? size - done : 1u << 20;
			struct pfs_plain access = { (char *)block + done, own, (uint32_t)part,
						    true };
			pfs_user.machine->hooks.plain(pfs_user.machine, &access);
		}
	}
	(void)pfs_check_heap_give(block, place_of(code));
}

static void *user_malloc(size_t size)
{
	return pfs_names_take(ALIGN_USUAL, size, HERE);
}

static void *user_calloc(size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size)
		return NULL;
	void *block = pfs_names_take(ALIGN_USUAL, count * size, HERE);
	return block != NULL ? memset(block, 0, count * size) : NULL;
}

static void *user_aligned_alloc(size_t align, size_t size)
{
	return pfs_names_take(align, size, HERE);
}

static int user_posix_memalign(void **block, size_t align, size_t size)
{
	void *taken = pfs_names_take(align, size, HERE);
	pfs_user_plain(block, sizeof(*block), true, HERE);
	*block = taken;
	return *block != NULL ? 0 : ENOMEM;
}

static void user_free(void *block)
{
	if (block != NULL)
		give(block, HERE);
}

void *pfs_names_retake(void *block, size_t size, const void *code)
{
	if (block != NULL && size == 0) {
		give(block, code);
		return NULL;
	}
	void *moved = pfs_names_take(ALIGN_USUAL, size, code);
	if (block == NULL || moved == NULL)
		return moved;
	size_t had = pfs_check_heap_size(block);
	memcpy(moved, block, had < size ? had : size);
	give(block, code);
	return moved;
}

static void *user_realloc(void *block, size_t size)
{
	return pfs_names_retake(block, size, HERE);
}

/* C++'s operators; all of them end here. An execution that has no memory ends. */
static void *not_null(void *block, size_t size)
{
	if (block == NULL)
		pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
				 "no memory for an operator new of %zu bytes", size);
	return block;
}

static void *user_new(size_t size)
{
	return not_null(pfs_names_take(ALIGN_USUAL, size, HERE), size);
}

static void *user_new_aligned(size_t size, size_t align)
{
	return not_null(pfs_names_take(align, size, HERE), size);
}

static void user_delete(void *block)
{
	if (block != NULL)
		give(block, HERE);
}

/* ---- what libc does to memory without reporting it ---- */

static void *user_memcpy(void *to, const void *from, size_t size)
{
	pfs_user_plain(from, size, false, HERE);
	pfs_user_plain(to, size, true, HERE);
	return memcpy(to, from, size);
}

static void *user_memmove(void *to, const void *from, size_t size)
{
	pfs_user_plain(from, size, false, HERE);
	pfs_user_plain(to, size, true, HERE);
	return memmove(to, from, size);
}

static void *user_memset(void *to, int value, size_t size)
{
	pfs_user_plain(to, size, true, HERE);
	return memset(to, value, size);
}

static int user_memcmp(const void *a, const void *b, size_t size)
{
	pfs_user_plain(a, size, false, HERE);
	pfs_user_plain(b, size, false, HERE);
	return memcmp(a, b, size);
}

/* Of calls that make no difference: the processor's number, and a thread's name. */
static int user_zero(void)
{
	return 0;
}

/* ---- ends of the execution ---- */

static void user_assert_fail(const char *text, const char *file, unsigned line,
			     const char *function)
{
	const struct pfs_sim_place place = { file, function, text, (int)line };
	if (!pfs_user_runs())
		pfs_refuse_now(FIX, "has a failed assertion: %s (%s:%u)", text, file, line);
	pfs_machine_find(PFS_FOUND_ASSERTION, PFS_SIDES(pfs_side_here("asserts", &place)),
			 "assertion of " PFS_SIDE_1 ": %s", text);
	abort();
}

/* C++'s: an exception is thrown. Its place is kept for std::terminate, which is called in the
 * library. */
static void user_throw(void *thrown, void *type, void (*destroy)(void *))
{
	void (*throw)(void *, void *, void (*)(void *));
	void *real = pfs_library_symbol("__cxa_throw");
	pfs_user_current()->thrown = place_of(HERE);
	memcpy(&throw, &real, sizeof(throw));
	throw(thrown, type, destroy);
	abort();
}

/* It was caught. */
static void user_end_catch(void)
{
	void (*end)(void);
	void *real = pfs_library_symbol("__cxa_end_catch");
	pfs_user_current()->thrown = NULL;
	memcpy(&end, &real, sizeof(end));
	end();
}

/* Instead of the library's own handler, which remembers that it was called. */
static void user_terminate(void)
{
	const struct pfs_sim_place *place = pfs_user_current()->thrown;
	if (!pfs_user_runs())
		abort();
	if (place != NULL)
		pfs_machine_find(PFS_FOUND_EXIT, PFS_SIDES(pfs_side_here("throws", place)),
				 "std::terminate was called: nothing catches what " PFS_SIDE_1
				 " throws");
	pfs_user_fail(PFS_FOUND_EXIT, "std::terminate was called, perhaps by the destructor of a "
				      "std::thread that was not joined");
	abort();
}

void pfs_names_begin(void)
{
	void *real = pfs_library_symbol("_ZSt13set_terminatePFvvE");
	void *(*set)(void (*)(void));
	memcpy(&set, &real, sizeof(set));
	if (real != NULL)
		(void)set(user_terminate);
}

static void user_abort(void)
{
	const struct pfs_sim_place *place = place_of(HERE);
	const char *by = pfs_places_library(HERE);
	if (!pfs_user_runs())
		pfs_refuse_now(FIX, "calls abort at %s:%d", place->file, place->line);
	pfs_machine_find(PFS_FOUND_EXIT, PFS_SIDES(pfs_side_here("calls", place)),
			 by == NULL ? "abort was called at " PFS_SIDE_1 "%s"
				    : "abort was called at " PFS_SIDE_1 " by %s",
			 by != NULL ? by : "");
	abort();
}

static void user_exit(int status)
{
	const struct pfs_sim_place *place = place_of(HERE);
	if (!pfs_user_runs())
		pfs_refuse_now(FIX, "calls exit(%d) at %s:%d", status, place->file, place->line);
	pfs_machine_find(PFS_FOUND_EXIT, PFS_SIDES(pfs_side_here("calls", place)),
			 "exit(%d) was called at " PFS_SIDE_1, status);
	_exit(status);
}

/* By way of loops.h. */
#define TRIES(function)                                          \
	PFS_LOOPS_ENTRY("pfs_try_" #function, "pfs_" #function); \
	void pfs_try_##function(void)
TRIES(thread_yield);
TRIES(mutex_trylock);
TRIES(mutex_timedlock);
TRIES(mtx_trylock);
TRIES(mtx_timedlock);
TRIES(rwlock_tryrdlock);
TRIES(rwlock_trywrlock);
TRIES(rwlock_timedrdlock);
TRIES(rwlock_timedwrlock);
TRIES(sem_trywait);
TRIES(sem_timedwait);
TRIES(sem_getvalue);
TRIES(spin_trylock);

#define OURS(name, function)                        \
	{                                           \
		name, (void *)(uintptr_t)(function) \
	}
#define OURS_OF(family, function) OURS(family, function), OURS(family "RKSt9nothrow_t", function)
#define USER(name) OURS(#name, user_##name)
#define CLOCK(name) OURS(#name, pfs_clock_##name)
#define PTHREAD(name) OURS("pthread_" #name, pfs_##name)
#define PTHREAD_TRY(name) OURS("pthread_" #name, pfs_try_##name)
#define SEM_TRY(name) OURS("sem_" #name, pfs_try_sem_##name)
#define SEM(name) OURS("sem_" #name, pfs_sem_##name)

/* clang-format off */
const struct pfs_name pfs_names[] = {
	USER(malloc), USER(calloc), USER(realloc), USER(free), USER(aligned_alloc),
	OURS("memalign", user_aligned_alloc), USER(posix_memalign),
	OURS_OF("_Znwm", user_new), OURS_OF("_Znam", user_new),
	OURS_OF("_ZnwmSt11align_val_t", user_new_aligned),
	OURS_OF("_ZnamSt11align_val_t", user_new_aligned),
	OURS_OF("_ZdlPv", user_delete), OURS_OF("_ZdaPv", user_delete),
	OURS("_ZdlPvm", user_delete), OURS("_ZdaPvm", user_delete),
	OURS_OF("_ZdlPvSt11align_val_t", user_delete),
	OURS_OF("_ZdaPvSt11align_val_t", user_delete), OURS("_ZdlPvmSt11align_val_t", user_delete),
	OURS("_ZdaPvmSt11align_val_t", user_delete),
	USER(memcpy), USER(memmove), USER(memset), USER(memcmp),
	OURS("__assert_fail", user_assert_fail), USER(abort), USER(exit), OURS("_exit", user_exit),
	OURS("__cxa_throw", user_throw), OURS("__cxa_end_catch", user_end_catch),
	OURS("quick_exit", user_exit),
	CLOCK(sleep), CLOCK(usleep), CLOCK(nanosleep), OURS("thrd_sleep", pfs_clock_nanosleep),
	CLOCK(clock_nanosleep), OURS("clock_gettime", pfs_clock_gettime), CLOCK(gettimeofday),
	CLOCK(time), OURS("clock", pfs_clock_cpu),
	OURS("_ZNSt6chrono3_V212steady_clock3nowEv", pfs_clock_ns),
	OURS("_ZNSt6chrono3_V212system_clock3nowEv", pfs_clock_ns),
	OURS("_ZNSt3__16chrono12steady_clock3nowEv", pfs_clock_ns),
	OURS("_ZNSt3__16chrono12system_clock3nowEv", pfs_clock_us), CLOCK(timespec_get),
	OURS("pthread_create", pfs_thread_create), OURS("pthread_join", pfs_thread_join),
	OURS("pthread_detach", pfs_user_thread_detach), OURS("pthread_self", pfs_thread_self),
	OURS("sched_yield", pfs_try_thread_yield), OURS("pthread_yield", pfs_try_thread_yield),
	OURS("thrd_yield", pfs_try_thread_yield),
	PTHREAD(mutex_init), PTHREAD(mutex_destroy), PTHREAD(mutex_lock),
	PTHREAD_TRY(mutex_trylock),
	PTHREAD(mutex_unlock), PTHREAD_TRY(mutex_timedlock),
	OURS("pthread_mutex_clocklock", pfs_try_mutex_timedlock),
	PTHREAD(cond_init), PTHREAD(cond_destroy), PTHREAD(cond_wait), PTHREAD(cond_signal),
	PTHREAD(cond_broadcast), PTHREAD(cond_timedwait),
	OURS("pthread_cond_clockwait", pfs_cond_timedwait),
	PTHREAD(rwlock_init), PTHREAD(rwlock_destroy), PTHREAD(rwlock_rdlock),
	PTHREAD(rwlock_wrlock), PTHREAD_TRY(rwlock_tryrdlock), PTHREAD_TRY(rwlock_trywrlock),
	PTHREAD_TRY(rwlock_timedrdlock), PTHREAD_TRY(rwlock_timedwrlock),
	OURS("pthread_rwlock_clockrdlock", pfs_try_rwlock_timedrdlock),
	OURS("pthread_rwlock_clockwrlock", pfs_try_rwlock_timedwrlock), PTHREAD(rwlock_unlock),
	SEM(init), SEM(destroy), SEM(wait), SEM_TRY(trywait), SEM_TRY(timedwait),
	OURS("sem_clockwait", pfs_try_sem_timedwait), SEM(post), SEM_TRY(getvalue),
	PTHREAD(spin_init), PTHREAD(spin_destroy), PTHREAD(spin_lock), PTHREAD_TRY(spin_trylock),
	PTHREAD(spin_unlock),
	PTHREAD(barrier_init), PTHREAD(barrier_destroy), PTHREAD(barrier_wait),
	PTHREAD(key_create), PTHREAD(key_delete), OURS("pthread_getspecific", pfs_key_get),
	OURS("pthread_setspecific", pfs_key_set),
	OURS("__tls_get_addr", pfs_tls_address), OURS("__cxa_thread_atexit", pfs_locals_at_exit),
	OURS("__cxa_thread_atexit_impl", pfs_locals_at_exit),
	/* C11 */
	OURS("thrd_create", pfs_thrd_create), OURS("thrd_join", pfs_thrd_join),
	OURS("thrd_detach", pfs_user_thread_detach), OURS("thrd_current", pfs_thread_self),
	OURS("mtx_init", pfs_mtx_init), OURS("mtx_destroy", pfs_mutex_destroy),
	OURS("mtx_lock", pfs_mutex_lock), OURS("mtx_unlock", pfs_mutex_unlock),
	OURS("mtx_trylock", pfs_try_mtx_trylock), OURS("mtx_timedlock", pfs_try_mtx_timedlock),
	OURS("cnd_init", pfs_cond_init), OURS("cnd_destroy", pfs_cond_destroy),
	OURS("cnd_wait", pfs_cond_wait), OURS("cnd_timedwait", pfs_cnd_timedwait),
	OURS("cnd_signal", pfs_cond_signal), OURS("cnd_broadcast", pfs_cond_broadcast),
	OURS("call_once", pfs_once), OURS("tss_create", pfs_key_create),
	OURS("tss_delete", pfs_key_delete), OURS("tss_get", pfs_key_get),
	OURS("tss_set", pfs_key_set),
	OURS("syscall", pfs_futex_syscall), OURS("sched_getcpu", user_zero),
	OURS("pthread_setname_np", user_zero),
	PTHREAD(once), OURS("__cxa_guard_acquire", pfs_guard_acquire),
	OURS("__cxa_guard_release", pfs_guard_release), OURS("__cxa_guard_abort", pfs_guard_abort),
	{ NULL, NULL },
};
/* clang-format on */
