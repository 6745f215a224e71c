/*
 * load_server.c - a server whose requests are those of a recorded program: server.
 *
 * At each step a thread allocates an object and frees those that are due. Size and lifetime, in
 * allocations, are drawn together from a recorded trace. After each round new threads take over,
 * each with the objects of another thread, so objects are freed by other threads than allocated
 * them.
 */
#include "load.h"
#include "recorded.h"

#define LIFE_MAX 16384u /* steps; a power of 2; the lifetime of what outlives the trace */
#define ROUNDS 5u

struct object {
	void *block;
	uint32_t size;
	uint32_t next; /* the next object that dies at the same step, from 1; 0: none */
};

/* Objects by the step at which they die. */
struct wheel {
	uint32_t due[LIFE_MAX];
	uint32_t free; /* unused objects, from 1 */
	struct object objects[LIFE_MAX + 1];
};

struct life {
	uint32_t size, steps;
};

struct part {
	struct wheel *wheel;
	const struct life *lives;
	uint32_t life_count;
	uint64_t steps, now, state;
};

static void free_due(struct wheel *self, uint32_t slot)
{
	for (uint32_t at = self->due[slot]; at != 0;) {
		struct object *object = &self->objects[at];
		uint32_t next = object->next;
		load_give(object->block, object->size);
		object->next = self->free;
		self->free = at;
		at = next;
	}
	self->due[slot] = 0;
}

static void *serve(void *opaque)
{
	struct part *self = opaque;
	struct wheel *wheel = self->wheel;

	for (uint64_t end = self->now + self->steps; self->now != end; self->now++) {
		const struct life *life = &self->lives[load_below(&self->state, self->life_count)];
		free_due(wheel, (uint32_t)(self->now % LIFE_MAX));
		uint32_t at = wheel->free, slot = (uint32_t)((self->now + life->steps) % LIFE_MAX);
		struct object *object = &wheel->objects[at];
		wheel->free = object->next;
		*object = (struct object){ load_take(life->size), life->size, wheel->due[slot] };
		wheel->due[slot] = at;
	}
	return NULL;
}

/* Lifetimes in allocations: about every second event is an allocation. */
static struct life *lives_of(const struct recorded *recorded)
{
	struct life *lives = load_map(recorded->object_count * sizeof(*lives));

	for (uint32_t i = 0; i < recorded->object_count; i++) {
		const struct recorded_object *object = &recorded->objects[i];
		uint32_t steps = object->dies == RECORDED_NONE
					 ? LIFE_MAX
					 : (object->dies - object->born) / 2 + 1;
		lives[i] = (struct life){ object->size, steps < LIFE_MAX ? steps : LIFE_MAX - 1 };
	}
	return lives;
}

static void run(const struct load_options *options)
{
	struct recorded recorded;
	uint32_t threads = options->threads;

	recorded_read(&recorded, options->trace);
	struct life *lives = lives_of(&recorded);
	recorded_drop(&recorded);
	struct part *parts = load_map(threads * sizeof(*parts));
	struct wheel *wheels = load_map(threads * sizeof(*wheels));
	for (uint32_t i = 0; i < threads; i++)
		for (uint32_t at = LIFE_MAX; at != 0; at--) {
			wheels[i].objects[at].next = wheels[i].free;
			wheels[i].free = at;
		}
	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint64_t steps = options->count / ROUNDS + 1;
		for (uint32_t i = 0; i < threads; i++)
			parts[i] = (struct part){
				.wheel = &wheels[(i + round) % threads],
				.lives = lives,
				.life_count = recorded.object_count,
				.steps = steps,
				.now = round * steps,
				.state = options->seed + round * threads + i,
			};
		load_threads(threads, serve, parts, sizeof(*parts));
	}
	for (uint32_t i = 0; i < threads; i++)
		for (uint32_t slot = 0; slot < LIFE_MAX; slot++)
			free_due(&wheels[i], slot);
	load_unmap(wheels, threads * sizeof(*wheels));
	load_settle(options);
}

const struct load load_server = {
	"server", "sizes and lives of a --trace, threads that hand over; objects a thread",
	4,        500000,
	run,
};
