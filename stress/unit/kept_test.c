/*
 * kept_test.c - pages whose addresses stay: what a page that uses them again begins with, and what
 * the calls that run meanwhile may wait for.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "containers/container.h"
#include "containers/memory.h"
#include "stress/harness/fixture.h"

#define PAGES 4u
#define SLOTS 40u
#define CAPACITY (PAGES * SLOTS)
#define RECORD_BYTES 48u
#define WORD_OFFSET 40u
#define ROUNDS (PFS_SHORT ? 20u : 100u)
#define FORKS 8u

static uint32_t word_of(const struct pfs_fixture *it, const void *record)
{
	char *word = (char *)(uintptr_t)record + it->config.word_offset;
	return pfs_load_acquire((_Atomic(uint32_t) *)(void *)word); /* [L4] acquire: a test */
}

static void prepare(struct pfs_fixture *self, const struct pfs_case *at,
		    enum pfs_give_back give_back)
{
	pfs_fixture_prepare(self, at, PAGES, SLOTS);
	self->config.layout = PFS_LAYOUT_OWN_WORD;
	self->config.record_size_bytes = RECORD_BYTES;
	self->config.word_offset = at->layout == PFS_LAYOUT_SIDE_BY_SIDE ? WORD_OFFSET : 0;
	self->config.give_back = give_back;
}

static void empty_and_trim(struct pfs_fixture *self)
{
	pfs_fixture_empty(self, 0, CAPACITY);
	(void)pfs_reclaim_trim(self->thread);
	PFS_CHECK_IS(pfs_fixture_pages(self), 0);
}

/* ---- versions ---- */

#define TURNS 24u

/* All words that the test saw ALLOCATED, by address. */
struct seen {
	const void *record;
	uint32_t word;
};

static void check_is_new(struct seen *seen, uint32_t *count, const void *record, uint32_t word)
{
	for (uint32_t i = 0; i < *count; i++)
		PFS_CHECK(seen[i].record != record || seen[i].word != word);
	seen[(*count)++] = (struct seen){ record, word };
}

/* Every index is near the end of the versions, by another distance: they wrap around while pages
 * go from index to index. */
static void versions_wrap_around(const struct pfs_case *at)
{
	static struct seen seen[TURNS * CAPACITY];
	uint32_t by_index[CAPACITY];
	uint32_t count = 0;
	struct pfs_fixture it;
	prepare(&it, at, PFS_GIVE_BACK_MEMORY);
	pfs_fixture_set_up(&it);
	for (uint32_t page = 0; page < PAGES; page++)
		it.container->version_bases[page] = (uint32_t) - (int32_t)(page * 12);
	for (uint32_t i = 0; i < CAPACITY; i++)
		by_index[i] = it.container->version_bases[i / SLOTS];
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		pfs_fixture_fill(&it, (turn * 3 % PAGES + 1) * SLOTS);
		for (uint32_t i = 0; i < CAPACITY; i++) {
			if (it.records[i] == NULL)
				continue;
			uint32_t word = word_of(&it, it.records[i]);
			check_is_new(seen, &count, it.records[i], word);
			PFS_CHECK(word - by_index[i] < UINT32_MAX / 2);
			by_index[i] = word;
		}
		empty_and_trim(&it);
	}
	pfs_fixture_tear_down(&it);
}

/* ---- another index ---- */

/* Let the page of `from` be the only one that was kept, and the next one be that of index 0: a
 * reader in a section holds back the page that was there. */
static void move_page(struct pfs_fixture *it, uint32_t from)
{
	struct pfs_thread *reader = pfs_attach_or_fail(it->container);
	pfs_fixture_fill(it,
			 (from + 1) * SLOTS < it->config.record_max || it->config.record_max == 0
				 ? (from + 1) * SLOTS
				 : (uint32_t)it->config.record_max);
	pfs_fixture_empty(it, from * SLOTS, CAPACITY);
	(void)pfs_reclaim_trim(it->thread);
	PFS_CHECK_IS(pfs_fixture_pages(it), from);
	pfs_enter(reader);
	pfs_fixture_empty(it, 0, SLOTS);
	(void)pfs_reclaim_trim(it->thread);
	PFS_CHECK_IS(pfs_counts_of(it->container).pages_waiting, 1);
	pfs_fixture_fill(it, SLOTS);
	pfs_leave(reader);
	pfs_thread_detach(reader);
}

struct arrays {
	uint32_t room; /* records */
	uint64_t values[];
};

static bool come(void *context, struct pfs_page_view *view)
{
	size_t values = view->record_count * sizeof(uint64_t);
	struct arrays *arrays = view->arrays;
	(void)context;
	if (arrays == NULL)
		arrays = calloc(1, sizeof(*arrays) + values);
	if (arrays == NULL)
		return false;
	if (view->arrays == NULL)
		arrays->room = view->record_count;
	PFS_CHECK_IS(arrays->room, view->record_count);
	memset(arrays->values, 1, values);
	view->arrays = arrays;
	return true;
}

static void end(void *context, struct pfs_page_view *view)
{
	(void)context;
	free(view->arrays);
}

/* The last page is shorter. Arrays that were made for it are too small for another index. */
static void arrays_of_a_short_page(const struct pfs_case *at, enum pfs_give_back give_back)
{
	const struct pfs_page_hooks hooks = { .come = come, .end = end };
	struct pfs_fixture it;
	prepare(&it, at, give_back);
	it.config.record_max = CAPACITY - SLOTS / 2;
	it.config.hooks = &hooks;
	pfs_fixture_set_up(&it);
	move_page(&it, PAGES - 1);
	empty_and_trim(&it);
	pfs_fixture_fill(&it, CAPACITY - SLOTS / 2);
	pfs_fixture_tear_down(&it);
}

static void short_pages(const struct pfs_case *at)
{
	arrays_of_a_short_page(at, PFS_GIVE_BACK_MEMORY);
	arrays_of_a_short_page(at, PFS_GIVE_BACK_ARRAYS);
}

/* Kept pages have no entry in the process's map, so none is left when their memory is unmapped. */
static void no_entry_in_the_map(const struct pfs_case *at)
{
	struct pfs_fixture it;
	void *records[CAPACITY];
	prepare(&it, at, PFS_GIVE_BACK_MEMORY);
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	memcpy(records, it.records, sizeof(records));
	empty_and_trim(&it);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		PFS_CHECK(pfs_page_map_find(records[i]) == NULL);
		PFS_CHECK(pfs_container_of(records[i]) == NULL);
	}
	pfs_fixture_tear_down(&it);
}

/* A full page moves. */
static void another_index(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, PFS_GIVE_BACK_MEMORY);
	pfs_fixture_set_up(&it);
	move_page(&it, PAGES - 1);
	PFS_CHECK_IS(pfs_test_source_out(&it.source), PAGES);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		PFS_CHECK(pfs_lookup(it.thread, slot) == it.records[slot]);
		PFS_CHECK(pfs_record_at(it.thread, it.records[slot]) == it.records[slot]);
	}
	pfs_fixture_tear_down(&it);
}

/* ---- memory ---- */

/* A source that knows no node, as a machine that has several cannot tell in time. */
static void *map_somewhere(void *context, size_t size_bytes, enum pfs_memory memory,
			   uint32_t node_wanted, uint32_t *node_got)
{
	struct pfs_fixture *it = context;
	void *block = it->source.source.map(it->source.source.context, size_bytes, memory,
					    node_wanted, node_got);
	*node_got = PFS_NODE_MIXED;
	return block;
}

static void unmap_again(void *context, void *memory, size_t size_bytes)
{
	struct pfs_fixture *it = context;
	it->source.source.unmap(it->source.source.context, memory, size_bytes);
}

/* Adding a page takes `keeping`: it must not wait for the system. */
static uint64_t resident_unlocked(void *context, void *memory, size_t size_bytes)
{
	struct pfs_fixture *it = context;
	(void)memory;
	PFS_CHECK(pfs_mutex_try_lock(&it->container->keeping));
	pfs_mutex_unlock(&it->container->keeping);
	return size_bytes;
}

static void wrap_source(struct pfs_fixture *it, struct pfs_memory_source *source)
{
	*source = it->source.source;
	source->map = map_somewhere;
	source->unmap = unmap_again;
	source->resident = resident_unlocked;
	source->context = it;
	it->config.source = source;
}

/* With first touch, the memory comes from where the words are written next. */
static void first_touch_again(const struct pfs_case *at)
{
	struct pfs_memory_source source;
	struct pfs_fixture it;
	prepare(&it, at, PFS_GIVE_BACK_MEMORY);
	wrap_source(&it, &source);
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	PFS_CHECK_IS(pfs_container_page(it.container, 0)->node, PFS_NODE_MIXED);
	empty_and_trim(&it);
	pfs_fixture_fill(&it, CAPACITY);
	for (uint32_t page = 0; page < PAGES; page++)
		PFS_CHECK_IS(pfs_container_page(it.container, page)->node,
			     pfs_memory_caller_node());
	pfs_fixture_tear_down(&it);
}

static void counts_hold_no_page_back(const struct pfs_case *at)
{
	struct pfs_memory_source source;
	struct pfs_fixture it;
	prepare(&it, at, PFS_GIVE_BACK_ARRAYS);
	wrap_source(&it, &source);
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	uint64_t all = pfs_counts_of(it.container).resident_bytes;
	empty_and_trim(&it);
	PFS_CHECK_IS(pfs_counts_of(it.container).resident_bytes, all);
	pfs_fixture_tear_down(&it);
}

/* The system discards no locked memory; it still reads as zeros. */
static void locked_memory(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, PFS_GIVE_BACK_MEMORY);
	it.config.source = NULL;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, SLOTS);
	uint64_t *bytes = (uint64_t *)it.records[0] + 1;
	bytes[0] = 1;
	(void)mlock(bytes, sizeof(*bytes)); /* if refused, this tests nothing */
	empty_and_trim(&it);
	PFS_CHECK_IS(bytes[0], 0);
	pfs_fixture_tear_down(&it);
}

/* ---- weak references that survive pfs_reopen ---- */

static struct pfs_reference live_twice(struct pfs_fixture *it, void *record)
{
	struct pfs_reference reference = pfs_reference_of(it->thread, record);
	pfs_publish(it->thread, pfs_reopen(it->thread, record));
	PFS_CHECK(pfs_lookup_reference(it->thread, reference, NULL) == record);
	return reference;
}

static void lives(const struct pfs_case *at, enum pfs_give_back give_back)
{
	struct pfs_reference old[CAPACITY];
	struct pfs_fixture it;
	prepare(&it, at, give_back);
	it.config.lasting_references = true;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	for (uint32_t i = 0; i < CAPACITY; i++)
		old[i] = live_twice(&it, it.records[i]);
	empty_and_trim(&it);
	pfs_fixture_fill(&it, CAPACITY);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		PFS_CHECK(pfs_lookup_reference(it.thread, old[i], NULL) == NULL);
		(void)live_twice(&it, it.records[i]);
		PFS_CHECK(pfs_lookup_reference(it.thread, old[i], NULL) == NULL);
	}
	pfs_fixture_tear_down(&it);
}

static void lasting_references(const struct pfs_case *at)
{
	lives(at, PFS_GIVE_BACK_ADDRESSES);
	lives(at, PFS_GIVE_BACK_MEMORY);
	lives(at, PFS_GIVE_BACK_ARRAYS);
}

/* ---- fork ---- */

struct shared {
	struct pfs_fixture it;
	_Atomic(uint32_t) forks; /* still to come */
};

static void take_and_trim(struct pfs_thread *thread)
{
	void *records[SLOTS + 1];
	uint32_t count = 0;
	while (count <= SLOTS) {
		struct pfs_claim claim = pfs_allocate(thread);
		if (claim.record == NULL)
			break;
		pfs_publish(thread, claim);
		records[count++] = claim.record;
	}
	while (count-- > 0)
		pfs_free(thread, records[count]);
	(void)pfs_reclaim_trim(thread);
}

/* Pages are kept and taken by other threads while this one forks. */
static void fork_often(struct shared *self, struct pfs_thread *thread)
{
	for (uint32_t i = 0; i < FORKS; i++) {
		pid_t child = fork();
		if (child == 0) {
			for (uint32_t round = 0; round < 3; round++)
				take_and_trim(thread);
			PFS_CHECK(pfs_counts_of(self->it.container).resident_bytes != UINT64_MAX);
			_exit(0);
		}
		int status = 1;
		PFS_CHECK(child > 0 && waitpid(child, &status, 0) == child);
		PFS_CHECK_IS(status, 0);
	}
}

static void share(void *context, uint32_t index)
{
	struct shared *self = context;
	struct pfs_thread *thread = pfs_attach_or_fail(self->it.container);
	if (index == 0)
		fork_often(self, thread);
	/* [T1] acquire: the end of the test */
	for (uint32_t i = 0; index != 0 && (i < ROUNDS || pfs_load_acquire(&self->forks) != 0); i++)
		take_and_trim(thread);
	if (index == 0)
		(void)pfs_fetch_add_acq_rel(&self->forks, UINT32_MAX); /* [T1] release */
	pfs_thread_detach(thread);
}

static void forks(const struct pfs_case *at)
{
	static struct shared self;
	memset(&self, 0, sizeof(self));
	prepare(&self.it, at, PFS_GIVE_BACK_MEMORY);
	self.it.config.source = NULL;
	pfs_fixture_set_up(&self.it);
	pfs_store_relaxed(&self.forks, 1); /* relaxed: before the threads */
	pfs_run_threads(3, share, &self);
	pfs_fixture_tear_down(&self.it);
}

/* ---- layout bare ---- */

/* Records without words: a tag is 0 again. */
static void bare_records(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, PFS_GIVE_BACK_MEMORY);
	it.config.layout = PFS_LAYOUT_BARE;
	it.config.word_offset = 0;
	it.config.bare_words = at->layout == PFS_LAYOUT_SIDE_BY_SIDE;
	it.config.tag_bytes = 8;
	pfs_fixture_set_up(&it);
	for (uint32_t round = 0; round < 3; round++) {
		pfs_fixture_fill(&it, CAPACITY);
		for (uint32_t i = 0; i < CAPACITY; i++) {
			uint64_t *tag = pfs_tag(it.thread, it.records[i]);
			PFS_CHECK_IS(*tag, 0);
			*tag = i + 1;
		}
		empty_and_trim(&it);
	}
	PFS_CHECK_IS(pfs_test_source_out(&it.source), PAGES);
	pfs_fixture_tear_down(&it);
}

#define RECLAIMS (PFS_TRAIT_OWN_WORD | PFS_TRAIT_RECLAIM)
#define EACH(title, function, needs)                                                \
	{                                                                           \
		.name = (title), .run = (function), .each = true, .traits = (needs) \
	}

static const struct pfs_test tests[] = {
	EACH("versions wrap around", versions_wrap_around, RECLAIMS),
	EACH("arrays of a short page", short_pages, RECLAIMS),
	EACH("no entry in the map", no_entry_in_the_map, RECLAIMS),
	EACH("another index", another_index, RECLAIMS),
	EACH("first touch again", first_touch_again, RECLAIMS),
	EACH("counts hold no page back", counts_hold_no_page_back, RECLAIMS),
	EACH("locked memory", locked_memory, RECLAIMS),
	EACH("lasting references", lasting_references, RECLAIMS),
	{ .name = "forks", .run = forks, .each = true, .traits = RECLAIMS, .threads = true },
	EACH("bare records", bare_records, PFS_TRAIT_BARE | PFS_TRAIT_RECLAIM),
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
