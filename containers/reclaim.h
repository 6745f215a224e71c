/*
 * reclaim.h - one reclaim pass over a container; see reclaim.c.
 */
#ifndef PFS_RECLAIM_H
#define PFS_RECLAIM_H

#include "container.h"

/*
 * pfs_reclaim_words_pass - mark sparse pages, give back empty ones; for policies whose
 * records are claimed by the word alone.
 *
 * Returns   pages whose memory went back during this call; 0 if another pass is running, or
 *           if the caller is inside a read section of this container.
 * Errors    none.
 * Progress  waits for no allocator and no reader (with PFS_EPOCH_CK: for readers).
 * Order     see reclaim.c.
 * Cost      one load a record of the container.
 */
uint32_t pfs_reclaim_words_pass(struct pfs_thread *thread, bool now);

#endif
