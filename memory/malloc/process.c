/*
 * process.c - the process begins, and ends.
 */
#include "cache.h"
#include "conf.h"
#include "last.h"
#include "start.h"
#include "stats.h"

__attribute__((constructor(101))) static void at_begin(void)
{
	pfs_start();
	pfs_conf_start();
	pfs_start_first();
}

__attribute__((destructor(101))) static void at_end(void)
{
	if (pfs_is_last())
		return;
	if (pfs_conf.stats_print)
		pfs_stats_print();
	/* What is wrong with a block that was freed is noticed when it leaves its ring, so at the
	 * latest here. */
	pfs_caches_end();
}
