/*
 * kept.h - pages that were given back and whose addresses stay, and the calls of a page's hooks.
 *
 * With config.give_back other than PFS_GIVE_BACK_ADDRESSES a page that is given back goes into the
 * container's list of kept pages. The next page that is added uses one of them with as many
 * records, if possible that of its own index.
 *
 * Invariant: a kept page is in no directory and no limbo. With PFS_GIVE_BACK_MEMORY its block holds
 * no memory and reads as zeros: each word is FREE, at version 0. With PFS_GIVE_BACK_ARRAYS each
 * word is FREE, at its last version. In both, a page that uses the block again begins with versions
 * above all that its words ever had. So a word that a reader saw ALLOCATED outside a section is
 * never found again after its page was given back.
 * Limits:    versions wrap, as those of pfs_lock. A page that comes to another index begins at the
 *            later of two versions, by up to 2^29 publishes later than the earlier one. So a reader
 *            or reference may be mistaken after 2^29 publishes, where pages move from index to
 *            index.
 *
 * `keeping` guards the list. It is the innermost lock of a container: it is taken under `growth`,
 * `passing` and the locks of policies.
 */
#ifndef PFS_KEPT_H
#define PFS_KEPT_H

#include "container.h"

/*
 * pfs_kept_take - a kept page, laid out anew for an index; NULL: there is none.
 *
 * Returns   a page that is not published, all records FREE, its arrays as they were. Its node, too,
 *           unless its memory is touched anew by the caller.
 * Errors    none.
 * Progress  blocking.
 * Order     none: publishing the page releases it.
 */
struct pfs_page *pfs_kept_take(struct pfs_container *self, uint32_t index, uint32_t slot_count);

/* Keep a page that no thread can see, or unmap it, as config.give_back says. The next page in its
 * block begins at version_base. Blocking. */
void pfs_kept_or_unmap(struct pfs_container *self, struct pfs_page *page, uint32_t version_base);

/* Resident bytes of the kept pages; 0 if there is no memory for their list. Under `passing`. */
uint64_t pfs_kept_resident(struct pfs_container *self);

/* Unmap all kept pages: the container is being destroyed. */
void pfs_kept_end(struct pfs_container *self);

/* The hooks of the page's container. come: false if a hook refused the page. */
bool pfs_page_come(struct pfs_page *page);
void pfs_page_go(struct pfs_page *page);

#endif
