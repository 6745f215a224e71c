/*
 * flame.h - a flame graph in one file, with the roots on top and the widest first: SVG, or a page
 * around it with a table. It needs nothing from anywhere, and can be read without scripts; with
 * them a click or Enter shows what is below a frame, arrows move the focus, and / searches.
 */
#ifndef PFS_MEM_FLAME_H
#define PFS_MEM_FLAME_H

#include "owner.h"

struct pfs_flame_options {
	bool as_page;  /* HTML; else SVG */
	bool of_total; /* all since the beginning; else what is in use */
	bool is_part;  /* only the graph, without a head: for a page that has its own */
	const struct pfs_rules *rules; /* of the page's table; NULL: none */
};

/* pfs_flame_write - as pfs_heap_write. */
bool pfs_flame_write(const struct pfs_heap *heap, const struct pfs_flame_options *options,
		     FILE *out, struct pfs_message *message);

#endif
