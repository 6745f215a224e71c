/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check.h - scenarios for pfs-check: what the threads do, and what must hold.
 *
 * A scenario is a function that prepares the shared state and starts the threads. pfs-check
 * executes it once for each schedule that can make a difference; global variables have their
 * initial values in every execution. `pfs-check ring.c` compiles it as C11 or C++11 with
 * -fsanitize=thread. By hand:
 *
 *	cc -g -O1 -fsanitize=thread -fPIC -c ring.c
 *	cc -shared -o ring.so ring.o           without -fsanitize=thread: its run-time stays out
 *	pfs-check ring.so --memory views
 *
 * Only a scenario, its threads, and its function of pfs_check_at_rest may make these calls.
 */
#ifndef PFSLAB_CHECK_H
#define PFSLAB_CHECK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * pfs_check_thread - add a thread to the scenario. It starts when the scenario's function returns.
 *
 * Returns   nothing.
 * Errors    called outside the scenario's function: ends the execution. Threads may create more
 *           threads with pthread_create.
 * Progress  blocking (set-up).
 * Order     the thread sees everything that was done before the call.
 */
void pfs_check_thread(void (*body)(void *argument), void *argument);

/*
 * pfs_check_at_rest - set the function that is called after all threads have ended. It sees
 * everything that they did. Use it for pfs_check_assert and to free memory. A later call replaces
 * the function.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  blocking (set-up).
 * Order     none.
 */
void pfs_check_at_rest(void (*check)(void *argument), void *argument);

/*
 * pfs_check_yield - as sched_yield: other threads may run. If the thread comes back in the same
 * state, having changed nothing, it waits until another thread has changed something that it read.
 *
 * Returns   nothing.
 * Errors    none.
 * Progress  blocking.
 * Order     none.
 */
void pfs_check_yield(void);

/*
 * pfs_check_outcome - describe the result of this execution, as printf formats it, in at most 119
 * bytes. pfs-check prints each distinct text and the number of executions that ended with it. Call
 * it once, in the function of pfs_check_at_rest.
 *
 * Returns   nothing.
 * Errors    a longer text: the execution cannot be checked.
 * Progress  blocking.
 * Order     none.
 */
__attribute__((format(printf, 1, 2))) void pfs_check_outcome(const char *format, ...);

/* If the condition is false, ends the execution, which pfs-check reports with its schedule. */
#define pfs_check_assert(condition) \
	pfs_check_assert_at((condition) ? 1 : 0, #condition, __FILE__, __LINE__)

/*
 * pfs_check_assume - leave out executions in which the condition is false. The thread stops here.
 * What the others do until they end or wait can still fail, but the execution does not count. If no
 * execution is left, nothing was checked (exit status 2).
 */
#define pfs_check_assume(condition) \
	pfs_check_assume_at((condition) ? 1 : 0, #condition, __FILE__, __LINE__)

/*
 * pfs_check_choose - one of 0 .. count - 1, in a thread. The search tries each, as it tries each
 * order of the threads; the schedule has the choice.
 *
 * Returns   the number. count is 1 to 16.
 * Errors    another count, or no thread runs: the execution cannot be checked.
 * Progress  one step of the execution.
 * Order     none.
 */
unsigned pfs_check_choose(unsigned count);

/*
 * One operation of a sequential structure, for pfs_check_specification: changes the state and
 * returns the operation's result. result is what the concurrent call returned, or 0 if it has not
 * returned. A specification that allows several results returns result if it is one of them.
 */
typedef int64_t pfs_check_step(void *state, int operation, int64_t argument, int64_t result);

/*
 * pfs_check_specification - check linearizability against a sequential structure. At the end of
 * each execution pfs-check looks for an order of all calls in which step gives each call's result.
 * A call that returned before another began must come first. If no such order exists, the execution
 * fails. Call it in the scenario's function, before the first pfs_check_call.
 *
 * initial is the state before all calls; it is copied. pfs-check copies states and compares them
 * byte by byte, so they must not contain pointers or uninitialized bytes. At most 4096 bytes, and
 * 64 calls in an execution. The result of step may depend only on its arguments.
 *
 * Returns   nothing.
 * Errors    called elsewhere, or with a larger state: ends the execution.
 * Progress  blocking (set-up).
 * Order     none.
 */
void pfs_check_specification(const void *initial, size_t state_bytes, pfs_check_step *step);

/*
 * pfs_check_call - a call of the structure begins. operation is a number that step understands;
 * reports show it as it is written here. Calls of one thread must not nest.
 * pfs_check_return - the call ends with this result. A call that never ends may have taken effect
 * or not.
 *
 * Returns   pfs_check_return: result.
 * Errors    a call without its return, a return without its call, or too many calls: ends the
 *           execution.
 * Progress  one step of the execution each.
 * Order     with --memory views a thread that begins a call has seen all calls that returned
 *           before. With tso a call ends when the thread's stores have left its store buffer. See
 *           --calls.
 */
#define pfs_check_call(operation, argument) \
	pfs_check_call_at((operation), #operation, (int64_t)(argument))
int64_t pfs_check_return(int64_t result);

/* pfs_check_call and pfs_check_return around an expression, whose value is the result:
 * x = pfs_check_op(PUSH, 3, push(3)). */
#define pfs_check_op(operation, argument, expression) \
	(pfs_check_call(operation, argument), pfs_check_return((int64_t)(expression)))

/* PFS_CHECK_SCENARIO(name) { ... } defines a scenario's function; a program may have several. */
#define PFS_CHECK_SCENARIO(name)                                            \
	static void pfs_check_scenario_##name(void);                        \
	__attribute__((constructor)) static void pfs_check_add_##name(void) \
	{                                                                   \
		pfs_check_register(#name, pfs_check_scenario_##name);       \
	}                                                                   \
	static void pfs_check_scenario_##name(void)

/* Used by the macros above. */
void pfs_check_register(const char *name, void (*scenario)(void));
void pfs_check_call_at(int operation, const char *name, int64_t argument);
void pfs_check_assert_at(int holds, const char *text, const char *file, int line);
void pfs_check_assume_at(int holds, const char *text, const char *file, int line);

#ifdef __cplusplus
}
#endif

#endif
