/*
 * epoch.h - read sections: a page that was taken out of use keeps its memory until every
 * thread that may have seen it has left its section.
 *
 * A seam with two sides, chosen for the whole build: our own scheme (epoch_own.h, the
 * default) and Concurrency Kit's ck_epoch (epoch_ck.h, PFS_EPOCH_CK). Both give
 *
 *	pfs_epoch_init, pfs_epoch_fini                   of a container
 *	pfs_epoch_thread_init                            once for each handle, which lives on
 *	pfs_epoch_thread_end                             in a forked child: its thread is gone
 *	pfs_epoch_enter, pfs_epoch_leave                 nested sections; the hot pair
 *	pfs_epoch_advance -> tag                         after pages were unlinked
 *	pfs_epoch_wait, then for each thread
 *	pfs_epoch_thread_passed(tag) -> bool             may their memory go?
 *
 * wait blocks for readers with ck_epoch and is empty with ours.
 */
#ifndef PFS_EPOCH_H
#define PFS_EPOCH_H

#ifdef PFS_EPOCH_CK
#include "epoch_ck.h"
#else
#include "epoch_own.h"
#endif

#endif
