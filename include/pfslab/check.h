/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check.h - a scenario of one's own code, for pfs-check: threads, and what must hold.
 *
 * A scenario is a function that prepares what threads share and says which there are. pfs-check
 * executes it again and again, under each schedule that makes a difference; global variables are
 * each time as they were at first. In C11 or C++11, compiled with -fsanitize=thread: by
 * `pfs-check ring.c`, or
 *
 *	cc -g -O1 -fsanitize=thread -fPIC -c ring.c
 *	cc -shared -o ring.so ring.o           without -fsanitize=thread: its run-time stays out
 *	pfs-check ring.so --memory views
 */
#ifndef PFSLAB_CHECK_H
#define PFSLAB_CHECK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * pfs_check_thread - one more thread of the scenario, which begins when its function has returned.
 *
 * Returns   nothing.
 * Errors    ends the execution if called elsewhere; threads may call pthread_create.
 * Progress  blocking (set-up).
 * Order     the thread sees all that was done before.
 */
void pfs_check_thread(void (*body)(void *argument), void *argument);

/*
 * pfs_check_at_rest - a function that is called when all threads have ended, and sees all that
 * they did; the last one that was named. For pfs_check_assert, and to give memory back.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  blocking (set-up).
 * Order     none.
 */
void pfs_check_at_rest(void (*check)(void *argument), void *argument);

/*
 * pfs_check_yield - a loop that found nothing: the thread waits until another one has changed
 * something that it looked at. As sched_yield.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  blocking.
 * Order     none.
 */
void pfs_check_yield(void);

/*
 * pfs_check_outcome - what this execution came to, as printf makes a text of it, of at most 119
 * bytes. pfs-check prints each text that there was, and how many executions came to it. For the
 * function of pfs_check_at_rest, once.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  blocking.
 * Order     none.
 */
__attribute__((format(printf, 1, 2))) void pfs_check_outcome(const char *format, ...);

/* Ends the execution, and is reported with its schedule, unless the condition holds. */
#define pfs_check_assert(condition) \
	pfs_check_assert_at((condition) ? 1 : 0, #condition, __FILE__, __LINE__)

/*
 * One operation of a sequential structure, for pfs_check_specification: changes the state, and
 * returns what the operation gives. result: what the call in question gave, or 0 if it has not
 * returned; a specification that allows several results returns it if it is one of them.
 */
typedef int64_t pfs_check_step(void *state, int operation, int64_t argument, int64_t result);

/*
 * pfs_check_specification - what the structure would do if its calls came one after the other: is
 * it linearizable? At the end of each execution pfs-check looks for an order of all calls in which
 * each that returned before another began comes before it, and step gives their results; the
 * execution fails if there is none. For a scenario's function, before the first call.
 *
 * initial: the state before all calls, copied. States are copied, and compared byte by byte: no
 * pointers, and no bytes that are not set. At most 4096 bytes, and 64 calls in an execution. step
 * must follow from its arguments.
 *
 * Returns   nothing.
 * Errors    ends the execution if called elsewhere, or with a larger state.
 * Progress  blocking (set-up).
 * Order     none.
 */
void pfs_check_specification(const void *initial, size_t state_bytes, pfs_check_step *step);

/*
 * pfs_check_call - a call of the structure begins. operation: a number that step knows, shown as it
 * is written here. Not inside of another one of its thread.
 * pfs_check_return - and ends with this result. A call that never does may have taken effect or
 * not.
 *
 * Returns   pfs_check_return: result.
 * Errors    ends the execution if one of them is missing, or calls are too many.
 * Progress  a step of the execution each.
 * Order     with --memory views who calls has been told of all calls that returned before. With
 *           tso a call ends when what it stored has left its buffer. See --calls.
 */
#define pfs_check_call(operation, argument) \
	pfs_check_call_at((operation), #operation, (int64_t)(argument))
int64_t pfs_check_return(int64_t result);

/* Both around an expression, which has the result: x = pfs_check_op(PUSH, 3, push(3)). */
#define pfs_check_op(operation, argument, expression) \
	(pfs_check_call(operation, argument), pfs_check_return((int64_t)(expression)))

/* PFS_CHECK_SCENARIO(name) { ... }: the function of a scenario; a program may have several. */
#define PFS_CHECK_SCENARIO(name)                                            \
	static void pfs_check_scenario_##name(void);                        \
	__attribute__((constructor)) static void pfs_check_add_##name(void) \
	{                                                                   \
		pfs_check_register(#name, pfs_check_scenario_##name);       \
	}                                                                   \
	static void pfs_check_scenario_##name(void)

/* Of the macros above. */
void pfs_check_register(const char *name, void (*scenario)(void));
void pfs_check_call_at(int operation, const char *name, int64_t argument);
void pfs_check_assert_at(int holds, const char *text, const char *file, int line);

#ifdef __cplusplus
}
#endif

#endif
