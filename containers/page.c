#include "page.h"

#include "annotate.h"

static size_t round_up(size_t value, size_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/*
 * Division by the stride d, of distances n, both in units of 8 bytes. Let k = 27 + ceil(log2 d) and
 * let the factor m be 2^k / d rounded up, so m * d = 2^k + e with 0 <= e < d <= 2^(k - 27). Then
 *
 *	n * m / 2^k = n / d + n * e / (d * 2^k)
 *
 * The second term is less than 1 / d if n * e is less than 2^k, which holds for n < 2^27; so the
 * sum never reaches the next whole number. Pages have at most 2^30 bytes, so n < 2^27; and m <=
 * 2^28, so the product fits 64 bits.
 */
static void set_slot_division(struct pfs_page_shape *shape)
{
	uint64_t units = shape->record_stride / 8;
	uint32_t shift = 27;
	while (UINT64_C(1) << (shift - 27) < units)
		shift++;
	shape->slot_shift = shift;
	shape->slot_factor = ((UINT64_C(1) << shift) + units - 1) / units;
}

/* Bytes to request beyond the page's size, so that the page can begin at a granule. */
static size_t granule_slack(const struct pfs_config *config)
{
	size_t align = PFS_GRANULE_BYTES; /* the default source maps whole OS pages */
	if (config->source != NULL)
		align = config->source->align_bytes != 0 ? config->source->align_bytes : PFS_LINE;
	return align < PFS_GRANULE_BYTES ? PFS_GRANULE_BYTES - align : 0;
}

/* What follows the records, and where the block ends. */
static void set_end(struct pfs_page_shape *shape, const struct pfs_config *config, size_t end)
{
	if (config->lasting_references) {
		shape->lives_offset = round_up(end, PFS_LINE);
		end = shape->lives_offset + config->page_records * sizeof(uint64_t);
	}
	shape->granules_bytes = round_up(end, PFS_GRANULE_BYTES);
}

static struct pfs_page_shape bare_shape_of(const struct pfs_config *config, uint32_t line_count)
{
	struct pfs_page_shape shape = { .tag_bytes = config->tag_bytes };
	size_t records = config->page_records;

	shape.record_stride = round_up(config->record_size_bytes, config->record_align_bytes);
	shape.apart_bytes = PFS_PAGE_POLICY_OFFSET + line_count * PFS_LINE;
	size_t end = records * shape.record_stride;
	if (config->layout == PFS_LAYOUT_OWN_WORD) {
		shape.words_offset = config->word_offset;
		shape.word_stride = shape.record_stride;
	} else if (config->bare_words) {
		shape.words_offset = round_up(end, PFS_LINE);
		shape.word_stride = sizeof(struct pfs_lock);
		end = shape.words_offset + records * shape.word_stride;
	}
	if (config->tag_bytes != 0) {
		shape.tags_offset = round_up(end, PFS_LINE);
		end = shape.tags_offset + records * config->tag_bytes;
	}
	set_end(&shape, config, end);
	return shape;
}

static struct pfs_page_shape shape_with_header(const struct pfs_config *config, uint32_t line_count)
{
	size_t header = sizeof(struct pfs_record_header);
	size_t align = config->record_align_bytes > header ? config->record_align_bytes : header;
	size_t base_align = align > PFS_LINE ? align : PFS_LINE;
	struct pfs_page_shape shape = { 0 };

	/* The header ends where the user's bytes begin; both are aligned. */
	shape.user_offset = align;
	shape.record_stride = round_up(shape.user_offset + config->record_size_bytes, align);
	shape.words_offset = PFS_PAGE_POLICY_OFFSET + line_count * PFS_LINE;
	size_t words_bytes = 0;
	if (config->layout == PFS_LAYOUT_SIDE_BY_SIDE) {
		shape.word_stride = sizeof(struct pfs_lock);
		words_bytes = (size_t)config->page_records * sizeof(struct pfs_lock);
	} else {
		shape.word_stride = shape.record_stride;
	}
	/* Room to align the records for any colour: a colour is a multiple of a line. */
	shape.records_offset = round_up(shape.words_offset + words_bytes, PFS_LINE);
	size_t slack = (PFS_PAGE_COLOURS - 1) * PFS_PAGE_COLOUR_BYTES + base_align;
	set_end(&shape, config,
		shape.records_offset + slack + config->page_records * shape.record_stride);
	return shape;
}

struct pfs_page_shape pfs_page_shape_of(const struct pfs_config *config, uint32_t line_count)
{
	struct pfs_page_shape shape = pfs_layout_has_headers(config->layout)
					      ? shape_with_header(config, line_count)
					      : bare_shape_of(config, line_count);
	shape.block_bytes = shape.granules_bytes + granule_slack(config);
	set_slot_division(&shape);
	return shape;
}

static void place_bare(struct pfs_page *page, char *first, const struct pfs_page_shape *shape)
{
	page->is_bare = 1;
	page->records = first - sizeof(struct pfs_record_header);
	page->words = shape->word_stride != 0 ? first + shape->words_offset : NULL;
	page->tags = shape->tags_offset != 0 ? first + shape->tags_offset : NULL;
}

static void place_with_header(struct pfs_page *page, const struct pfs_page_shape *shape)
{
	size_t align = shape->user_offset > PFS_LINE ? shape->user_offset : PFS_LINE;
	uintptr_t first = round_up((uintptr_t)page + shape->records_offset, align);

	/* The header of slot s ends at first + s * stride + user_offset. */
	page->records = (char *)first + shape->user_offset - sizeof(struct pfs_record_header);
	page->words = page->word_stride == page->record_stride
			      ? page->records + offsetof(struct pfs_record_header, lock)
			      : (char *)page + shape->words_offset;
	for (uint32_t slot = 0; slot < page->slot_count; slot++) {
		void *record = pfs_page_record(page, slot);
		struct pfs_record_header *header = pfs_record_header_of(record);
		struct pfs_lock *lock = pfs_page_lock(page, slot);
		header->page_offset = (uint32_t)((char *)header - (char *)page);
		header->slot = slot;
		header->lock_offset = (int32_t)((char *)lock - (char *)header);
	}
}

struct pfs_page *pfs_page_make(void *apart, void *block, const struct pfs_page_shape *shape,
			       struct pfs_container *container, uint32_t index, uint32_t slot_count,
			       uint32_t version_base)
{
	uintptr_t granules = round_up((uintptr_t)block, PFS_GRANULE_BYTES);
	uint32_t colour = index % PFS_PAGE_COLOURS * PFS_PAGE_COLOUR_BYTES;
	struct pfs_page *page = apart != NULL ? apart : (void *)(granules + colour);

	page->container = container;
	page->index = index;
	page->slot_count = slot_count;
	page->block = block;
	page->version_base = version_base;
	page->word_stride = shape->word_stride;
	page->record_stride = shape->record_stride;
	if (shape->lives_offset != 0)
		page->lives = (void *)((char *)granules + shape->lives_offset);
	if (apart != NULL)
		place_bare(page, (char *)granules, shape);
	else
		place_with_header(page, shape);
	for (uint32_t slot = 0; page->words != NULL && slot < slot_count; slot++)
		/* relaxed: not yet published */
		pfs_store_relaxed(&pfs_page_lock(page, slot)->word, version_base);
	for (uint32_t slot = 0; slot < slot_count; slot++)
		pfs_annotate_release(pfs_page_record(page, slot));
	return page;
}

uint32_t pfs_page_live(const struct pfs_page *page)
{
	uint32_t live = 0;
	for (uint32_t slot = 0; slot < page->slot_count; slot++) {
		/* relaxed: states to count and to decide by; nothing is read through them. */
		uint32_t word = pfs_load_relaxed(&pfs_page_lock(page, slot)->word);
		live += pfs_word_state(word) != PFS_STATE_FREE;
	}
	return live;
}
