#define _GNU_SOURCE
#include "check/front/barriers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "check/front/calls.h"
#include "check/front/heap.h"
#include "check/front/lives.h"
#include "check/front/result.h"
#include "check/front/shared.h"
#include "check/machine/actors.h"
#include "check/machine/snapshot.h"
#include "check/machine/trace.h"

#define HERE __builtin_return_address(0)
#define MEMBERS_MAX 8u
#define LIVES_MAX 1024u
#define CONSTRUCTORS (PFS_USER_THREADS_MAX + 1)
#define OWNERS (CONSTRUCTORS + 1) /* of lives: threads, set-up and final check, constructors */
#define OPTIONS_MAX 64u           /* that a search of classes keeps at a step */

/* Fields of a member's byte, and of the byte of the first member, which leads: */
#define ROUND 3u  /* 1 or 2, in turn */
#define LOOKS 4u  /* at the result */
#define SERIAL 2u /* shift: which member is the serial thread; the leader writes it */

/* What its threads wait for. A thread may destroy the barrier as soon as its own wait has returned:
 * glibc's pthread_barrier_destroy waits until the others have left, too. What they did before they
 * arrived happens before the call anyway, and they read nothing else of the barrier. So nobody can
 * tell whether it waits; here it does not, and they return from a life that is over: each
 * initialization has its own. */
struct pfs_barrier_life {
	uint8_t bytes[MEMBERS_MAX]; /* of the machine: of each member; or of each round */
	uint32_t count;             /* of the machine: arrivals so far, if members are not known */
	bool ended;                 /* it was destroyed */
	const struct pfs_barrier *barrier;
};

struct pfs_barrier {
	struct pfs_barrier_life *now;
	uint8_t total;
	uint8_t key;     /* of pfs_user.meets */
	uint8_t rounds;  /* a bit of each member: which of the two values was its last */
	uint8_t waiting; /* threads that have arrived in this round */
	struct pfs_life life;
};
_Static_assert(sizeof(struct pfs_barrier) <= sizeof(pthread_barrier_t), "a barrier must fit");
_Static_assert(PFS_USER_MEETS_MAX <= UINT8_MAX, "a key must fit");

static const struct pfs_life_kind barriers = { "barrier", false };

/* By the thread that initialized it, and how many it had initialized: a place that is the same in
 * each execution of a class, and has had no other use in this one. */
static struct pfs_barrier_life lives[OWNERS][LIVES_MAX];
static uint32_t constructed; /* initialized by constructors, before all executions */

void pfs_barriers_begin(void)
{
	for (uint32_t i = 0; i < constructed; i++)
		lives[CONSTRUCTORS][i] =
			(struct pfs_barrier_life){ .barrier = lives[CONSTRUCTORS][i].barrier };
}

void pfs_barriers_put(struct pfs_machine_snapshot *snapshot)
{
	for (uint32_t id = 0; id < OWNERS; id++) {
		uint32_t count = id == CONSTRUCTORS ? constructed : pfs_user.threads[id].barriers;
		if (count != 0)
			pfs_snapshot_put(snapshot, lives[id], count * sizeof(lives[id][0]));
	}
}

const void *pfs_barriers_object(const void *address)
{
	uintptr_t at = (uintptr_t)address - (uintptr_t)lives;
	if (at >= sizeof(lives))
		return NULL;
	const struct pfs_barrier_life *life = &lives[0][0] + at / sizeof(*life);
	return (const char *)life->barrier + at % sizeof(*life);
}

/* A barrier's key is the same in each execution of a class, too. */
static void begin_life(struct pfs_barrier *self, const struct pfs_sim_place *place)
{
	struct pfs_user_thread *thread = pfs_user_current();
	uint32_t number = thread->barriers, owner = pfs_user_runs() ? thread->id : CONSTRUCTORS;
	uint32_t at = owner == CONSTRUCTORS ? constructed++ : number;
	if (at >= LIVES_MAX)
		pfs_machine_find(
			PFS_FOUND_UNCHECKED, PFS_SIDES(pfs_side_here("initializes", place)),
			"a thread initializes more than %u barriers at " PFS_SIDE_1, LIVES_MAX);
	thread->barriers++;
	self->now = &lives[owner][at];
	*self->now = (struct pfs_barrier_life){ .barrier = self };
	self->key = (uint8_t)(number < PFS_USER_BARRIERS_MAX
				      ? thread->id * PFS_USER_BARRIERS_MAX + number
				      : PFS_USER_MEETS_MAX);
}

static uint32_t users_of(const struct pfs_barrier *self)
{
	return self->key < PFS_USER_MEETS_MAX ? pfs_user.meets[self->key] : PFS_USER_MEETS_ORDERS;
}

int pfs_barrier_init(struct pfs_barrier *self, const pthread_barrierattr_t *attributes,
		     unsigned total)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_barrier_init");
	(void)attributes;
	if (total == 0)
		return EINVAL;
	pfs_user_plain(self, sizeof(pthread_barrier_t), true, HERE);
	pfs_life_begin(&self->life, self, &barriers, place);
	memset(self, 0, sizeof(pthread_barrier_t));
	self->total = total < UINT8_MAX ? (uint8_t)total : UINT8_MAX; /* more than can come */
	begin_life(self, place);
	self->life = pfs_life_begun(place);
	return 0;
}

int pfs_barrier_destroy(struct pfs_barrier *self)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_barrier_destroy");
	/* Each wait reads this first: to wait and to destroy, unordered, is a race. */
	pfs_user_plain(&self->life, sizeof(self->life), true, HERE);
	pfs_life_use(&self->life, self, &barriers, place);
	if (self->waiting != 0)
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("destroys", place)),
				 "%s: it is still in use, at " PFS_SIDE_1, place->text);
	self->now->ended = true;
	self->life = pfs_life_ended(place);
	return 0;
}

/* ---- known threads meet ---- */

static bool is_round(uint64_t value, uint64_t argument)
{
	return (value & ROUND) == argument;
}

static uint64_t act(enum pfs_sim_kind kind, uint8_t *byte, uint64_t operand,
		    enum pfs_sim_order order, const struct pfs_sim_place *place)
{
	struct pfs_sim_operation operation = {
		byte, operand, 0, place, sizeof(*byte), (uint8_t)kind, (uint8_t)order, 0
	};
	return pfs_user_execute(&operation);
}

static uint64_t await(uint8_t *byte, pfs_machine_predicate *predicate, uint64_t argument,
		      const struct pfs_sim_place *place)
{
	return pfs_user_await_at(byte, sizeof(*byte), PFS_SIM_ACQUIRE, predicate, argument, place);
}

static void want(const struct pfs_barrier *self, uint32_t users)
{
	pfs_shared_meets(self->key, users);
	pfs_machine_fail(PFS_USER_MEETS_WANTED);
}

/* The serial thread: any member that looks at the result, or one of those that do not. */
static uint32_t choose_serial(const struct pfs_barrier *self, uint32_t looking, uint32_t members,
			      const struct pfs_sim_place *place)
{
	uint32_t others = ~looking & ((1u << members) - 1);
	uint32_t among = looking | (others & (0u - others));
	uint32_t count = (uint32_t)__builtin_popcount(among), chosen = 0;
	if (count * pfs_machine_actor_count(pfs_user.machine) > OPTIONS_MAX)
		want(self, PFS_USER_MEETS_ORDERS);
	if (count > 1) {
		struct pfs_sim_operation choose = { .operand = count,
						    .place = place,
						    .kind = PFS_SIM_CHOOSE };
		chosen = (uint32_t)pfs_user_execute(&choose);
	}
	while (chosen-- > 0)
		among &= among - 1;
	return (uint32_t)__builtin_ctz(among);
}

/* The first member waits for the others, and then lets them go on. */
static uint32_t lead(struct pfs_barrier *self, uint32_t members, uint32_t round, bool looks,
		     const struct pfs_sim_place *place)
{
	uint32_t looking = looks;
	for (uint32_t i = 1; i < members; i++) {
		if ((await(&self->now->bytes[i], is_round, round, place) & LOOKS) != 0)
			looking |= 1u << i;
	}
	if (members < self->total)
		(void)await(&self->now->bytes[0], is_round, ROUND, place); /* for ever */
	uint32_t serial = choose_serial(self, looking, members, place);
	self->waiting = 0;
	(void)act(PFS_SIM_EXCHANGE, &self->now->bytes[0], round | serial << SERIAL, PFS_SIM_RELEASE,
		  place);
	return serial;
}

static uint32_t follow(struct pfs_barrier *self, uint32_t own, uint32_t round, bool looks,
		       const struct pfs_sim_place *place)
{
	(void)act(PFS_SIM_EXCHANGE, &self->now->bytes[own], round | (looks ? LOOKS : 0),
		  PFS_SIM_RELEASE, place);
	return (uint32_t)await(&self->now->bytes[0], is_round, round, place) >> SERIAL;
}

static int meet_known(struct pfs_barrier *self, uint32_t users, bool looks,
		      const struct pfs_sim_place *place)
{
	uint32_t below = users & ((1u << pfs_user_current()->id) - 1);
	uint32_t own = (uint32_t)__builtin_popcount(below);
	self->rounds ^= (uint8_t)(1u << own);
	self->waiting++;
	uint32_t round = 1 + (self->rounds >> own & 1), serial;
	if (own == 0)
		serial = lead(self, (uint32_t)__builtin_popcount(users), round, looks, place);
	else
		serial = follow(self, own, round, looks, place);
	return serial == own ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

/* ---- any threads meet ---- */

/* Compares counters of one byte, which wrap around. */
static bool is_at_least(uint64_t value, uint64_t argument)
{
	return (int8_t)(uint8_t)(value - argument) >= 0;
}

static int meet_any(struct pfs_barrier *self, const struct pfs_sim_place *place)
{
	uint32_t before = (uint32_t)pfs_call_act(PFS_SIM_ADD, &self->now->count, 1, PFS_SIM_ACQ_REL,
						 place);
	uint32_t round = before / self->total;
	uint8_t *ends = &self->now->bytes[round % MEMBERS_MAX];
	self->waiting = (uint8_t)((before + 1) % self->total);
	if (self->waiting != 0) {
		(void)await(ends, is_at_least, round / MEMBERS_MAX + 1, place);
		return 0;
	}
	(void)act(PFS_SIM_ADD, ends, 1, PFS_SIM_RELEASE, place);
	return PTHREAD_BARRIER_SERIAL_THREAD;
}

/* The caller becomes one of the known threads, if the barrier lets that many through. */
static void learn(const struct pfs_barrier *self, uint32_t users)
{
	uint32_t count = (uint32_t)__builtin_popcount(users);
	bool fits = count <= self->total && count <= MEMBERS_MAX;
	if (!fits || users != users_of(self))
		want(self, fits ? users : PFS_USER_MEETS_ORDERS);
}

int pfs_barrier_wait(struct pfs_barrier *self)
{
	const struct pfs_sim_place *place = PFS_CALL("pthread_barrier_wait");
	pfs_life_use(&self->life, self, &barriers, place);
	if (!pfs_call_runs()) {
		if (self->total > 1)
			pfs_call_fail_alone(place);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	struct pfs_user_thread *thread = pfs_user_current();
	uint32_t users = users_of(self);
	bool known = users != PFS_USER_MEETS_ORDERS;
	if (known)
		learn(self, users | 1u << thread->id);
	const struct pfs_barrier_life *life = self->now;
	pfs_user_plain(self, sizeof(*self), false, HERE); /* unordered with init or destroy? */
	thread->awaited = self;
	int result = known ? meet_known(self, users, pfs_result_may_be_read(HERE), place)
			   : meet_any(self, place);
	thread->awaited = NULL;
	if (!life->ended) /* others may have freed it, although it was not destroyed */
		pfs_check_heap_look(self, sizeof(*self), false, place);
	return result;
}
