#include "check/search/wake.h"

#include <stdlib.h>

#include "check/machine/actors.h"
#include "check/machine/grow.h"
#include "check/search/dpor_node.h"

/* ---- steps of trees ---- */

static struct pfs_wake *make(struct pfs_wake_trees *self, const struct pfs_wake_item *item)
{
	struct pfs_wake *step = self->unused;
	if (step != NULL)
		self->unused = step->next;
	else
		step = malloc(sizeof(*step));
	if (step == NULL)
		return NULL;
	self->used++;
	*step = (struct pfs_wake){ .does = *item->does, .actor = item->actor };
	return step;
}

static void give(struct pfs_wake_trees *self, struct pfs_wake *step)
{
	step->next = self->unused;
	self->unused = step;
	self->used--;
}

/* Without recursion, because a branch may be long. What follows a step is dropped before its
 * siblings. */
void pfs_wake_drop(struct pfs_wake_trees *self, struct pfs_wake *first)
{
	while (first != NULL) {
		struct pfs_wake *step = first, *last = step->behind;
		first = step->next;
		if (last != NULL) {
			struct pfs_wake *behind = last;
			while (last->next != NULL)
				last = last->next;
			last->next = first;
			first = behind;
		}
		give(self, step);
	}
}

void pfs_wake_fini(struct pfs_wake_trees *self)
{
	pfs_wake_drop(self, self->follow);
	self->follow = NULL;
	while (self->unused != NULL) {
		struct pfs_wake *step = self->unused;
		self->unused = step->next;
		free(step);
	}
	free(self->items);
	free(self->races);
}

/* ---- what must go first ---- */

static bool add_item(struct pfs_wake_trees *self, const struct pfs_wake_item *item)
{
	if (!pfs_grow((void **)&self->items, &self->room, self->count + 1, sizeof(*self->items)))
		return false;
	self->items[self->count++] = *item;
	return true;
}

/* All that does not come after step j, and then step n. */
static bool collect(struct pfs_dpor *self, const struct pfs_wake_race *race)
{
	struct pfs_wake_trees *trees = &self->wake;
	const struct pfs_dpor_node *last = &self->nodes[race->n];
	trees->count = 0;
	for (uint32_t k = race->j + 1; k < self->at; k++) {
		const struct pfs_dpor_node *step = &self->nodes[k];
		if (pfs_dpor_is_known(step->clock, &self->nodes[race->j]))
			continue;
		if (!add_item(trees, &(struct pfs_wake_item){ &step->did, step->clock, step->actor,
							      step->index, false }))
			return false;
	}
	return add_item(trees,
			&(struct pfs_wake_item){ &last->did, race->base, last->actor, 0, false });
}

static bool comes_before(const struct pfs_wake_trees *self, const struct pfs_wake_item *one,
			 uint32_t other)
{
	const struct pfs_wake_item *item = &self->items[other];
	if (item->clock[one->actor] >= one->index)
		return true;
	return other + 1 == self->count &&
	       (one->actor == item->actor || pfs_effects_depend(one->does, item->does));
}

static bool is_first(const struct pfs_wake_trees *self, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++) {
		if (!self->items[i].gone && comes_before(self, &self->items[i], at))
			return false;
	}
	return true;
}

/* For these kinds it is known which others a step depends on, wherever it is made. */
static bool is_simple(const struct pfs_effect *effect)
{
	uint8_t kind = effect->ran.kind;
	return !effect->buffered && (kind == PFS_SIM_NOTE || pfs_effect_chooses(effect)) &&
	       kind != PFS_SIM_AWAIT && kind != PFS_SIM_CAS;
}

/* Could it equally be made before all that is left, and after? */
static bool is_apart(const struct pfs_wake_trees *self, const struct pfs_effect *does)
{
	struct pfs_effect one = *does;
	if (!is_simple(does))
		return false;
	one.wrote |= one.ran.kind != PFS_SIM_LOAD;
	for (uint32_t i = 0; i < self->count; i++) {
		const struct pfs_wake_item *item = &self->items[i];
		if (!item->gone && (item->does->thread == one.thread || !is_simple(item->does) ||
				    pfs_effects_depend(item->does, &one)))
			return false;
	}
	return true;
}

/* Could what is left begin with the actor, which does this if it is not in there? *at: its step, or
 * count. */
static bool could_begin(const struct pfs_wake_trees *self, uint32_t actor,
			const struct pfs_effect *does, uint32_t *at)
{
	for (*at = 0; *at < self->count; (*at)++) {
		if (self->items[*at].actor == actor && !self->items[*at].gone)
			return is_first(self, *at);
	}
	return is_apart(self, does);
}

/* What an actor does from node j on, which has not moved then. */
static struct pfs_effect next_of(const struct pfs_dpor *self, const struct pfs_machine *machine,
				 uint32_t actor, uint32_t j)
{
	for (uint32_t k = j; k < self->at; k++) {
		if (self->nodes[k].actor == actor)
			return self->nodes[k].did;
	}
	return pfs_effect_pending(machine, pfs_actor_of(machine, actor));
}

/* Was it, or will it be, in what is tried here without a branch? */
static bool is_covered(const struct pfs_dpor *self, const struct pfs_machine *machine, uint32_t j)
{
	const struct pfs_dpor_node *node = &self->nodes[j];
	uint32_t actors = (uint32_t)node->sleep | node->backtrack, at;
	actors &= node->enabled & ~pfs_dpor_bit(node->actor);
	for (const struct pfs_wake *branch = node->wake; branch != NULL; branch = branch->next)
		actors &= ~pfs_dpor_bit(branch->actor);
	for (; actors != 0; actors &= actors - 1) {
		uint32_t actor = (uint32_t)__builtin_ctz(actors);
		const struct pfs_effect next = next_of(self, machine, actor, j);
		if (could_begin(&self->wake, actor, &next, &at))
			return true;
	}
	return false;
}

/* ---- branches ---- */

/* false: no memory for the first step; later ones may be dropped. */
static bool put_rest(struct pfs_wake_trees *self, struct pfs_wake **place)
{
	struct pfs_wake *before = NULL;
	for (uint32_t i = 0; i < self->count; i++) {
		if (self->items[i].gone)
			continue;
		*place = make(self, &self->items[i]);
		if (*place == NULL)
			return before != NULL;
		before = *place;
		place = &before->behind;
	}
	return true;
}

/* Down along what it could begin with; NULL: a branch contains all of it, or enough. */
static struct pfs_wake **find_place(struct pfs_wake_trees *self, struct pfs_wake **place)
{
	while (*place != NULL) {
		uint32_t at;
		if (!could_begin(self, (*place)->actor, &(*place)->does, &at)) {
			place = &(*place)->next;
			continue;
		}
		if (at != self->count)
			self->items[at].gone = true;
		if ((*place)->behind == NULL)
			return NULL;
		place = &(*place)->behind;
	}
	return place;
}

static void note_branches(struct pfs_dpor_node *node)
{
	for (const struct pfs_wake *branch = node->wake; branch != NULL; branch = branch->next)
		node->backtrack |= pfs_dpor_bit(branch->actor) & node->enabled;
}

void pfs_wake_note(struct pfs_wake_trees *self, const struct pfs_effect *step)
{
	/* One that left the value unchanged would have written at another place, as a
	 * compare-and-swap. */
	self->is_strict |= !is_simple(step) || (pfs_kind_is_rmw(step->ran.kind) && !step->wrote);
}

bool pfs_wake_keep(struct pfs_wake_trees *self, uint32_t j, uint32_t n, const uint16_t *base)
{
	if (!self->is_on || self->is_strict)
		return false;
	self->is_strict = !pfs_grow((void **)&self->races, &self->race_room, self->race_count + 1,
				    sizeof(*self->races));
	if (self->is_strict)
		return false;
	struct pfs_wake_race *race = &self->races[self->race_count++];
	race->j = j;
	race->n = n;
	memcpy(race->base, base, sizeof(race->base));
	return true;
}

bool pfs_wake_add(struct pfs_dpor *self, const struct pfs_machine *machine,
		  const struct pfs_wake_race *race)
{
	struct pfs_dpor_node *node = &self->nodes[race->j];
	struct pfs_wake_trees *trees = &self->wake;
	trees->is_strict |= trees->used + (self->at - race->j) > PFS_WAKE_STEPS_MAX ||
			    !collect(self, race) ||
			    (node->enabled & pfs_dpor_bit(trees->items[0].actor)) == 0;
	if (trees->is_strict)
		return false;
	if (is_covered(self, machine, race->j))
		return true;
	struct pfs_wake **place = find_place(trees, &node->wake);
	trees->is_strict = place != NULL && !put_rest(trees, place);
	note_branches(node);
	return !trees->is_strict;
}

uint32_t pfs_wake_choose(struct pfs_wake_trees *self, struct pfs_dpor_node *node, uint64_t open)
{
	pfs_wake_drop(self, self->follow);
	self->follow = NULL;
	while (node->wake != NULL) {
		struct pfs_wake *branch = node->wake;
		uint32_t actor = branch->actor;
		bool can = (open & pfs_dpor_option_bit(actor)) != 0; /* otherwise it sleeps */
		self->is_lost |= (node->enabled & pfs_dpor_bit(actor)) == 0;
		node->wake = branch->next;
		if (can)
			self->follow = branch->behind;
		else
			pfs_wake_drop(self, branch->behind);
		give(self, branch);
		if (can)
			return actor;
	}
	return PFS_ACTOR_NONE;
}

void pfs_wake_arrive(struct pfs_wake_trees *self, struct pfs_dpor_node *node)
{
	node->wake = self->follow;
	self->follow = NULL;
	note_branches(node);
}
