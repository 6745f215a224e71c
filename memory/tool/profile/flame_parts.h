/*
 * flame_parts.h - the style and the script of a flame graph, and its labels.
 */
#ifndef PFS_MEM_FLAME_PARTS_H
#define PFS_MEM_FLAME_PARTS_H

#include "tree.h"

#define PFS_FLAME_COLOURS 9

extern const char pfs_flame_style[], pfs_flame_page_style[], pfs_flame_script[];

/* "function file.c:12", escaped. */
void pfs_flame_label(const struct pfs_tree *tree, const struct pfs_node *node, FILE *out);

#endif
