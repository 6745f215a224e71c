/*
 * layout_option.h - the names of the layouts of records on the command line.
 */
#ifndef PFS_BENCH_LAYOUT_OPTION_H
#define PFS_BENCH_LAYOUT_OPTION_H

#include <pfslab/config.h>

/* The value of --layout; PFS_BAD_CONFIG with a line in *message. */
enum pfs_status pfs_layout_option_read(const char *text, enum pfs_layout *layout, bool *bare_words,
				       struct pfs_message *message);

/* The name of a layout. */
const char *pfs_layout_option_name(enum pfs_layout layout, bool bare_words);

/* In this layout, does a policy with these traits have the needed ones? */
bool pfs_layout_option_fits(enum pfs_layout layout, bool bare_words, uint32_t traits,
			    uint32_t needed);

/* After the workload has set the size of its records: room for their own words behind them. */
void pfs_layout_option_finish(struct pfs_config *config);

#endif
