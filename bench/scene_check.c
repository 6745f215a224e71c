/*
 * scene_check.c - pfs_scene_check of scene.h: what is refused before anything is mapped.
 */
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define RECORD_HEADER_BYTES 16.0
#define OS_PAGE_BYTES 4096.0 /* no page has less */
#define GIB (1024.0 * 1024.0 * 1024.0)

struct words {
	char text[80];
};

/* The flag that the count of pages comes from. */
static struct words words_of(const struct pfs_scene *scene)
{
	struct words words;

	if (scene->options->pages_each != 0)
		snprintf(words.text, sizeof(words.text), "--pages-each %u for %u threads, %u pages",
			 scene->options->pages_each, scene->thread_count,
			 pfs_scene_page_count(scene));
	else
		snprintf(words.text, sizeof(words.text), "--pages %u", scene->options->pages);
	return words;
}

/* A live set needs a record for each thread: a thread without one would never do anything. */
static enum pfs_status check_records(const struct pfs_scene *scene, const struct pfs_config *config,
				     struct pfs_message *message)
{
	struct words words = words_of(scene);
	uint64_t most = (uint64_t)config->page_max * config->page_records;
	bool bounded = (pfs_variant_traits(scene->variant) & PFS_TRAIT_BOUNDED) != 0;

	if (!scene->workload->has_occupancy || !bounded || scene->thread_count <= most)
		return PFS_OK;
	snprintf(message->text, sizeof(message->text),
		 "--threads %u, %s, --page-records %u: workload %s needs a record for each "
		 "thread, policy %s can hold %llu; raise --pages or lower --threads",
		 scene->thread_count, words.text, scene->options->page_records,
		 scene->workload->name, pfs_variant_name(scene->variant), (unsigned long long)most);
	return PFS_BAD_CONFIG;
}

/* Do the records of --records fit a container? */
static enum pfs_status check_record_pages(const struct pfs_scene *scene,
					  struct pfs_message *message)
{
	if (pfs_scene_record_pages(scene) <= PFS_PAGE_MAX)
		return PFS_OK;
	snprintf(message->text, sizeof(message->text),
		 "--records %u, --page-records %u: workload %s needs %u pages, %u at most; raise "
		 "--page-records or lower --records",
		 scene->records, scene->options->page_records, scene->workload->name,
		 pfs_scene_record_pages(scene), PFS_PAGE_MAX);
	return PFS_BAD_CONFIG;
}

/* The user did not give page_max: name the flags that it comes from. */
static enum pfs_status check_pages(const struct pfs_scene *scene, uint32_t container,
				   uint32_t page_max, struct pfs_message *message)
{
	struct pfs_options one_page = *scene->options;
	struct pfs_scene small = *scene;
	struct pfs_config config;

	if (page_max <= PFS_PAGE_MAX)
		return PFS_OK;
	one_page.pages = 1;
	one_page.pages_each = 0;
	small.options = &one_page;
	pfs_scene_configure(&small, container, &config);
	if (config.page_max == page_max)
		snprintf(message->text, sizeof(message->text),
			 "--page-records %u, --threads %u: workload %s needs room for %u pages, "
			 "%u at most; raise --page-records or lower --threads",
			 one_page.page_records, scene->thread_count, scene->workload->name,
			 page_max, PFS_PAGE_MAX);
	else
		snprintf(message->text, sizeof(message->text),
			 "%s: workload %s with policy %s may add pages, up to %u for each "
			 "of these; give %u at most",
			 words_of(scene).text, scene->workload->name,
			 pfs_variant_name(scene->variant), config.page_max,
			 PFS_PAGE_MAX / config.page_max);
	return PFS_BAD_CONFIG;
}

/* Filling the machine's memory would make the kernel kill some process. */
static enum pfs_status check_bytes(const struct pfs_scene *scene, const struct pfs_config *config,
				   struct pfs_message *message)
{
	const struct pfs_options *options = scene->options;
	uint32_t pages = scene->workload->has_records ? pfs_scene_record_pages(scene)
						      : pfs_scene_page_count(scene);
	pages = config->page_max < pages ? config->page_max : pages;
	double record = config->record_size_bytes + RECORD_HEADER_BYTES;
	double page = ceil(record * config->page_records / OS_PAGE_BYTES) * OS_PAGE_BYTES;
	struct words words = words_of(scene);
	double need = page * (double)pages * scene->workload->container_count;
	double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

	if (need <= have)
		return PFS_OK;
	if (scene->workload->has_records)
		snprintf(words.text, sizeof(words.text), "--records %u", scene->records);
	snprintf(message->text, sizeof(message->text),
		 "%s, --page-records %u: workload %s with records of %u bytes needs %.0f "
		 "GiB, this machine has %.0f; lower one of them",
		 words.text, options->page_records, scene->workload->name,
		 config->record_size_bytes, ceil(need / GIB), floor(have / GIB));
	return PFS_BAD_CONFIG;
}

enum pfs_status pfs_scene_check(const struct pfs_scene *scene, struct pfs_message *message)
{
	enum pfs_status status = scene->workload->has_records ? check_record_pages(scene, message)
							      : PFS_OK;

	for (uint32_t i = 0; i < scene->workload->container_count && status == PFS_OK; i++) {
		struct pfs_config config;
		pfs_scene_configure(scene, i, &config);
		status = check_pages(scene, i, config.page_max, message);
		if (status == PFS_OK)
			status = pfs_config_check(&config, message);
		if (status == PFS_OK)
			status = check_records(scene, &config, message);
		if (status == PFS_OK)
			status = check_bytes(scene, &config, message);
	}
	return status;
}
