/*
 * process.c - what runs when the process starts and ends.
 */
#include "cache.h"
#include "conf.h"
#include "last.h"
#include "start.h"
#include "stats.h"

__attribute__((constructor(101))) static void at_begin(void)
{
	pfs_start();
	(void)pfs_conf_start();
	pfs_start_first();
}

__attribute__((destructor(101))) static void at_end(void)
{
	if (pfs_is_last())
		return;
	if (pfs_conf.stats_print)
		pfs_stats_print();
	/* An invalid free is detected when the block leaves its ring: here at the latest. */
	pfs_caches_end();
}
