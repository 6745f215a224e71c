/*
 * reclaim.h - one reclaim pass over a container; see reclaim.c.
 */
#ifndef PFS_RECLAIM_H
#define PFS_RECLAIM_H

#include "container.h"

/* What differs between policies. */
struct pfs_reclaim_ops {
	/* Optional: the pass begins; records in caches become free. */
	void (*begin)(struct pfs_container *self);
	/* Under `growth`: own every record of an empty page and unlink it, or leave it. */
	bool (*retire)(struct pfs_container *self, struct pfs_page *page);
	/* Optional: the page's draining mark was just changed. */
	void (*marked)(struct pfs_container *self, struct pfs_page *page);
	/* Optional: give back pages that were made and not published; returns how many. */
	uint32_t (*give_reserve)(struct pfs_container *self, enum pfs_reclaim_kind kind);
};

/* For policies whose records are claimed by the word alone. */
extern const struct pfs_reclaim_ops pfs_reclaim_by_words;

/*
 * pfs_reclaim_run - one pass: mark sparse pages, give back empty ones.
 *
 * Returns   pages whose memory was given back during this call; 0 if the caller is inside a read
 *           section of this container. PFS_RECLAIM_PASS: also 0 if another pass is running; the
 *           other kinds wait for that one.
 * Errors    none.
 * Progress  waits for `growth` to retire or mark a page; never for a reader.
 * Order     see reclaim.c.
 * Cost      one load for 32 records of the container (without an index: for each record), one look
 *           at each handle while pages wait, a sort of its pages, decay_passes loads.
 */
uint32_t pfs_reclaim_run(struct pfs_thread *thread, enum pfs_reclaim_kind kind,
			 const struct pfs_reclaim_ops *ops);

#endif
