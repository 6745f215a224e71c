/*
 * rules.h - matching frames with the rules that owner.h describes.
 */
#ifndef PFS_MEM_RULES_H
#define PFS_MEM_RULES_H

#include "owner.h"

/* What rules look at; NULL: not known. */
struct pfs_rule_frame {
	const char *function, *file, *module;
};
struct pfs_rule_frame pfs_rule_frame(const struct pfs_heap *heap, struct pfs_frame_of frame);

/* rules may be NULL. */
bool pfs_rules_skip(const struct pfs_rules *rules, const struct pfs_rule_frame *frame);
const char *pfs_rules_name(const struct pfs_rules *rules, const struct pfs_rule_frame *frame);

#endif
