#include "check/search/explore.h"

#include <stdlib.h>
#include <string.h>

#include "check/machine/actors.h"
#include "check/machine/depends.h"
#include "check/machine/grow.h"

/* One choice. Bits are actors. */
struct pfs_explore_node {
	uint64_t open;  /* still to be tried from here */
	uint64_t sleep; /* not to be tried: explored from a sibling */
	uint32_t chosen;
	uint32_t preemptions;  /* on the path, this choice included */
	struct pfs_effect did; /* the chosen step, once it ran */
};

static uint64_t bit(uint32_t actor)
{
	return UINT64_C(1) << actor;
}

/* Does the order of the node's step and the actor's next one matter? A choice of a thread excludes
 * its others. */
static bool depends(const struct pfs_machine *machine, const struct pfs_explore_node *node,
		    uint32_t actor)
{
	struct pfs_effect next = pfs_effect_pending(machine, pfs_actor_of(machine, actor));
	uint32_t count = pfs_machine_actor_count(machine);
	bool own = pfs_actor_first_of(count, actor) == pfs_actor_first_of(count, node->chosen);
	return own || pfs_effects_depend(&next, &node->did);
}

/* A write that does not come last in modification order. */
static bool is_insertion(const struct pfs_machine *machine, struct pfs_actor actor)
{
	return actor.choice != 0 && pfs_effect_pending(machine, actor).wrote;
}

static uint64_t enabled_of(struct pfs_explore *self, struct pfs_machine *machine)
{
	uint64_t enabled = 0;
	uint32_t count = pfs_machine_actor_limit(machine);
	self->left_out |= count > PFS_EXPLORE_ACTORS_MAX ? PFS_LEFT_CHOICES : 0;
	self->left_out |= machine->run.cut ? PFS_LEFT_READS : 0;
	for (uint32_t number = 0; number < count && number < PFS_EXPLORE_ACTORS_MAX; number++) {
		struct pfs_actor actor = pfs_actor_of(machine, number);
		if (!pfs_machine_can_run(machine, actor))
			continue;
		if (self->append_only && is_insertion(machine, actor))
			self->bounded = true;
		else
			enabled |= bit(number);
	}
	return enabled;
}

/* The actors that sleep at a new node: the parent's sleepers and tried siblings that its operation
 * does not wake. */
static uint64_t sleepers(const struct pfs_explore *self, struct pfs_machine *machine)
{
	uint64_t sleep = 0;
	if (self->at == 0 || self->naive || self->preemption_max != PFS_PREEMPTIONS_ANY)
		return 0;
	const struct pfs_explore_node *parent = &self->nodes[self->at - 1];
	for (uint64_t rest = parent->sleep; rest != 0; rest &= rest - 1) {
		uint32_t actor = (uint32_t)__builtin_ctzll(rest);
		if (!depends(machine, parent, actor))
			sleep |= bit(actor);
	}
	return sleep;
}

/* The thread that ran last, whatever was drained since; or PFS_THREAD_NONE. */
static uint32_t last_thread(const struct pfs_machine *machine)
{
	for (uint32_t step = machine->run.step_count; step-- > 0;) {
		struct pfs_actor actor = pfs_actor_of(machine, machine->run.schedule[step]);
		if (actor.kind == PFS_ACTOR_STEP)
			return actor.thread;
	}
	return PFS_THREAD_NONE;
}

/* Could the thread that ran last go on, and does it not yield? */
static bool goes_on(const struct pfs_machine *machine)
{
	uint32_t last = last_thread(machine);
	return last != PFS_THREAD_NONE && machine->threads[last]->pending.kind != PFS_SIM_YIELD &&
	       pfs_machine_can_move(machine, pfs_actor_step(last));
}

/* Is choosing actor a preemption of the thread that ran last? Irrelevant without a bound. */
static bool preempts(const struct pfs_explore *self, const struct pfs_machine *machine,
		     uint32_t actor)
{
	if (self->preemption_max == PFS_PREEMPTIONS_ANY)
		return false;
	struct pfs_actor next = pfs_actor_of(machine, actor);
	return next.kind == PFS_ACTOR_STEP && last_thread(machine) != next.thread &&
	       goes_on(machine);
}

/* The last actor first: fewer switches in the first failing schedule. */
static uint32_t prefer(const struct pfs_machine *machine, uint64_t set)
{
	uint32_t last = pfs_actor_number(machine, machine->run.last_actor);
	if (last < PFS_EXPLORE_ACTORS_MAX && (set & bit(last)) != 0)
		return last;
	return (uint32_t)__builtin_ctzll(set);
}

/* The actors that are no preemption: the last thread, with all its choices; and drains. */
static uint64_t unbounded(const struct pfs_machine *machine)
{
	uint64_t set = 0;
	uint32_t last = last_thread(machine);
	for (uint32_t actor = 0; actor < PFS_EXPLORE_ACTORS_MAX; actor++) {
		struct pfs_actor one = pfs_actor_of(machine, actor);
		if (one.kind == PFS_ACTOR_DRAIN || one.thread == last)
			set |= bit(actor);
	}
	return set;
}

static bool make_room(struct pfs_explore *self)
{
	return pfs_grow((void **)&self->nodes, &self->room, self->depth + 1, sizeof(*self->nodes));
}

static struct pfs_actor choose_new(struct pfs_explore *self, struct pfs_machine *machine)
{
	uint64_t enabled = enabled_of(self, machine);
	uint64_t sleep = sleepers(self, machine);
	uint64_t open = enabled & ~sleep;
	uint32_t preemptions = 0;
	if (enabled == 0)
		return PFS_NOBODY;
	if (self->at != 0)
		preemptions = self->nodes[self->at - 1].preemptions;
	if (self->preemption_max != PFS_PREEMPTIONS_ANY && preemptions >= self->preemption_max &&
	    goes_on(machine)) {
		self->bounded |= (open & ~unbounded(machine)) != 0;
		open &= unbounded(machine);
	}
	if (open == 0)
		self->redundant = true;
	if (self->redundant || !make_room(self)) {
		self->no_memory |= !self->redundant;
		return pfs_actor_of(machine, prefer(machine, enabled));
	}
	uint32_t chosen = prefer(machine, open);
	self->nodes[self->depth++] = (struct pfs_explore_node){
		.open = open & ~bit(chosen),
		.sleep = sleep,
		.chosen = chosen,
		.preemptions = preemptions + (preempts(self, machine, chosen) ? 1u : 0u)
	};
	self->at++;
	return pfs_actor_of(machine, chosen);
}

static struct pfs_actor choose(struct pfs_scheduler *scheduler, struct pfs_machine *machine)
{
	struct pfs_explore *self = (struct pfs_explore *)scheduler;
	if (self->at >= self->depth || self->redundant)
		return choose_new(self, machine);
	struct pfs_explore_node *node = &self->nodes[self->at];
	uint32_t before = self->at != 0 ? self->nodes[self->at - 1].preemptions : 0;
	node->preemptions = before + (preempts(self, machine, node->chosen) ? 1u : 0u);
	self->at++;
	return pfs_actor_of(machine, node->chosen);
}

static void ran(struct pfs_scheduler *scheduler, struct pfs_machine *machine,
		const struct pfs_step *step)
{
	struct pfs_explore *self = (struct pfs_explore *)scheduler;
	if (self->redundant || self->at == 0 || self->at > self->depth)
		return;
	pfs_effect_of(machine, step, &self->nodes[self->at - 1].did);
}

void pfs_explore_init(struct pfs_explore *self, uint32_t preemption_max)
{
	memset(self, 0, sizeof(*self));
	self->scheduler = (struct pfs_scheduler){ .choose = choose, .ran = ran };
	self->preemption_max = preemption_max;
}

void pfs_explore_fini(struct pfs_explore *self)
{
	free(self->nodes);
	self->nodes = NULL;
}

bool pfs_explore_next(struct pfs_explore *self)
{
	while (self->depth > self->root && self->nodes[self->depth - 1].open == 0)
		self->depth--;
	self->at = 0;
	self->redundant = false;
	if (self->depth == self->root)
		return false;
	struct pfs_explore_node *node = &self->nodes[self->depth - 1];
	node->sleep |= bit(node->chosen); /* explored: its siblings need not begin with it */
	node->chosen = (uint32_t)__builtin_ctzll(node->open);
	node->open &= node->open - 1;
	return true;
}

bool pfs_explore_take(struct pfs_explore *self, const struct pfs_part *part)
{
	while (self->depth < part->depth) {
		if (!make_room(self))
			return false;
		const struct pfs_part_node *from = &part->nodes[self->depth];
		self->nodes[self->depth++] = (struct pfs_explore_node){ .open = from->options,
									.sleep = from->sleep,
									.chosen = from->option };
	}
	self->root = part->root;
	return true;
}

static struct pfs_part *add_part(const struct pfs_explore *self, struct pfs_parts *parts,
				 uint32_t root, uint32_t depth)
{
	struct pfs_part *part = pfs_parts_add(parts, root, depth);
	for (uint32_t i = 0; part != NULL && i < depth; i++)
		part->nodes[i] = (struct pfs_part_node){ .options = self->nodes[i].open,
							 .sleep = self->nodes[i].sleep,
							 .option = self->nodes[i].chosen };
	return part;
}

bool pfs_explore_split(const struct pfs_explore *self, struct pfs_parts *parts)
{
	uint32_t at = self->root;
	while (at < self->depth && self->nodes[at].open == 0)
		at++;
	if (at == self->depth || add_part(self, parts, at + 1, self->depth) == NULL)
		return false;
	uint64_t sleep = self->nodes[at].sleep | bit(self->nodes[at].chosen);
	for (uint64_t rest = self->nodes[at].open; rest != 0; rest &= rest - 1) {
		struct pfs_part *part = add_part(self, parts, at + 1, at + 1);
		if (part == NULL)
			return false;
		part->nodes[at].option = (uint32_t)__builtin_ctzll(rest);
		part->nodes[at].sleep = sleep;
		sleep |= rest & (0u - rest);
	}
	return true;
}
