#include "check/machine/schedule.h"

#include <string.h>

#include "base/random.h"
#include "check/machine/actors.h"

#define SLOWNESS 12u /* when chosen, it runs one time in this many */

static uint64_t random_seed(uint64_t seed)
{
	uint64_t x = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x ^= x >> 31;
	return x != 0 ? x : 1;
}

static struct pfs_actor round_robin_choose(struct pfs_scheduler *scheduler,
					   struct pfs_machine *machine)
{
	(void)scheduler;
	return pfs_machine_next_in_turn(machine);
}

void pfs_round_robin_init(struct pfs_round_robin *self)
{
	self->scheduler = (struct pfs_scheduler){ .choose = round_robin_choose };
}

static struct pfs_actor perhaps_older(uint64_t *random, struct pfs_machine *machine,
				      struct pfs_actor actor)
{
	bool chooses = actor.kind == PFS_ACTOR_STEP &&
		       machine->threads[actor.thread]->pending.kind == PFS_SIM_CHOOSE;
	if (!machine->model->keeps_old && !chooses)
		return actor;
	return pfs_machine_perhaps_older(machine, actor, pfs_random_next(random) >> 16);
}

static struct pfs_actor random_walk_choose(struct pfs_scheduler *scheduler,
					   struct pfs_machine *machine)
{
	struct pfs_random_walk *self = (struct pfs_random_walk *)scheduler;
	uint32_t count = pfs_machine_actor_count(machine);
	if (count == 0)
		return PFS_NOBODY;
	if (self->stay_percent != 0 && !pfs_actor_is_nobody(machine->run.last_actor) &&
	    pfs_random_below(&self->random, 100) < self->stay_percent &&
	    pfs_machine_can_move(machine, machine->run.last_actor))
		return perhaps_older(&self->random, machine, machine->run.last_actor);
	for (uint32_t tried = 0; tried < 4 * count; tried++) {
		uint32_t number = pfs_random_below(&self->random, count);
		if (number == self->slow && pfs_random_below(&self->random, SLOWNESS) != 0)
			continue;
		struct pfs_actor actor = pfs_actor_of(machine, number);
		if (pfs_machine_can_move(machine, actor))
			return perhaps_older(&self->random, machine, actor);
	}
	return pfs_machine_first_from(machine, pfs_random_below(&self->random, count));
}

void pfs_random_walk_init(struct pfs_random_walk *self, uint64_t seed, uint32_t stay_percent,
			  uint32_t slow)
{
	self->scheduler = (struct pfs_scheduler){ .choose = random_walk_choose };
	self->random = random_seed(seed);
	self->stay_percent = stay_percent;
	self->slow = slow;
}

/* The actor with the highest priority of those that can move. */
static struct pfs_actor highest(struct pfs_machine *machine, const uint64_t *priority,
				uint64_t *random)
{
	uint32_t best = PFS_ACTOR_NONE, count = pfs_machine_actor_count(machine);
	for (uint32_t number = 0; number < count; number++) {
		if (pfs_machine_can_move(machine, pfs_actor_of(machine, number)) &&
		    (best == PFS_ACTOR_NONE || priority[number] > priority[best]))
			best = number;
	}
	if (best == PFS_ACTOR_NONE)
		return PFS_NOBODY;
	return perhaps_older(random, machine, pfs_actor_of(machine, best));
}

static struct pfs_actor pct_choose(struct pfs_scheduler *scheduler, struct pfs_machine *machine)
{
	struct pfs_pct *self = (struct pfs_pct *)scheduler;
	uint32_t last = pfs_actor_number(machine, machine->run.last_actor);
	/* A thread that yields waits for the others: its priority falls below theirs. */
	if (machine->run.yielded)
		self->priority[last] = self->lowest--;
	for (uint32_t i = 0; i + 1 < self->depth; i++) {
		if (self->changes[i] == machine->run.step_count && last != PFS_ACTOR_NONE)
			self->priority[last] = self->lowest--;
	}
	return highest(machine, self->priority, &self->random);
}

void pfs_pct_init(struct pfs_pct *self, uint64_t seed, uint32_t depth, uint32_t steps)
{
	uint64_t random = random_seed(seed);
	self->scheduler = (struct pfs_scheduler){ .choose = pct_choose };
	self->depth = depth < PFS_PCT_DEPTH_MAX ? depth : PFS_PCT_DEPTH_MAX;
	self->lowest = UINT32_MAX / 2;
	for (uint32_t i = 0; i + 1 < self->depth; i++)
		self->changes[i] = pfs_random_below(&random, steps != 0 ? steps : 1);
	for (size_t i = 0; i < sizeof(self->priority) / sizeof(self->priority[0]); i++)
		self->priority[i] = UINT32_MAX / 2 + 1 + (uint32_t)(pfs_random_next(&random) >> 34);
	self->random = random;
}

static struct pfs_actor partial_order_choose(struct pfs_scheduler *scheduler,
					     struct pfs_machine *machine)
{
	struct pfs_partial_order *self = (struct pfs_partial_order *)scheduler;
	return highest(machine, self->priority, &self->random);
}

static bool only_reads(const struct pfs_sim_operation *operation)
{
	return operation->kind == PFS_SIM_LOAD || operation->kind == PFS_SIM_AWAIT;
}

static void partial_order_ran(struct pfs_scheduler *scheduler, struct pfs_machine *machine,
			      const struct pfs_step *step)
{
	struct pfs_partial_order *self = (struct pfs_partial_order *)scheduler;
	const struct pfs_sim_operation *ran = &step->operation;
	uint32_t count = pfs_machine_actor_count(machine);
	uint32_t last = pfs_actor_number(machine, machine->run.last_actor);
	uintptr_t first = (uintptr_t)ran->address;
	self->priority[last] = pfs_random_next(&self->random);
	for (uint32_t number = 0; number < count; number++) {
		struct pfs_actor actor = pfs_actor_of(machine, number);
		if (!pfs_machine_can_move(machine, actor))
			continue;
		struct pfs_sim_operation next = pfs_machine_pending(machine, actor);
		uintptr_t next_first = (uintptr_t)next.address;
		if (first < next_first + next.size_bytes && next_first < first + ran->size_bytes &&
		    (step->wrote || !only_reads(&next)))
			self->priority[number] = pfs_random_next(&self->random);
	}
}

void pfs_partial_order_init(struct pfs_partial_order *self, uint64_t seed)
{
	self->scheduler = (struct pfs_scheduler){ partial_order_choose, partial_order_ran };
	self->random = random_seed(seed);
	for (size_t i = 0; i < sizeof(self->priority) / sizeof(self->priority[0]); i++)
		self->priority[i] = pfs_random_next(&self->random);
}

static uint32_t weight_of(const struct pfs_weighted *self, struct pfs_machine *machine,
			  uint32_t number)
{
	if (!pfs_machine_can_move(machine, pfs_actor_of(machine, number)))
		return 0;
	return self->expected[number] > self->done[number]
		       ? self->expected[number] - self->done[number]
		       : 1;
}

static struct pfs_actor weighted_choose(struct pfs_scheduler *scheduler,
					struct pfs_machine *machine)
{
	struct pfs_weighted *self = (struct pfs_weighted *)scheduler;
	uint32_t count = pfs_machine_actor_count(machine), sum = 0, number = 0;
	if (!pfs_machine_any(machine))
		return PFS_NOBODY;
	for (uint32_t i = 0; i < count; i++)
		sum += weight_of(self, machine, i);
	for (uint32_t left = pfs_random_below(&self->random, sum);; number++) {
		uint32_t weight = weight_of(self, machine, number);
		if (left < weight)
			break;
		left -= weight;
	}
	self->done[number]++;
	return perhaps_older(&self->random, machine, pfs_actor_of(machine, number));
}

void pfs_weighted_init(struct pfs_weighted *self, uint64_t seed)
{
	self->scheduler = (struct pfs_scheduler){ .choose = weighted_choose };
	self->random = random_seed(seed);
	for (size_t i = 0; i < sizeof(self->done) / sizeof(self->done[0]); i++) {
		if (self->done[i] != 0)
			self->expected[i] = self->done[i];
		self->done[i] = 0;
	}
}

static struct pfs_actor given_choose(struct pfs_scheduler *scheduler, struct pfs_machine *machine)
{
	struct pfs_given *self = (struct pfs_given *)scheduler;
	while (self->at < self->count) {
		const struct pfs_segment *segment = &self->segments[self->at];
		struct pfs_actor actor = pfs_actor_of(machine, segment->actor);
		if (self->done < segment->steps && pfs_machine_can_run(machine, actor)) {
			self->done++;
			return actor;
		}
		self->at++;
		self->done = 0;
	}
	if (!pfs_actor_is_nobody(machine->run.last_actor) &&
	    pfs_machine_can_run(machine, machine->run.last_actor))
		return machine->run.last_actor;
	return pfs_machine_first_from(machine, 0);
}

void pfs_given_init(struct pfs_given *self, const struct pfs_segment *segments, uint32_t count)
{
	*self = (struct pfs_given){ { .choose = given_choose }, segments, count, 0, 0 };
}

uint32_t pfs_segments_of(const uint16_t *schedule, uint32_t steps, struct pfs_segment *segments,
			 uint32_t room)
{
	uint32_t count = 0;
	for (uint32_t step = 0; step < steps; step++) {
		if (count != 0 && segments[count - 1].actor == schedule[step]) {
			segments[count - 1].steps++;
			continue;
		}
		if (count == room)
			break;
		segments[count++] = (struct pfs_segment){ schedule[step], 1 };
	}
	return count;
}
