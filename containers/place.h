/*
 * place.h - the page, slot and word of a record, in every layout.
 *
 * With a header the record says it itself (page.h). In the layouts without headers the page map
 * finds its page, and a multiplication its slot. The handle's traits tell which case it is: one
 * test of a line that every call loads.
 */
#ifndef PFS_PLACE_H
#define PFS_PLACE_H

#include "container.h"

struct pfs_place {
	struct pfs_page *page; /* NULL: there is none */
	uint32_t slot;
};

/* No headers: PFS_LAYOUT_BARE or PFS_LAYOUT_OWN_WORD. */
static inline bool pfs_is_bare(const struct pfs_thread *thread)
{
	return (thread->traits & PFS_TRAIT_BARE) != 0;
}

static inline struct pfs_place pfs_header_place(const void *record)
{
	return (struct pfs_place){ pfs_record_page(record), pfs_record_slot(record) };
}

/* Of a record that the caller owns. Anything else is caught, except another live record. */
static inline struct pfs_place pfs_bare_place(struct pfs_container *self, const void *record)
{
	struct pfs_page *page = pfs_container_page_with(self, record);
	PFS_ASSERT(page != NULL, "free or abandon of a pointer in no page of the handle's "
				 "container");
	size_t distance = (uintptr_t)record - (uintptr_t)pfs_page_record(page, 0);
	uint32_t slot = pfs_page_slot_at(&self->shape, distance);
	PFS_ASSERT(slot < page->slot_count && slot * self->shape.record_stride == distance,
		   "free or abandon of a pointer into a record, not to its first byte");
	return (struct pfs_place){ page, slot };
}

/* The same in any layout: by the handle; or by the container, which also works for records that
 * were looked up in the current section. */
static inline struct pfs_place pfs_place_of(struct pfs_thread *thread, const void *record)
{
	if (pfs_likely(!pfs_is_bare(thread)))
		return pfs_header_place(record);
	return pfs_bare_place(thread->container, record);
}

static inline struct pfs_place pfs_place_in(struct pfs_container *self, const void *record)
{
	if (pfs_likely(pfs_layout_has_headers(self->config.layout)))
		return pfs_header_place(record);
	return pfs_bare_place(self, record);
}

/* The entry of a place in lives.h; NULL: there is none. */
static inline _Atomic(uint64_t) *pfs_life_at(struct pfs_place place)
{
	return place.page->lives != NULL ? &place.page->lives[place.slot] : NULL;
}

/* The word of such a record; NULL: it has none. */
static inline struct pfs_lock *pfs_lock_of(struct pfs_thread *thread, const void *record)
{
	if (pfs_likely(!pfs_is_bare(thread)))
		return pfs_record_lock(record);
	if ((thread->traits & PFS_TRAIT_WORDS) == 0)
		return NULL;
	struct pfs_place place = pfs_bare_place(thread->container, record);
	return pfs_page_lock(place.page, place.slot);
}

#endif
