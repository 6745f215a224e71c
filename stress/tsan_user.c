/*
 * tsan_user.c - a program under ThreadSanitizer, with a library that is not instrumented: records
 * change hands by every call that allocates or frees, and pages come and go, with hooks that write
 * them. Correct as it is; with an argument it writes a record after it was freed, which must be
 * reported.
 */
#include <pfslab/variant.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#define THREADS 3
#define ROUNDS 100000
#define MANY 2

static struct pfs_container *container;
static int writes_late;

/* Word by word, because the code that a compiler makes of memset is not always instrumented. */
static void fill(void *record, int round)
{
	long *words = record;
	for (int i = 0; i < 6; i++)
		words[i] = round + i;
}

static void one_at_a_time(struct pfs_thread *thread, int round)
{
	struct pfs_claim claim = pfs_allocate(thread);
	if (claim.record == NULL)
		return;
	fill(claim.record, round);
	if (round % 7 == 0) {
		pfs_abandon(thread, claim);
		return;
	}
	pfs_publish(thread, claim);
	if (round % 5 == 0) {
		claim = pfs_reopen(thread, claim.record);
		fill(claim.record, round + 1);
		pfs_publish(thread, claim);
	}
	pfs_free(thread, claim.record);
	if (writes_late && round % 16 == 0) {
		(void)sched_yield(); /* by then another thread may own it */
		fill(claim.record, round);
	}
}

static void many_at_a_time(struct pfs_thread *thread, int round)
{
	struct pfs_claim claims[MANY];
	void *records[MANY];
	uint32_t count = pfs_allocate_many(thread, claims, MANY);
	for (uint32_t i = 0; i < count; i++) {
		fill(claims[i].record, round);
		records[i] = claims[i].record;
	}
	pfs_publish_many(thread, claims, count);
	pfs_free_many(thread, records, count);
}

static void *run(void *unused)
{
	struct pfs_thread *thread = NULL;
	(void)unused;
	if (pfs_thread_attach(container, &thread) != PFS_OK)
		return NULL;
	for (int round = 0; round < ROUNDS; round++) {
		one_at_a_time(thread, round);
		if (round % 3 == 0)
			many_at_a_time(thread, round);
		if (round % 500 == 0 && !writes_late) /* a late write must find its page */
			(void)pfs_reclaim_trim(thread);
	}
	pfs_thread_detach(thread);
	return NULL;
}

/* The hooks of a page write its records, as their owners do. */
static void fill_all(const struct pfs_page_view *view)
{
	for (uint32_t slot = 0; slot < view->record_count; slot++)
		fill(view->records + slot * view->stride_bytes, -1);
}

static bool come(void *unused, struct pfs_page_view *view)
{
	(void)unused;
	fill_all(view);
	return true;
}

static void go(void *unused, struct pfs_page_view *view)
{
	(void)unused;
	fill_all(view);
}

static const struct pfs_page_hooks hooks = { .come = come, .go = go };

/* The words are behind the bytes that are written. */
static void use_own_words(struct pfs_config *config, const char *policy)
{
	bool reclaims = (pfs_variant_traits(pfs_variant_find(policy)) & PFS_TRAIT_RECLAIM) != 0;
	config->layout = PFS_LAYOUT_OWN_WORD;
	config->record_size_bytes = 56;
	config->word_offset = 48;
	config->give_back = reclaims ? PFS_GIVE_BACK_ARRAYS : PFS_GIVE_BACK_ADDRESSES;
	config->hooks = &hooks;
}

static int play(const char *policy, int has_own_words)
{
	struct pfs_config config;
	struct pfs_message message;
	pthread_t threads[THREADS];
	pfs_config_init(&config);
	config.page_records = 3; /* so that threads meet */
	config.page_max = 1;
	if (has_own_words)
		use_own_words(&config, policy);
	if (pfs_container_create(pfs_variant_find(policy), &config, &container, &message) != PFS_OK)
		return fprintf(stderr, "%s\n", message.text), 2;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pfs_container_destroy(container);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const policies[] = { "original", "reclaiming", "exact", "magazine" };
	(void)argv;
	writes_late = argc > 1;
	for (int i = 0; i < 8; i++) {
		int answer = play(policies[i % 4], i >= 4);
		if (answer != 0)
			return answer;
	}
	return puts("done"), 0;
}
