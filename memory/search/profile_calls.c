/*
 * profile_calls.c - the look-ups of virtual threads: a letter for each key.
 */
#include "memory/search/profile_world.h"

struct pfs_profile_world pfs_profile_world;

/* a and b differ only in the record; c also in the upper half; d also in the slot, which is next.
 */
/* clang-format off */
static const uint64_t hashes[PFS_PROFILE_KEYS] = {
	UINT64_C(5) << PFS_INTERN_HALF | 6, UINT64_C(5) << PFS_INTERN_HALF | 6,
	UINT64_C(4) << PFS_INTERN_HALF | 6, UINT64_C(5) << PFS_INTERN_HALF | 7,
};
/* clang-format on */

/* ---- the oracle, which the search does not see ---- */

#define ASIDE PFS_SIM_UNSEEN __attribute__((noinline)) static

ASIDE uint32_t note_made(struct pfs_profile_actor *actor)
{
	struct pfs_profile_world *self = &pfs_profile_world;
	if (actor->made == self->records_each)
		return 0;
	self->oracle.made++;
	self->made++;
	return actor->id * PFS_PROFILE_RECORDS + actor->made++ + 1;
}

ASIDE void note_dropped(uint32_t reference)
{
	pfs_profile_world.oracle.dropped[reference]++;
	pfs_profile_world.dropped++;
}

ASIDE void note_found(const struct pfs_profile_actor *actor, uint32_t key, uint32_t reference)
{
	struct pfs_profile_world *self = &pfs_profile_world;
	uint32_t *known = &self->oracle.references[key];
	if (reference == 0) {
		PFS_MACHINE_CHECK(actor->made == self->records_each,
				  "no record although there is room");
		return;
	}
	PFS_MACHINE_CHECK(*known == 0 || *known == reference, "two records of one key");
	*known = reference;
	self->found++;
}

/* ---- calls ---- */

struct wanted {
	struct pfs_profile_actor *actor;
	uint32_t key;
};

static bool is_equal(void *context, uint32_t reference)
{
	const struct wanted *wanted = context;
	PFS_MACHINE_CHECK(reference != 0 && reference <= PFS_PROFILE_RECORDS_ALL,
			  "%u is not a reference", reference);
	return pfs_profile_world.records[reference] == wanted->key + 1;
}

static uint32_t make(void *context)
{
	struct pfs_profile_world *self = &pfs_profile_world;
	const struct wanted *wanted = context;
	uint32_t reference = note_made(wanted->actor);
	if (reference != 0)
		self->records[reference] = wanted->key + 1;
	return reference;
}

static void drop(void *context, uint32_t reference)
{
	struct pfs_profile_world *self = &pfs_profile_world;
	(void)context;
	self->records[reference] = 0; /* no thread has seen it; otherwise this is a race */
	note_dropped(reference);
}

static const struct pfs_intern_ops ops = { is_equal, make, drop };

static void look(struct pfs_profile_actor *actor, uint32_t key)
{
	struct pfs_profile_world *self = &pfs_profile_world;
	struct pfs_intern table = { self->slots, PFS_PROFILE_SLOTS - 1 };
	struct wanted wanted = { actor, key };
	uint32_t reference = pfs_intern_with(&table, hashes[key], &ops, &wanted);
	if (reference != 0)
		PFS_MACHINE_CHECK(self->records[reference] == key + 1, "the record of another key");
	note_found(actor, key, reference);
}

void pfs_profile_calls_body(void *opaque)
{
	struct pfs_profile_actor *actor = opaque;
	for (const char *call = actor->calls; *call != '\0'; call++) {
		PFS_MACHINE_CHECK(*call >= 'a' && *call < 'a' + (int)PFS_PROFILE_KEYS,
				  "'%c' is not a call", *call);
		look(actor, (uint32_t)(*call - 'a'));
	}
}

/* Each record that was made is in one slot, or was dropped once. */
void pfs_profile_check(struct pfs_profile_world *self)
{
	uint32_t taken = 0, dropped = 0;
	for (uint32_t at = 0; at < PFS_PROFILE_SLOTS; at++) {
		uint64_t slot = pfs_load_relaxed(&self->slots[at]); /* relaxed: at rest */
		if (slot == 0)
			continue;
		taken++;
		PFS_MACHINE_CHECK(self->oracle.dropped[(uint32_t)slot] == 0,
				  "a record that was dropped is in the table");
	}
	for (uint32_t i = 0; i <= PFS_PROFILE_RECORDS_ALL; i++) {
		PFS_MACHINE_CHECK(self->oracle.dropped[i] <= 1, "a record is dropped twice");
		dropped += self->oracle.dropped[i];
	}
	PFS_MACHINE_CHECK(taken + dropped == self->oracle.made,
			  "%u records made, %u in the table, %u dropped", self->oracle.made, taken,
			  dropped);
}
