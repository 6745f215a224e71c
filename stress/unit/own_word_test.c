/*
 * own_word_test.c - records that contain their own word, pages whose addresses stay, and the hooks
 * of pages.
 *
 * Each test runs twice for each policy: with the word first in the record, and last.
 */
#include <stdlib.h>
#include <string.h>

#include "containers/place.h"
#include "stress/harness/fixture.h"

#define PAGES 4u
#define SLOTS 40u
#define CAPACITY (PAGES * SLOTS)
#define RECORD_BYTES 40u
#define ROUNDS (PFS_SHORT ? 40u : 300u)
#define CROWD 4u

static uint32_t word_offset(const struct pfs_case *at)
{
	return at->layout == PFS_LAYOUT_SIDE_BY_SIDE ? RECORD_BYTES - 4 : 0;
}

/* The user's bytes besides the word. */
static uint64_t *body(const struct pfs_case *at, void *record)
{
	return (uint64_t *)(void *)((char *)record + (word_offset(at) == 0 ? 8 : 0));
}

static uint32_t word_of(const struct pfs_case *at, const void *record)
{
	char *word = (char *)(uintptr_t)record + word_offset(at);
	return pfs_load_acquire((_Atomic(uint32_t) *)(void *)word); /* [L4] acquire: a test */
}

static void prepare(struct pfs_fixture *self, const struct pfs_case *at,
		    enum pfs_give_back give_back)
{
	pfs_fixture_prepare(self, at, PAGES, SLOTS);
	self->config.layout = PFS_LAYOUT_OWN_WORD;
	self->config.record_size_bytes = RECORD_BYTES;
	self->config.word_offset = word_offset(at);
	self->config.give_back = give_back;
}

/* ---- the word ---- */

static void the_word_is_in_the_record(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, PFS_GIVE_BACK_ADDRESSES);
	pfs_fixture_set_up(&it);
	struct pfs_claim claim = pfs_allocate(it.thread);
	PFS_CHECK_IS(word_of(at, claim.record), PFS_STATE_DIRTY);
	pfs_publish(it.thread, claim);
	PFS_CHECK_IS(word_of(at, claim.record), PFS_VERSION_ONE | PFS_STATE_ALLOCATED);
	PFS_CHECK_IS(pfs_version(claim.record), 1);
	PFS_CHECK(pfs_read_end(claim.record, pfs_read_begin(claim.record)));
	PFS_CHECK(pfs_owns(it.thread, claim.record));
	PFS_CHECK(pfs_lookup(it.thread, pfs_index(it.thread, claim.record)) == claim.record);
	claim = pfs_reopen(it.thread, claim.record);
	PFS_CHECK_IS(word_of(at, claim.record), PFS_VERSION_ONE | PFS_STATE_DIRTY);
	pfs_publish(it.thread, claim);
	pfs_free(it.thread, claim.record);
	PFS_CHECK_IS(word_of(at, claim.record), 2 * PFS_VERSION_ONE | PFS_STATE_FREE);
	claim = pfs_allocate(it.thread);
	uint32_t before = word_of(at, claim.record);
	pfs_abandon(it.thread, claim);
	PFS_CHECK_IS(word_of(at, claim.record), before & PFS_VERSION_MASK);
	pfs_fixture_tear_down(&it);
}

/* A program may publish by a store of its own, as servers do that had the word before. */
static void a_program_publishes_by_itself(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, PFS_GIVE_BACK_ADDRESSES);
	pfs_fixture_set_up(&it);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		struct pfs_claim claim = pfs_allocate(it.thread);
		char *word = (char *)claim.record + word_offset(at);
		pfs_store_release((_Atomic(uint32_t) *)(void *)word,
				  claim.dirty_word + 5); /* [L2] */
		it.records[i] = claim.record;
	}
	PFS_CHECK(pfs_allocate(it.thread).record == NULL);
	for (uint32_t i = 0; i < CAPACITY; i++)
		pfs_free(it.thread, it.records[i]);
	PFS_CHECK_IS(pfs_container_live(it.container), 0);
	memset(it.records, 0, CAPACITY * sizeof(*it.records));
	pfs_fixture_tear_down(&it);
}

static void a_record_at_a_pointer(const struct pfs_case *at)
{
	struct pfs_fixture it;
	int elsewhere = 0;
	prepare(&it, at, PFS_GIVE_BACK_ADDRESSES);
	pfs_fixture_set_up(&it);
	struct pfs_claim claim = pfs_allocate(it.thread);
	char *record = claim.record;
	PFS_CHECK(pfs_record_at(it.thread, record) == record); /* DIRTY */
	pfs_abandon(it.thread, claim);
	PFS_CHECK(pfs_record_at(it.thread, record) == record); /* FREE */
	PFS_CHECK(!pfs_owns(it.thread, record));
	for (uint32_t i = 1; i < RECORD_BYTES; i++)
		PFS_CHECK(pfs_record_at(it.thread, record + i) == NULL);
	PFS_CHECK(pfs_record_at(it.thread, NULL) == NULL);
	PFS_CHECK(pfs_record_at(it.thread, &elsewhere) == NULL);
	PFS_CHECK(pfs_record_at(it.thread, (void *)UINTPTR_MAX) == NULL);
	pfs_fixture_tear_down(&it);
}

/* ---- pages that go and come back ---- */

static void empty_and_trim(struct pfs_fixture *self)
{
	pfs_fixture_empty(self, 0, CAPACITY);
	(void)pfs_reclaim_trim(self->thread);
	PFS_CHECK_IS(pfs_fixture_pages(self), 0);
}

static bool is_among(void *const *records, const void *record)
{
	for (uint32_t i = 0; i < CAPACITY; i++)
		if (records[i] == record)
			return true;
	return false;
}

/* Fill, empty, trim, and fill again: the same addresses, with later versions. */
static void addresses_stay(const struct pfs_case *at, enum pfs_give_back give_back)
{
	struct pfs_fixture it;
	void *before[CAPACITY];
	uint32_t words[CAPACITY];
	prepare(&it, at, give_back);
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		before[i] = it.records[i];
		words[i] = word_of(at, before[i]);
		*body(at, before[i]) = i + 1;
	}
	empty_and_trim(&it);
	for (uint32_t i = 0; i < CAPACITY; i++) { /* as a reader that knows nothing of sections */
		PFS_CHECK_IS(word_of(at, before[i]) & PFS_STATE_MASK, PFS_STATE_FREE);
		PFS_CHECK_IS(*body(at, before[i]), give_back == PFS_GIVE_BACK_MEMORY ? 0 : i + 1);
		PFS_CHECK(pfs_record_at(it.thread, before[i]) == NULL);
	}
	pfs_fixture_fill(&it, CAPACITY);
	for (uint32_t i = 0; i < CAPACITY; i++) {
		PFS_CHECK(is_among(it.records, before[i]));
		PFS_CHECK(word_of(at, before[i]) > words[i]);
	}
	PFS_CHECK_IS(pfs_test_source_out(&it.source), PAGES);
	pfs_fixture_tear_down(&it);
}

static void memory_goes_addresses_stay(const struct pfs_case *at)
{
	addresses_stay(at, PFS_GIVE_BACK_MEMORY);
}

static void records_stay(const struct pfs_case *at)
{
	addresses_stay(at, PFS_GIVE_BACK_ARRAYS);
}

/* Of the system's memory: what stays mapped is not resident. */
static void the_system_has_its_memory_back(const struct pfs_case *at)
{
	struct pfs_fixture it;
	prepare(&it, at, PFS_GIVE_BACK_MEMORY);
	it.config.source = NULL;
	pfs_fixture_set_up(&it);
	pfs_fixture_fill(&it, CAPACITY);
	PFS_CHECK(pfs_counts_of(it.container).resident_bytes >= PAGES * 4096);
	empty_and_trim(&it);
	PFS_CHECK_IS(pfs_counts_of(it.container).resident_bytes, 0);
	pfs_fixture_fill(&it, CAPACITY);
	pfs_fixture_tear_down(&it);
}

/* A page of another index may use the addresses: neither its index nor its addresses fall back. */
static void versions_grow_by_index_and_address(const struct pfs_case *at)
{
	struct pfs_fixture it;
	uint32_t by_index[CAPACITY] = { 0 };
	prepare(&it, at, PFS_GIVE_BACK_MEMORY);
	pfs_fixture_set_up(&it);
	for (uint32_t round = 1; round <= 12; round++) {
		uint32_t count = round % PAGES * SLOTS + SLOTS;
		pfs_fixture_fill(&it, count < CAPACITY ? count : CAPACITY);
		for (uint32_t i = 0; i < CAPACITY; i++) {
			if (it.records[i] == NULL)
				continue;
			uint32_t version = pfs_version(it.records[i]);
			PFS_CHECK(version > by_index[i]);
			by_index[i] = version;
		}
		empty_and_trim(&it);
	}
	pfs_fixture_tear_down(&it);
}

/* ---- hooks ---- */

struct arrays {
	uint32_t came, went, ended, refuse_from;
	uint32_t live; /* pages that came and did not go */
	uint32_t word_offset;
};

static bool come(void *context, struct pfs_page_view *view)
{
	struct arrays *self = context;
	if (self->refuse_from != 0 && self->came + 1 >= self->refuse_from)
		return false;
	for (uint32_t slot = 0; slot < view->record_count; slot++) {
		void *word = view->records + slot * view->stride_bytes + self->word_offset;
		uint32_t state = pfs_load_relaxed((_Atomic(uint32_t) *)word); /* relaxed: a test */
		PFS_CHECK_IS(state & PFS_STATE_MASK, PFS_STATE_FREE);
	}
	if (view->arrays == NULL)
		view->arrays = calloc(view->record_count, sizeof(uint64_t));
	self->came++;
	self->live++;
	return view->arrays != NULL;
}

static void go(void *context, struct pfs_page_view *view)
{
	struct arrays *self = context;
	memset(view->arrays, 0, view->record_count * sizeof(uint64_t));
	self->went++;
	self->live--;
}

static void end(void *context, struct pfs_page_view *view)
{
	struct arrays *self = context;
	free(view->arrays);
	self->ended++;
}

static void prepare_hooks(struct pfs_fixture *it, struct pfs_page_hooks *hooks,
			  struct arrays *arrays, const struct pfs_case *at,
			  enum pfs_give_back give_back)
{
	memset(arrays, 0, sizeof(*arrays));
	arrays->word_offset = word_offset(at);
	*hooks = (struct pfs_page_hooks){ come, go, end, arrays };
	prepare(it, at, give_back);
	it->config.hooks = hooks;
	pfs_fixture_set_up(it);
}

static void hooks_follow_pages(const struct pfs_case *at, enum pfs_give_back give_back)
{
	struct pfs_page_hooks hooks;
	struct pfs_fixture it;
	struct arrays arrays;
	bool reclaims = (pfs_variant_traits(at->variant) & PFS_TRAIT_RECLAIM) != 0;
	prepare_hooks(&it, &hooks, &arrays, at, give_back);
	for (uint32_t round = 0; round < 3; round++) {
		pfs_fixture_fill(&it, CAPACITY);
		PFS_CHECK_IS(arrays.live, PAGES);
		if (!reclaims) {
			pfs_fixture_empty(&it, 0, CAPACITY);
			continue;
		}
		empty_and_trim(&it);
		PFS_CHECK_IS(arrays.live, 0);
		PFS_CHECK_IS(arrays.ended, give_back == PFS_GIVE_BACK_ADDRESSES ? arrays.came : 0);
	}
	pfs_fixture_tear_down(&it);
	PFS_CHECK_IS(arrays.live, 0);
	PFS_CHECK_IS(arrays.went, arrays.came);
	PFS_CHECK_IS(arrays.ended, give_back == PFS_GIVE_BACK_ADDRESSES ? arrays.came : PAGES);
}

static void hooks_of_pages(const struct pfs_case *at)
{
	hooks_follow_pages(at, PFS_GIVE_BACK_ADDRESSES);
}

static void hooks_of_kept_memory(const struct pfs_case *at)
{
	hooks_follow_pages(at, PFS_GIVE_BACK_MEMORY);
}

static void hooks_of_kept_records(const struct pfs_case *at)
{
	hooks_follow_pages(at, PFS_GIVE_BACK_ARRAYS);
}

static void a_hook_refuses(const struct pfs_case *at)
{
	struct pfs_page_hooks hooks;
	struct pfs_fixture it;
	struct arrays arrays;
	prepare_hooks(&it, &hooks, &arrays, at, PFS_GIVE_BACK_ADDRESSES);
	arrays.refuse_from = 2;
	pfs_fixture_fill(&it, SLOTS);
	PFS_CHECK(pfs_allocate(it.thread).record == NULL);
	PFS_CHECK_IS(pfs_thread_status(it.thread), PFS_NO_MEMORY);
	PFS_CHECK_IS(arrays.live, 1);
	arrays.refuse_from = 0;
	pfs_free(it.thread, pfs_allocate_or_fail(it.thread));
	pfs_fixture_tear_down(&it);
	PFS_CHECK_IS(arrays.live, 0);
}

/* ---- readers outside sections ---- */

struct shared {
	const struct pfs_case *at;
	struct pfs_fixture it;
	_Atomic(void *) seen[CAPACITY];
	_Atomic(uint32_t) owners; /* that still run */
};

static void own_and_trim(struct shared *self, struct pfs_thread *thread, uint32_t index)
{
	void *records[SLOTS];
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t count = 0;
		while (count < SLOTS && count < 1 + (round + index) % SLOTS) {
			struct pfs_claim claim = pfs_allocate(thread);
			if (claim.record == NULL)
				break;
			pfs_publish(thread, claim);
			uint64_t place = pfs_index(thread, claim.record);
			pfs_store_relaxed(&self->seen[place],
					  claim.record); /* relaxed: a pointer */
			records[count++] = claim.record;
		}
		while (count-- > 0)
			pfs_free(thread, records[count]);
		if (index == 0)
			(void)pfs_reclaim_trim(thread);
	}
}

/* The words are read by pointers that were never looked up: none faults, no version falls. */
static void read_stale(struct shared *self)
{
	uint32_t newest[CAPACITY] = { 0 };
	void *known[CAPACITY] = { NULL };
	while (pfs_load_acquire(&self->owners) != 0) { /* [T1] acquire: the end of the test */
		for (uint32_t i = 0; i < CAPACITY; i++) {
			void *record = pfs_load_relaxed(&self->seen[i]); /* relaxed: see above */
			if (record == NULL)
				continue;
			uint32_t word = word_of(self->at, record);
			if (record != known[i])
				newest[i] = 0;
			known[i] = record;
			if ((word & PFS_STATE_MASK) != PFS_STATE_ALLOCATED)
				continue;
			PFS_CHECK(word / PFS_VERSION_ONE >= newest[i]);
			newest[i] = word / PFS_VERSION_ONE;
		}
	}
}

static void share(void *context, uint32_t index)
{
	struct shared *self = context;
	if (index == CROWD) {
		read_stale(self);
		return;
	}
	struct pfs_thread *thread = pfs_attach_or_fail(self->it.container);
	own_and_trim(self, thread, index);
	pfs_thread_detach(thread);
	(void)pfs_fetch_add_acq_rel(&self->owners, UINT32_MAX); /* [T1] release: see read_stale */
}

static void readers_without_sections(const struct pfs_case *at)
{
	static struct shared self;
	memset(&self, 0, sizeof(self));
	self.at = at;
	prepare(&self.it, at, PFS_GIVE_BACK_MEMORY);
	self.it.config.source = NULL;
	pfs_fixture_set_up(&self.it);
	pfs_store_relaxed(&self.owners, CROWD); /* relaxed: before the threads */
	pfs_run_threads(CROWD + 1, share, &self);
	pfs_fixture_tear_down(&self.it);
}

/* ---- freed records that tables still show ---- */

/* A record that was freed comes again only after others. Not that of policies that have no index of
 * free records: they take turns anyway, or have no order that is promised. */
static void late_reuse(const struct pfs_case *at)
{
	struct pfs_fixture it;
	pfs_fixture_prepare(&it, at, 4, 256);
	it.config.late_reuse = true;
	pfs_fixture_set_up(&it);
	void *recent[16] = { NULL };
	for (uint32_t i = 0; i < 2000; i++) {
		void *record = pfs_allocate_or_fail(it.thread);
		for (uint32_t back = 0; back < 16; back++)
			PFS_CHECK(recent[back] != record);
		recent[i % 16] = record;
		pfs_free(it.thread, record);
	}
	PFS_CHECK_IS(pfs_fixture_pages(&it), 1);
	pfs_fixture_tear_down(&it);
}

/* ---- refused ---- */

static void refuse(const struct pfs_case *at, const struct pfs_config *config, const char *words)
{
	struct pfs_message message = { "" };
	struct pfs_container *container;
	PFS_CHECK_IS(pfs_container_create(at->variant, config, &container, &message),
		     PFS_BAD_CONFIG);
	PFS_CHECK(strstr(message.text, words) != NULL);
}

static void what_does_not_fit(const struct pfs_case *at)
{
	struct pfs_config config;
	struct pfs_memory_source source = { .align_bytes = 64 };
	pfs_config_init(&config);
	config.word_offset = 4;
	refuse(at, &config, "word_offset 4: only with layout own word");
	config.layout = PFS_LAYOUT_OWN_WORD;
	config.word_offset = 46;
	refuse(at, &config, "word_offset 46: must be a multiple of 4");
	config.word_offset = 48;
	refuse(at, &config, "word_offset 48: must be a multiple of 4, and at most 4 below");
	config.word_offset = 44;
	config.give_back = PFS_GIVE_BACK_MEMORY;
	if ((pfs_variant_traits(at->variant) & PFS_TRAIT_RECLAIM) == 0) {
		refuse(at, &config, "gives no pages back");
		return;
	}
	config.source = &source;
	refuse(at, &config, "the source has no discard");
	config.layout = PFS_LAYOUT_IN_RECORD;
	config.word_offset = 0;
	refuse(at, &config, "needs a layout without headers");
}

static void a_policy_with_headers(const struct pfs_case *at)
{
	struct pfs_config config;
	pfs_config_init(&config);
	config.layout = PFS_LAYOUT_OWN_WORD;
	refuse(at, &config, "keeps a header in each record");
}

#define RECLAIMS (PFS_TRAIT_OWN_WORD | PFS_TRAIT_RECLAIM)
#define EACH(title, function, needs)                                                \
	{                                                                           \
		.name = (title), .run = (function), .each = true, .traits = (needs) \
	}

static const struct pfs_test tests[] = {
	EACH("the word is in the record", the_word_is_in_the_record, PFS_TRAIT_OWN_WORD),
	EACH("a program publishes by itself", a_program_publishes_by_itself, PFS_TRAIT_OWN_WORD),
	EACH("a record at a pointer", a_record_at_a_pointer, PFS_TRAIT_OWN_WORD),
	EACH("memory goes, addresses stay", memory_goes_addresses_stay, RECLAIMS),
	EACH("records stay", records_stay, RECLAIMS),
	EACH("the system has its memory back", the_system_has_its_memory_back, RECLAIMS),
	EACH("versions grow by index and address", versions_grow_by_index_and_address, RECLAIMS),
	EACH("hooks of pages", hooks_of_pages, PFS_TRAIT_OWN_WORD),
	EACH("hooks of kept memory", hooks_of_kept_memory, RECLAIMS),
	EACH("hooks of kept records", hooks_of_kept_records, RECLAIMS),
	EACH("a hook refuses", a_hook_refuses, PFS_TRAIT_OWN_WORD),
	{ .name = "readers without sections",
	  .run = readers_without_sections,
	  .each = true,
	  .traits = RECLAIMS,
	  .threads = true },
	EACH("late reuse", late_reuse, PFS_TRAIT_EXACT | PFS_TRAIT_RECLAIM),
	EACH("what does not fit", what_does_not_fit, PFS_TRAIT_OWN_WORD),
	{ .name = "a policy with headers",
	  .run = a_policy_with_headers,
	  .each = true,
	  .without = PFS_TRAIT_OWN_WORD },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
