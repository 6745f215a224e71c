/*
 * page.h - a fixed array of records, their words, and what the policies keep for a page.
 *
 * A page is one mapped block, which begins and ends at a granule of the page map: [colour][struct
 * pfs_page][lines of the policy][words, if side by side][records]. Each record is a 16-byte header
 * and the user's bytes. The header leads to the page, and through one more offset, in both layouts,
 * to the record's word:
 *
 *	in record      header.word                     offset = that of the field
 *	side by side   words[slot] before the records  offset < 0
 *
 * The layouts bare and own word have no headers, and struct pfs_page is outside the block, which is
 * [records][words, if bare and asked for][tags, if asked for]: see place.h. In any layout a block
 * ends with the entries of lives.h, if asked for.
 *
 * Invariant: slot_count records; record s has its header at records + s * record_stride and its
 * word at words + s * word_stride. Nothing of the first group changes while the page is published.
 * The colour moves the headers of pages to different cache sets.
 */
#ifndef PFS_PAGE_H
#define PFS_PAGE_H

#include <stdalign.h>
#include <stddef.h>

#include <pfslab/config.h>

#include "atomic.h"
#include "page_map.h"
#include "pfs_lock.h"

#define PFS_PAGE_COLOURS 16u
#define PFS_PAGE_COLOUR_BYTES 256u

struct pfs_container;

struct pfs_page {
	struct pfs_container *container; /* growth only, as all up to node */
	void *index_words;               /* the policy's own index of the page */
	char *words;
	char *records;
	size_t word_stride;
	size_t record_stride;
	uint32_t slot_count;
	uint32_t index;
	uint32_t node;
	uint32_t is_bare;            /* its records have no headers; it is outside its block */
	_Atomic(uint32_t) draining;  /* reclaim pass: allocate elsewhere if possible */
	uint32_t idle_passes;        /* reclaim pass: consecutive passes that found it empty and
				      * marked */
	uint64_t limbo_tag;          /* reclaim pass */
	struct pfs_page *limbo_next; /* reclaim pass; of a kept page: under `keeping`, kept.h */
	uint64_t published;          /* growths when it came; growth only, as all below */
	void *block;                 /* of the source */
	char *tags;                  /* or NULL */
	_Atomic(uint64_t) *lives;    /* [slot_count], see lives.h; or NULL */
	void *arrays;                /* of the page's hooks */
	uint32_t version_base;       /* versions of this page start here; of a kept page: of the
				      * next one */
};

static inline bool pfs_layout_has_headers(enum pfs_layout layout)
{
	return layout == PFS_LAYOUT_IN_RECORD || layout == PFS_LAYOUT_SIDE_BY_SIDE;
}

/* Offset from the page to the lines of its policy. */
#define PFS_PAGE_POLICY_OFFSET ((sizeof(struct pfs_page) + PFS_LINE - 1) / PFS_LINE * PFS_LINE)

struct pfs_record_header {
	uint32_t page_offset; /* from the record's page to this header; growth only */
	uint32_t slot;        /* growth only */
	struct pfs_lock lock; /* used in the layout in record */
	int32_t lock_offset;  /* from this header to the record's word; growth only */
};

/* The layout of a page's block; the same for all pages of a container. */
struct pfs_page_shape {
	size_t block_bytes;
	size_t apart_bytes; /* of struct pfs_page and the policy's lines; 0: in the block */
	size_t tags_offset; /* bare: from the first record; 0: none. Same for words_offset */
	size_t tag_bytes;
	size_t lives_offset;   /* from the first granule; 0: none */
	size_t words_offset;   /* from struct pfs_page to the first word */
	size_t records_offset; /* from struct pfs_page to the first header */
	size_t word_stride;
	size_t record_stride;
	size_t user_offset;    /* from the start of a record's stride to the user's bytes */
	size_t granules_bytes; /* the part of a block that the page map covers */
	uint64_t slot_factor;  /* slot = offset / 8 * slot_factor >> slot_shift, see page.c */
	uint32_t slot_shift;
};

/* The slot of a record, from the distance of any of its bytes to the first byte of the first
 * record; exact for distances inside a page. Without a division, because look-ups by address call
 * it. */
static inline uint32_t pfs_page_slot_at(const struct pfs_page_shape *shape, size_t distance)
{
	return (uint32_t)((distance / 8 * shape->slot_factor) >> shape->slot_shift);
}

/* pfs_page_shape_of - from a checked configuration; line_count lines for the policy. */
struct pfs_page_shape pfs_page_shape_of(const struct pfs_config *config, uint32_t line_count);

/*
 * pfs_page_make - lay a page out in a zero-filled block; all records FREE at version_base. apart is
 * memory of apart_bytes for the page itself, or NULL if apart_bytes is 0.
 *
 * Returns   the page, inside the block or apart; not yet published.
 * Errors    none.
 * Progress  wait-free; writes each header once.
 * Order     none: publishing the page in the directory releases it.
 */
struct pfs_page *pfs_page_make(void *apart, void *block, const struct pfs_page_shape *shape,
			       struct pfs_container *container, uint32_t index, uint32_t slot_count,
			       uint32_t version_base);

/* Records in use by their words, each at the moment it was read. The page must stay. Wait-free. */
uint32_t pfs_page_live(const struct pfs_page *page);

/* The lines that the policy asked for. */
static inline void *pfs_page_policy(const struct pfs_page *page)
{
	return (char *)(uintptr_t)page + PFS_PAGE_POLICY_OFFSET;
}

static inline void *pfs_page_block(const struct pfs_page *page)
{
	return page->block;
}

/* Start of the page map's part of the block; it has shape.granules_bytes. */
static inline void *pfs_page_granules(const struct pfs_page *page)
{
	uintptr_t block = (uintptr_t)pfs_page_block(page);
	return (void *)((block + PFS_GRANULE_BYTES - 1) / PFS_GRANULE_BYTES * PFS_GRANULE_BYTES);
}

/* NULL if the records have no words. */
static inline struct pfs_lock *pfs_page_lock(const struct pfs_page *page, uint32_t slot)
{
	return (struct pfs_lock *)(void *)(page->words + slot * page->word_stride);
}

/* The user's bytes of a record. A header is directly before them; without headers, `records` is
 * offset as if there were one. */
static inline void *pfs_page_record(const struct pfs_page *page, uint32_t slot)
{
	char *record = page->records + slot * page->record_stride +
		       sizeof(struct pfs_record_header);
	if (record == NULL) /* so that callers do not test a claim that was just won */
		__builtin_unreachable();
	return record;
}

static inline struct pfs_record_header *pfs_record_header_of(const void *record)
{
	return (struct pfs_record_header *)(uintptr_t)record - 1;
}

static inline struct pfs_lock *pfs_record_lock(const void *record)
{
	struct pfs_record_header *header = pfs_record_header_of(record);
	return (struct pfs_lock *)(void *)((char *)header + header->lock_offset);
}

static inline struct pfs_page *pfs_record_page(const void *record)
{
	struct pfs_record_header *header = pfs_record_header_of(record);
	return (struct pfs_page *)(void *)((char *)header - header->page_offset);
}

static inline uint32_t pfs_record_slot(const void *record)
{
	return pfs_record_header_of(record)->slot;
}

#endif
