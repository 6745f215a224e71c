/*
 * layout_option.h - the words for the layouts of records.
 */
#ifndef PFS_BENCH_LAYOUT_OPTION_H
#define PFS_BENCH_LAYOUT_OPTION_H

#include <pfslab/config.h>

/* The value of --layout; PFS_BAD_CONFIG with a line in *message. */
enum pfs_status pfs_layout_option_read(const char *text, enum pfs_layout *layout, bool *bare_words,
				       struct pfs_message *message);

/* The word for it. */
const char *pfs_layout_option_name(enum pfs_layout layout, bool bare_words);

/* Has a policy with such traits, in this layout, what is needed? */
bool pfs_layout_option_fits(enum pfs_layout layout, bool bare_words, uint32_t traits,
			    uint32_t needed);

#endif
