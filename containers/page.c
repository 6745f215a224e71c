#include "page.h"

#define PFS_OS_PAGE_BYTES 4096u

static size_t round_up(size_t value, size_t unit)
{
	return (value + unit - 1) / unit * unit;
}

struct pfs_page_shape pfs_page_shape_of(const struct pfs_config *config, uint32_t line_count)
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
	/* Room to align the records whatever the colour: a colour is a multiple of a line. */
	shape.records_offset = round_up(shape.words_offset + words_bytes, PFS_LINE);
	size_t slack = (PFS_PAGE_COLOURS - 1) * PFS_PAGE_COLOUR_BYTES + base_align;
	shape.block_bytes = round_up(shape.records_offset + slack +
					     config->page_records * shape.record_stride,
				     PFS_OS_PAGE_BYTES);
	return shape;
}

struct pfs_page *pfs_page_make(void *block, const struct pfs_page_shape *shape,
			       struct pfs_container *container, uint32_t index,
			       uint32_t slot_count, uint32_t version_base)
{
	uint32_t colour = index % PFS_PAGE_COLOURS * PFS_PAGE_COLOUR_BYTES;
	struct pfs_page *page = (struct pfs_page *)(void *)((char *)block + colour);
	uintptr_t first = (uintptr_t)page + shape->records_offset;
	size_t align = shape->user_offset > PFS_LINE ? shape->user_offset : PFS_LINE;

	first = (first + align - 1) / align * align;
	page->container = container;
	page->index = index;
	page->slot_count = slot_count;
	page->block_colour = colour;
	page->word_stride = shape->word_stride;
	page->record_stride = shape->record_stride;
	/* The header of slot s ends at first + s * stride + user_offset. */
	page->records = (char *)first + shape->user_offset - sizeof(struct pfs_record_header);
	page->words = page->word_stride == page->record_stride
			      ? page->records + offsetof(struct pfs_record_header, lock)
			      : (char *)page + shape->words_offset;
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		void *record = pfs_page_record(page, slot);
		struct pfs_record_header *header = pfs_record_header_of(record);
		struct pfs_lock *lock = pfs_page_lock(page, slot);
		header->page_offset = (uint32_t)((char *)header - (char *)page);
		header->slot = slot;
		header->lock_offset = (int32_t)((char *)lock - (char *)header);
		pfs_store_relaxed(&lock->word, version_base); /* relaxed: not yet published */
	}
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
