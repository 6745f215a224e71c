/* config.c - the defaults of a configuration, and the one-line errors of a bad one. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <pfslab/config.h>

#include "decay.h"
#include "message.h"
#include "page.h"

#define PFS_RECORD_BYTES_MAX (1u << 20)
#define PFS_RECORD_ALIGN_MAX 4096u
#define PFS_PAGE_RECORDS_MAX 65536u
/* A page is one mapping, and the offset of a word in it must fit 31 bits. */
#define PFS_PAGE_BYTES_MAX (UINT64_C(1) << 30)
#define PFS_POLICY_LINES_MAX 8u /* more than any policy has; one check for all policies */

enum pfs_status pfs_message_set(struct pfs_message *message, enum pfs_status status,
				const char *format, ...)
{
	va_list arguments;
	if (message == NULL)
		return status;
	va_start(arguments, format);
	(void)vsnprintf(message->text, sizeof(message->text), format, arguments);
	va_end(arguments);
	(void)pfs_one_line(message->text);
	return status;
}

void pfs_config_init(struct pfs_config *config)
{
	*config = (struct pfs_config){
		.record_size_bytes = 48,
		.record_align_bytes = 16,
		.page_records = 256,
		.page_max = 256,
		.layout = PFS_LAYOUT_IN_RECORD,
		.memory = PFS_MEMORY_FIRST_TOUCH,
		.full_flags = true,
		.reclaim = { .headroom_percent = 25,
			     .spare_pages = 1,
			     .idle_passes = 2,
			     .decay_passes = 16 },
		.seed = 1,
	};
}

struct range {
	const char *name;
	uint64_t value, low, high;
};

static enum pfs_status check_ranges(const struct range *ranges, size_t count,
				    struct pfs_message *message)
{
	for (size_t i = 0; i < count; i++) {
		const struct range *range = &ranges[i];
		if (range->value < range->low || range->value > range->high)
			return pfs_message_set(
				message, PFS_BAD_CONFIG, "%s %llu: must be between %llu and %llu",
				range->name, (unsigned long long)range->value,
				(unsigned long long)range->low, (unsigned long long)range->high);
	}
	return PFS_OK;
}

/* Conditions that involve more than one value. */
static enum pfs_status check_fit(const struct pfs_config *config, struct pfs_message *message)
{
	uint64_t capacity = (uint64_t)config->page_max * config->page_records;

	if ((config->record_align_bytes & (config->record_align_bytes - 1)) != 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "record_align_bytes %u: must be a power of two",
				       config->record_align_bytes);
	if (pfs_page_shape_of(config, PFS_POLICY_LINES_MAX).granules_bytes > PFS_PAGE_BYTES_MAX)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "page of %u records of %u bytes: a page has at most 1 GiB; "
				       "lower page_records",
				       config->page_records, config->record_size_bytes);
	if (config->tag_bytes != 0 && config->tag_bytes != 4 && config->tag_bytes != 8)
		return pfs_message_set(message, PFS_BAD_CONFIG, "tag_bytes %u: must be 0, 4 or 8",
				       config->tag_bytes);
	if (config->layout != PFS_LAYOUT_BARE && (config->bare_words || config->tag_bytes != 0))
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "%s: only with layout bare; choose it, or unset this",
				       config->bare_words ? "bare_words" : "tag_bytes");
	if (config->layout != PFS_LAYOUT_OWN_WORD && config->word_offset != 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "word_offset %u: only with layout own word; choose it, or "
				       "unset this",
				       config->word_offset);
	if (config->word_offset % 4 != 0 || config->word_offset > config->record_size_bytes - 4)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "word_offset %u: must be a multiple of 4, and at most 4 "
				       "below record_size_bytes (%u)",
				       config->word_offset, config->record_size_bytes);
	if (config->give_back != PFS_GIVE_BACK_ADDRESSES && pfs_layout_has_headers(config->layout))
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "give_back %d: needs a layout without headers; choose bare "
				       "or own word, or unset this",
				       (int)config->give_back);
	if (config->give_back == PFS_GIVE_BACK_MEMORY && config->source != NULL &&
	    config->source->discard == NULL)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "give_back memory: the source has no discard; add one, or "
				       "choose another give_back");
	if (config->huge_pages != PFS_HUGE_NEVER && config->source != NULL)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "huge_pages: only with the default source of memory; let "
				       "yours advise, or unset this");
	if (config->lasting_references && config->layout == PFS_LAYOUT_BARE && !config->bare_words)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "lasting_references: weak references need words; set "
				       "bare_words, or choose another layout");
	if (config->record_max > capacity)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "record_max %llu: page_max * page_records is %llu; raise "
				       "page_max or lower record_max",
				       (unsigned long long)config->record_max,
				       (unsigned long long)capacity);
	return PFS_OK;
}

enum pfs_status pfs_config_check(const struct pfs_config *config, struct pfs_message *message)
{
	const struct range ranges[] = {
		{ "record_size_bytes", config->record_size_bytes, 8, PFS_RECORD_BYTES_MAX },
		{ "record_align_bytes", config->record_align_bytes, 8, PFS_RECORD_ALIGN_MAX },
		{ "page_records", config->page_records, 1, PFS_PAGE_RECORDS_MAX },
		{ "page_max", config->page_max, 0, PFS_PAGE_MAX },
		{ "page_prealloc", config->page_prealloc, 0, config->page_max },
		{ "layout", (uint64_t)config->layout, 0, PFS_LAYOUT_OWN_WORD },
		{ "give_back", (uint64_t)config->give_back, 0, PFS_GIVE_BACK_ARRAYS },
		{ "huge_pages", (uint64_t)config->huge_pages, 0, PFS_HUGE_ADVISE },
		{ "memory", (uint64_t)config->memory, 0, PFS_MEMORY_NODE },
		{ "reclaim.headroom_percent", config->reclaim.headroom_percent, 0, 1000 },
		{ "reclaim.idle_passes", config->reclaim.idle_passes, 1, 1000 },
		{ "reclaim.decay_passes", config->reclaim.decay_passes, 0, PFS_DECAY_PASSES_MAX },
	};
	enum pfs_status status = check_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), message);
	return status != PFS_OK ? status : check_fit(config, message);
}
