/*
 * calls.h - shared by the replacements of pthread's functions: the place of a call, and an
 * operation on a word of the machine.
 */
#ifndef PFS_CHECK_CALLS_H
#define PFS_CHECK_CALLS_H

#include "check/front/loops.h"
#include "check/front/places.h"
#include "check/front/user.h"

/* The place where the program called the enclosing function, with the function's name. */
#define PFS_CALL(name) pfs_call_place(__builtin_return_address(0), (name))

static inline const struct pfs_sim_place *pfs_call_place(const void *code, const char *text)
{
	const void *own;
	return pfs_places_named(pfs_user_place(code, &own), text);
}

/* false: in the set-up or the final check, where there is no other thread. */
static inline bool pfs_call_runs(void)
{
	return pfs_user.machine != NULL && pfs_user.machine->run.running != NULL;
}

/* Of a call that would wait there. */
static inline void pfs_call_fail_alone(const struct pfs_sim_place *place)
{
	pfs_machine_find(PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
			 "%s in the set-up or final check, where no other thread runs: wait in a "
			 "thread",
			 place->text);
}

static inline uint64_t pfs_call_act(enum pfs_sim_kind kind, uint32_t *word, uint64_t operand,
				    enum pfs_sim_order order, const struct pfs_sim_place *place)
{
	struct pfs_sim_operation operation = {
		word, operand, 0, place, sizeof(*word), (uint8_t)kind, (uint8_t)order, 0
	};
	return pfs_user_execute(&operation);
}

/* A strong compare-and-swap, relaxed if it fails; returns what was seen. */
static inline uint64_t pfs_call_cas(uint32_t *word, uint64_t expected, uint64_t wanted,
				    enum pfs_sim_order order, const struct pfs_sim_place *place)
{
	struct pfs_sim_operation operation = { word,           wanted,         expected,
					       place,          sizeof(*word),  PFS_SIM_CAS,
					       (uint8_t)order, PFS_SIM_RELAXED };
	return pfs_user_execute(&operation);
}

/* Predicates for pfs_user_await. */
static inline bool pfs_call_is_at_least(uint64_t value, uint64_t argument)
{
	return value >= argument;
}

static inline bool pfs_call_is_not(uint64_t value, uint64_t argument)
{
	return value != argument;
}

/* Until pfs_call_wake is called for this thread, once for each sleep. Additions count the calls,
 * and order nothing. */
static inline void pfs_call_sleep(struct pfs_user_thread *self, const struct pfs_sim_place *place)
{
	pfs_loops_effect(self); /* it is among the waiters */
	pfs_user_await(&self->woken, PFS_SIM_RELAXED, pfs_call_is_at_least, self->sleeps, place);
}

static inline void pfs_call_wake(uint32_t thread, const struct pfs_sim_place *place)
{
	(void)pfs_call_act(PFS_SIM_ADD, &pfs_user.threads[thread].woken, 1, PFS_SIM_RELAXED, place);
}

#endif
