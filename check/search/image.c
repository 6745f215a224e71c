#include "check/search/image.h"

#include <stdlib.h>
#include <string.h>

#include "check/machine/heap.h"
#include "check/machine/model.h"
#include "check/search/search.h"
#include "check/search/states.h"

#define STACK_BYTES ((size_t)4096)  /* of a thread, from the top: its deepest call */
#define HEAP_MORE ((size_t)1 << 16) /* beyond what the set-up took */
#define PAGES_MORE 32u
#define CHUNK 8u /* words compared at a time */

static void add(struct pfs_image *self, void *at, size_t bytes, bool tells, uint32_t thread)
{
	uint32_t words = (uint32_t)((bytes + 7) / 8);
	if (self->region_count == PFS_IMAGE_REGIONS_MAX || (uintptr_t)at % 8 != 0) {
		self->refusal = "so many memory regions";
		return;
	}
	self->regions[self->region_count++] =
		(struct pfs_image_region){ at, self->word_count, words, words, tells, thread };
	self->word_count += words;
}

static char *stack_of(const struct pfs_vthread *thread)
{
	return thread->fiber.stack + thread->fiber.stack_bytes - STACK_BYTES;
}

static void add_thread(struct pfs_image *self, struct pfs_vthread *thread)
{
	add(self, thread, sizeof(*thread), false, PFS_THREAD_NONE);
	if (thread->buffer != NULL)
		add(self, thread->buffer, PFS_BUFFER_MAX * sizeof(*thread->buffer), false,
		    PFS_THREAD_NONE);
	add(self, stack_of(thread), STACK_BYTES, true, thread->id);
}

static uint32_t pages_of(const struct pfs_machine *machine)
{
	uint32_t limit = machine->memory.used * 2 + PAGES_MORE;
	return limit / 8 * 8;
}

static void add_memory(struct pfs_image *self)
{
	struct pfs_sim_memory *memory = &self->machine->memory;
	uint32_t limit = pages_of(self->machine);
	add(self, memory->region, limit * PFS_SIM_OS_PAGE, true, PFS_THREAD_NONE);
	add(self, memory->states, limit, true, PFS_THREAD_NONE);
	add(self, memory->nodes, limit * sizeof(*memory->nodes), true, PFS_THREAD_NONE);
	if (pfs_sim_memory_entries(memory) != NULL)
		add(self, pfs_sim_memory_entries(memory), limit * sizeof(void *), true,
		    PFS_THREAD_NONE);
	add(self, &memory->used, 8, true, PFS_THREAD_NONE);
	add(self, &memory->mapped, 8, true, PFS_THREAD_NONE);
	add(self, &memory->maps, 8, false, PFS_THREAD_NONE);
}

static void add_heap(struct pfs_image *self)
{
	struct pfs_heap_extent heap = pfs_heap_extent();
	add(self, heap.used, sizeof(*heap.used), true, PFS_THREAD_NONE);
	add(self, heap.lists, heap.lists_bytes, true, PFS_THREAD_NONE);
	add(self, heap.region, (*heap.used + HEAP_MORE) / 8 * 8, true, PFS_THREAD_NONE);
}

/* What the checks remember. */
static void add_checks(struct pfs_image *self)
{
	struct pfs_machine_snapshot places = { .bytes = NULL };
	size_t at = 0, bytes;
	void *place;
	self->scenario->keep(&places, self->scenario->context);
	while (pfs_snapshot_part(&places, &at, &place, &bytes))
		add(self, place, bytes, true, PFS_THREAD_NONE);
	if (places.no_memory)
		self->refusal = "memory that is not mapped";
	pfs_snapshot_fini(&places);
}

static struct pfs_image_region *region_of(struct pfs_image *self, const void *at)
{
	for (uint32_t i = 0; i < self->region_count; i++) {
		if (self->regions[i].at == at)
			return &self->regions[i];
	}
	return NULL;
}

/* Memory after the used part is not compared. */
static void widen(struct pfs_image *self, const void *at, size_t used_bytes)
{
	struct pfs_image_region *region = region_of(self, at);
	uint32_t words = (uint32_t)((used_bytes + 7) / 8);
	if (words > region->words) {
		self->refusal = "so much memory allocated during the search";
		return;
	}
	if (words > region->live)
		region->live = words;
}

static void widen_all(struct pfs_image *self)
{
	struct pfs_heap_extent heap = pfs_heap_extent();
	widen(self, self->machine->memory.region, self->machine->memory.used * PFS_SIM_OS_PAGE);
	widen(self, heap.region, *heap.used);
}

static uint64_t word_at(const char *at)
{
	uint64_t word;
	memcpy(&word, at, sizeof(word)); /* of any type */
	return word;
}

static uint64_t form_of(const struct pfs_image *self, const void *place, uint64_t word)
{
	const struct pfs_normal *normal = self->scenario->normal;
	return normal != NULL ? normal->of(self->scenario->context, place, word) : word;
}

static void note_base(struct pfs_image *self, const struct pfs_image_region *region)
{
	const struct pfs_normal *normal = self->scenario->normal;
	for (uint32_t i = 0; i < region->words; i++) {
		uint32_t word = region->first + i;
		const char *place = region->at + i * sizeof(uint64_t);
		self->base[word] = word_at(place);
		self->told[word] = region->tells ? form_of(self, place, self->base[word]) : 0;
		if (!region->tells || normal == NULL ||
		    !normal->is_relative(self->scenario->context, place, self->base[word]))
			continue;
		self->relative[word] = true;
		self->relatives[self->relative_count++] = word;
	}
}

static bool make_room(struct pfs_image *self)
{
	self->base = calloc(self->word_count, sizeof(*self->base));
	self->told = calloc(self->word_count, sizeof(*self->told));
	self->relative = calloc(self->word_count, sizeof(*self->relative));
	self->relatives = calloc(self->word_count, sizeof(*self->relatives));
	self->where = calloc(self->word_count, sizeof(*self->where));
	self->what = calloc(self->word_count, sizeof(*self->what));
	return self->base != NULL && self->told != NULL && self->relative != NULL &&
	       self->relatives != NULL && self->where != NULL && self->what != NULL;
}

static void begin_normal(const struct pfs_image *self)
{
	if (self->scenario->normal != NULL)
		self->scenario->normal->begin(self->scenario->context);
}

bool pfs_image_begin(struct pfs_image *self, struct pfs_machine *machine,
		     const struct pfs_scenario *scenario)
{
	*self = (struct pfs_image){ .machine = machine, .scenario = scenario };
	for (uint32_t id = 0; id < machine->thread_count; id++)
		add_thread(self, machine->threads[id]);
	add_memory(self);
	add_heap(self);
	add_checks(self);
	if (self->refusal == NULL && !make_room(self))
		self->refusal = "memory that is not mapped";
	if (self->refusal != NULL)
		return false;
	region_of(self, machine->memory.region)->live = 0;
	region_of(self, pfs_heap_extent().region)->live = 0;
	widen_all(self);
	for (uint32_t id = 0; id < machine->thread_count; id++)
		pfs_image_settle(self, id);
	begin_normal(self);
	for (uint32_t i = 0; i < self->region_count; i++)
		note_base(self, &self->regions[i]);
	return true;
}

void pfs_image_fini(struct pfs_image *self)
{
	free(self->base);
	free(self->told);
	free(self->relative);
	free(self->relatives);
	free(self->where);
	free(self->what);
}

void pfs_image_settle(struct pfs_image *self, uint32_t thread)
{
	const struct pfs_vthread *own = self->machine->threads[thread];
	char *stack = stack_of(own), *pointer = own->fiber.stack_pointer;
	if (own->state == PFS_VTHREAD_FINISHED)
		pointer = stack + STACK_BYTES;
	if (pointer < stack + STACK_BYTES / 8)
		self->refusal = "such deep stacks";
	else
		memset(stack, 0, (size_t)(pointer - stack));
}

static void compare_region(struct pfs_image *self, const struct pfs_image_region *region)
{
	const uint64_t *base = self->base + region->first;
	for (uint32_t i = 0; i < region->live; i += CHUNK) {
		uint32_t count = region->live - i < CHUNK ? region->live - i : CHUNK;
		const char *at = region->at + i * sizeof(uint64_t);
		if (memcmp(at, base + i, count * sizeof(uint64_t)) == 0)
			continue;
		for (uint32_t k = 0; k < count; k++) {
			uint64_t word = word_at(at + k * sizeof(uint64_t));
			if (word == base[i + k])
				continue;
			self->where[self->different] = region->first + i + k;
			self->what[self->different++] = word;
		}
	}
}

bool pfs_image_compare(struct pfs_image *self)
{
	self->different = 0;
	widen_all(self);
	for (uint32_t i = 0; self->refusal == NULL && i < self->region_count; i++)
		compare_region(self, &self->regions[i]);
	return self->refusal == NULL;
}

/* Where a word is. Words are asked for in ascending order, the first with regions[0]. */
static char *place_of(const struct pfs_image_region **region, uint32_t word)
{
	while (word - (*region)->first >= (*region)->words)
		(*region)++;
	return (*region)->at + (word - (*region)->first) * sizeof(uint64_t);
}

/* ---- telling states apart ---- */

static uint64_t part_of(const struct pfs_image *self, const char *place, uint32_t word,
			uint64_t value)
{
	uint64_t form = form_of(self, place, value);
	return form != self->told[word] ? pfs_states_mix(word, form) : 0;
}

/* The words that were written, except those whose form depends on others. */
static uint64_t sum_of_different(const struct pfs_image *self)
{
	const struct pfs_image_region *region = self->regions;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < self->different; i++) {
		uint32_t word = self->where[i];
		const char *place = place_of(&region, word);
		if (region->tells && !self->relative[word])
			sum += part_of(self, place, word, self->what[i]);
	}
	return sum;
}

static uint64_t sum_of_relatives(const struct pfs_image *self)
{
	const struct pfs_image_region *region = self->regions;
	uint64_t sum = 0;
	for (uint32_t i = 0; i < self->relative_count; i++) {
		const char *place = place_of(&region, self->relatives[i]);
		sum += part_of(self, place, self->relatives[i], word_at(place));
	}
	return sum;
}

static uint64_t sum_of_thread(const struct pfs_image *self, const struct pfs_vthread *thread)
{
	uint64_t sum = pfs_states_mix(thread->state, thread->buffer_count);
	if (thread->state != PFS_VTHREAD_FINISHED)
		sum = pfs_states_mix(sum, (uintptr_t)thread->fiber.stack_pointer);
	for (uint32_t i = 0; i < thread->buffer_count; i++) {
		const struct pfs_buffered *store =
			&thread->buffer[(thread->buffer_first + i) % PFS_BUFFER_MAX];
		uint64_t form = form_of(self, store->address, store->value);
		sum = pfs_states_mix(pfs_states_mix(sum, (uintptr_t)store->address), form);
	}
	return sum;
}

uint64_t pfs_image_hash(const struct pfs_image *self)
{
	begin_normal(self);
	uint64_t sum = sum_of_different(self) + sum_of_relatives(self);
	for (uint32_t id = 0; id < self->machine->thread_count; id++)
		sum = pfs_states_mix(sum, sum_of_thread(self, self->machine->threads[id]));
	return sum != 0 ? sum : 1;
}

/* ---- as bytes ---- */

/* Runs of words that differ: the distance from the last run, the number of words, and the words,
 * each as what changed of it. Numbers have 7 bits a byte, the least significant first. */
static char *put_number(char *at, uint64_t number)
{
	for (; number >= 128; number >>= 7)
		*at++ = (char)(number | 128);
	*at++ = (char)number;
	return at;
}

static const char *get_number(const char *at, uint64_t *number)
{
	uint32_t shift = 0;
	*number = 0;
	for (; (*at & 128) != 0; shift += 7)
		*number |= (uint64_t)(*at++ & 127) << shift;
	*number |= (uint64_t)(*at++ & 127) << shift;
	return at;
}

size_t pfs_image_bytes_max(const struct pfs_image *self)
{
	return 16 + (size_t)self->different * 20;
}

size_t pfs_image_encode(const struct pfs_image *self, char *bytes)
{
	char *at = put_number(bytes, self->different);
	uint32_t next = 0;
	for (uint32_t i = 0; i < self->different;) {
		uint32_t count = 1;
		while (i + count < self->different &&
		       self->where[i + count] == self->where[i] + count)
			count++;
		at = put_number(put_number(at, self->where[i] - next), count);
		for (uint32_t k = i; k < i + count; k++)
			at = put_number(at, self->what[k] ^ self->base[self->where[k]]);
		next = self->where[i] + count;
		i += count;
	}
	return (size_t)(at - bytes);
}

static void decode(struct pfs_image *self, const char *at)
{
	uint64_t left, distance, count, changed;
	uint32_t word = 0;
	at = get_number(at, &left);
	self->different = 0;
	while (self->different < left) {
		at = get_number(get_number(at, &distance), &count);
		word += (uint32_t)distance;
		for (; count != 0; count--, word++) {
			at = get_number(at, &changed);
			self->where[self->different] = word;
			self->what[self->different++] = changed ^ self->base[word];
		}
	}
}

/* base: they become what they were when the search began. */
static void write_all(struct pfs_image *self, bool base)
{
	const struct pfs_image_region *region = self->regions;
	for (uint32_t i = 0; i < self->different; i++) {
		uint32_t word = self->where[i];
		memcpy(place_of(&region, word), base ? &self->base[word] : &self->what[i],
		       sizeof(uint64_t));
	}
}

void pfs_image_restore(struct pfs_image *self, const char *bytes)
{
	write_all(self, true);
	decode(self, bytes);
	write_all(self, false);
}
