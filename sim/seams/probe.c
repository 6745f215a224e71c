#include "sim/seams/probe.h"

#include <string.h>

#include "containers/container.h"
#include "variants/exact/occupancy.h"

/* Plain reads: no virtual thread runs during a probe. */
static uint32_t word_of(const struct pfs_page *page, uint32_t slot)
{
	uint32_t word = 0;
	if (page->words != NULL)
		memcpy(&word, (const void *)pfs_page_lock(page, slot), sizeof(word));
	return word;
}

static const struct pfs_page *page_of(const struct pfs_container *container, uint32_t index)
{
	const struct pfs_page *page = NULL;
	if (index < container->page_capacity)
		memcpy(&page, (const void *)&container->directory[index], sizeof(page));
	return page;
}

/* The name of a line that a policy asked for, of the container's or a page's; or NULL. */
static const char *line_at(const struct pfs_variant *variant, const char *lines,
			   const void *address)
{
	for (uint32_t i = 0; variant->lines != NULL && variant->lines[i] != NULL; i++) {
		if (address == (const void *)(lines + i * PFS_LINE))
			return variant->lines[i];
	}
	return NULL;
}

static bool name_in_page(const struct pfs_page *page, uint32_t index, const char *address,
			 char *name, size_t name_bytes)
{
	const char *line = line_at(page->container->variant, pfs_page_policy(page), address);
	if (line != NULL)
		(void)snprintf(name, name_bytes, "page[%u].%s", index, line);
	else if (address == (const char *)&page->draining)
		(void)snprintf(name, name_bytes, "page[%u].draining", index);
	else if (address == (const char *)pfs_page_block(page))
		(void)snprintf(name, name_bytes, "page[%u]", index);
	else
		for (uint32_t slot = 0; slot < page->slot_count; slot++) {
			if (address != (const char *)pfs_page_lock(page, slot))
				continue;
			(void)snprintf(name, name_bytes, "page[%u].record[%u]", index, slot);
			return true;
		}
	return line != NULL || address == (const char *)&page->draining ||
	       address == (const char *)pfs_page_block(page);
}

static bool name_of_field(const struct pfs_container *container, const void *address, char *name,
			  size_t name_bytes)
{
	bool has_words = container->variant->next_used == pfs_occupancy_next_used;
	const struct {
		const void *address;
		const char *name;
	} fields[] = {
		{ &container->page_limit, "page_limit" },
		{ &container->growth, "growth" },
		{ &container->growths, "growths" },
		{ &container->drain_round, "drain_round" },
		{ &container->passing, "passing" },
		{ &container->roster, "roster" },
		{ &container->keeping, "keeping" },
		{ &container->epoch.clock, "clock" },
		{ &container->pages, "pages" },
		{ has_words ? &((struct pfs_occupancy *)container->policy)->mapping : NULL,
		  "mapping" },
	};
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].address != address)
			continue;
		(void)snprintf(name, name_bytes, "%s", fields[i].name);
		return true;
	}
	const char *line = line_at(container->variant, container->policy, address);
	if (line != NULL)
		(void)snprintf(name, name_bytes, "%s", line);
	return line != NULL;
}

bool pfs_probe_name(const struct pfs_container *container, const void *address, char *name,
		    size_t name_bytes)
{
	if (container == NULL || address == NULL)
		return false;
	if (name_of_field(container, address, name, name_bytes))
		return true;
	for (uint32_t index = 0; index < container->page_capacity; index++) {
		const struct pfs_page *page = page_of(container, index);
		if (address == (const void *)&container->directory[index]) {
			(void)snprintf(name, name_bytes, "directory[%u]", index);
			return true;
		}
		if (page != NULL && name_in_page(page, index, address, name, name_bytes))
			return true;
	}
	return false;
}

void pfs_probe_states(const struct pfs_container *container, struct pfs_probe_states *states)
{
	memset(states, 0, sizeof(*states));
	for (uint32_t index = 0; index < container->page_capacity; index++) {
		const struct pfs_page *page = page_of(container, index);
		states->pages += page != NULL;
		for (uint32_t slot = 0; page != NULL && slot < page->slot_count; slot++) {
			uint32_t state = pfs_word_state(word_of(page, slot));
			states->free += state == PFS_STATE_FREE;
			states->dirty += state == PFS_STATE_DIRTY;
			states->allocated += state == PFS_STATE_ALLOCATED;
		}
	}
}

uint32_t pfs_probe_page_free(const struct pfs_container *container, uint32_t index)
{
	const struct pfs_page *page = page_of(container, index);
	uint32_t free = 0;
	for (uint32_t slot = 0; page != NULL && slot < page->slot_count; slot++)
		free += pfs_word_state(word_of(page, slot)) == PFS_STATE_FREE;
	return free;
}

bool pfs_probe_word(const struct pfs_container *container, uint32_t index, uint32_t slot,
		    uint32_t *word)
{
	const struct pfs_page *page = page_of(container, index);
	if (page == NULL || slot >= page->slot_count)
		return false;
	*word = word_of(page, slot);
	return true;
}

const void *pfs_probe_line(const struct pfs_container *container, uint32_t index, const char *name)
{
	const struct pfs_page *page = page_of(container, index);
	const char *lines = index == PFS_PROBE_CONTAINER ? container->policy
			    : page != NULL               ? pfs_page_policy(page)
							 : NULL;
	const char *const *names = container->variant->lines;
	for (uint32_t i = 0; lines != NULL && names != NULL && names[i] != NULL; i++) {
		if (strcmp(names[i], name) == 0)
			return lines + i * PFS_LINE;
	}
	return NULL;
}

uint64_t pfs_probe_cursor(const struct pfs_container *container)
{
	const void *line = pfs_probe_line(container, PFS_PROBE_CONTAINER, "cursor");
	uint64_t cursor = 0;
	if (line != NULL)
		memcpy(&cursor, line, sizeof(cursor));
	return cursor;
}
