/*
 * check.c - see check.h.
 */
#include "check.h"

#include <math.h>
#include <stdio.h>

static bool has(const struct pfs_scene *scene, uint32_t trait)
{
	return (pfs_variant_traits(scene->variant) & trait) != 0;
}

static bool refuse(struct pfs_message *message, const char *what, uint64_t got, uint64_t wanted)
{
	snprintf(message->text, sizeof(message->text), "check failed: %s: %llu, must be %llu", what,
		 (unsigned long long)got, (unsigned long long)wanted);
	return false;
}

static void add(struct pfs_counts *sum, const struct pfs_counts *one)
{
	sum->growths += one->growths;
	sum->reclaimed += one->reclaimed;
	sum->lost += one->lost;
	sum->pages += one->pages;
	sum->pages_peak += one->pages_peak;
	sum->pages_waiting += one->pages_waiting;
	sum->resident_bytes += one->resident_bytes;
	sum->overhead_bytes += one->overhead_bytes;
	sum->counted = one->counted;
	sum->allocations += one->allocations;
	sum->probes += one->probes;
	sum->page_probes += one->page_probes;
	sum->cas_failures += one->cas_failures;
	sum->page_skips += one->page_skips;
	sum->record_skips += one->record_skips;
	sum->flag_skips += one->flag_skips;
	sum->false_full_at_least += one->false_full_at_least;
	sum->needless_growths += one->needless_growths;
	sum->remote += one->remote;
	sum->mixed += one->mixed;
	sum->live_peak += one->live_peak;
	sum->stranded += one->stranded;
	sum->stranded_peak += one->stranded_peak;
}

void pfs_check_sum_counts(const struct pfs_scene *scene, struct pfs_counts *sum)
{
	*sum = (struct pfs_counts){ .counted = false };
	for (uint32_t i = 0; i < scene->container_count; i++) {
		struct pfs_counts one;
		pfs_container_counts(scene->containers[i], &one);
		add(sum, &one);
	}
}

uint64_t pfs_check_page_ideal(const struct pfs_scene *scene)
{
	uint64_t ideal = 0;

	for (uint32_t i = 0; i < scene->container_count; i++) {
		const struct pfs_config *config = pfs_container_config(scene->containers[i]);
		uint64_t peak = scene->live_peak[i];
		struct pfs_counts counts;
		pfs_container_counts(scene->containers[i], &counts);
		if (counts.counted)
			peak = counts.live_peak;
		if (peak == UINT64_MAX || (peak != 0 && counts.pages_peak == 0))
			return UINT64_MAX;
		if (peak == 0 && counts.pages_peak == 0)
			continue; /* not used so far */
		/* a container that is too small never holds all that the workload asks for */
		if (peak > counts.pages_peak * config->page_records)
			peak = counts.pages_peak * config->page_records;
		uint64_t pages = (peak + config->page_records - 1) / config->page_records;
		ideal += pages > config->page_prealloc ? pages : config->page_prealloc;
	}
	return scene->container_count != 0 ? ideal : UINT64_MAX;
}

static uint64_t held_in(const struct pfs_scene *scene, uint32_t container)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < scene->thread_count; i++) {
		const struct pfs_worker *worker = &scene->workers[i];
		sum += scene->workload->held != NULL ? scene->workload->held(worker, container)
						     : worker->live.count + worker->canary_count;
	}
	return sum;
}

double pfs_check_occupancy(const struct pfs_scene *scene, const struct pfs_counts *sum)
{
	uint64_t held = 0;

	for (uint32_t i = 0; i < scene->container_count; i++)
		held += held_in(scene, i);
	if (sum->pages == 0)
		return (double)NAN;
	return (double)held / ((double)sum->pages * scene->options->page_records);
}

static bool check_walk(struct pfs_scene *scene, uint32_t container, uint64_t wanted,
		       struct pfs_message *message)
{
	struct pfs_thread *thread;
	struct pfs_walk walk;
	uint64_t seen = 0;
	const void *record;

	if (!has(scene, PFS_TRAIT_INDEX))
		return true;
	if (pfs_thread_attach(scene->containers[container], &thread) != PFS_OK) {
		snprintf(message->text, sizeof(message->text), "no memory to check the records");
		return false;
	}
	pfs_walk_begin(&walk, thread, PFS_WALK_LIVE);
	while ((record = pfs_walk_next(&walk)) != NULL) {
		/* a lone thread: look-up by index must lead to the same record */
		if (pfs_lookup(thread, walk.index) != record)
			seen = UINT64_MAX / 2;
		seen++;
	}
	pfs_walk_end(&walk);
	pfs_thread_detach(thread);
	/* Without words a walk may meet free records that lie in rings. */
	bool may_be_more = scene->options->layout == PFS_LAYOUT_BARE && !scene->options->bare_words;
	return seen == wanted || (may_be_more && seen > wanted) ||
	       refuse(message, "live records of a walk", seen, wanted);
}

static bool check_pages(struct pfs_scene *scene, uint32_t container, uint64_t held,
			struct pfs_message *message)
{
	const struct pfs_config *config = pfs_container_config(scene->containers[container]);
	struct pfs_counts counts;

	pfs_container_counts(scene->containers[container], &counts);
	uint64_t made = config->page_prealloc + counts.growths;
	uint64_t kept = counts.pages + counts.pages_waiting + counts.reclaimed;
	if (!has(scene, PFS_TRAIT_INDEX))
		return true; /* no pages of its own to count */
	if (counts.pages > config->page_max)
		return refuse(message, "pages above page_max", counts.pages, config->page_max);
	if (held > counts.pages * config->page_records)
		return refuse(message, "records held above those of all pages", held,
			      counts.pages * config->page_records);
	if (counts.pages_peak < counts.pages)
		return refuse(message, "pages_peak below pages", counts.pages_peak, counts.pages);
	/* a background pass may be between its two steps */
	if (config->reclaim.period_ms == 0 && kept != made)
		return refuse(message, "pages kept, waiting and reclaimed", kept, made);
	return true;
}

bool pfs_check_held(struct pfs_scene *scene, struct pfs_message *message)
{
	struct pfs_counts sum;
	uint64_t refused = 0;

	for (uint32_t i = 0; i < scene->container_count; i++) {
		uint64_t held = held_in(scene, i);
		if (!check_walk(scene, i, held, message) || !check_pages(scene, i, held, message))
			return false;
	}
	for (uint32_t i = 0; i < scene->thread_count; i++)
		refused += scene->workers[i].refused;
	if (scene->container_count == 0 || !has(scene, PFS_TRAIT_BOUNDED))
		return true;
	pfs_check_sum_counts(scene, &sum);
	return sum.lost == refused || refuse(message, "lost", sum.lost, refused);
}

bool pfs_check_empty(struct pfs_scene *scene, struct pfs_message *message)
{
	for (uint32_t i = 0; i < scene->container_count; i++)
		if (!check_walk(scene, i, 0, message))
			return false;
	return true;
}
