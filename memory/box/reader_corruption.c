/*
 * reader_corruption.c - read what the allocator found of memory corruption before the program
 * ended.
 */
#include <stdlib.h>

#include "reader_inside.h"

const char *pfs_box_corruption_name(uint32_t kind)
{
	static const char *const names[PFS_BOX_CORRUPTION_KINDS] = {
		[PFS_BOX_OVERFLOW] = "overflow",
		[PFS_BOX_UNDERFLOW] = "underflow",
		[PFS_BOX_USE_AFTER_FREE] = "use after free",
		[PFS_BOX_DOUBLE_FREE] = "double free",
		[PFS_BOX_INVALID_POINTER] = "invalid pointer",
	};
	return kind < PFS_BOX_CORRUPTION_KINDS && names[kind] != NULL ? names[kind] : "";
}

static void take_trace(struct pfs_box_trace *trace)
{
	if (trace->depth > PFS_BOX_TRACE_FRAMES)
		trace->depth = PFS_BOX_TRACE_FRAMES;
	pfs_take_text(trace->thread, trace->thread, sizeof(trace->thread));
}

bool pfs_take_corruption(const struct pfs_reader *reader, struct pfs_snapshot *snapshot)
{
	/* [J10] acquire, pairs with [J9]: without it the record could be an unfinished one. */
	uint32_t kind = pfs_load_acquire(&pfs_reader_head(reader)->corruption);
	struct pfs_box_corruption *one = NULL;
	if (kind == 0 || kind >= PFS_BOX_CORRUPTION_KINDS ||
	    reader->regions[PFS_BOX_CORRUPTION].bytes < sizeof(*one))
		return true;
	one = calloc(1, sizeof(*one));
	if (one == NULL)
		return false;
	pfs_reader_array(reader, PFS_BOX_CORRUPTION, 0, one, sizeof(*one));
	one->kind = kind;
	pfs_take_text(one->call, one->call, sizeof(one->call));
	for (uint32_t i = 0; i < PFS_BOX_TRACES; i++)
		take_trace(&one->traces[i]);
	for (uint32_t i = 0; i < PFS_BOX_TRACE_MODULES; i++) {
		struct pfs_box_module *module = &one->modules[i];
		if (module->build_id_bytes > sizeof(module->build_id))
			module->build_id_bytes = 0;
		pfs_take_text(module->path, module->path, sizeof(module->path));
	}
	snapshot->corruption = one;
	return true;
}
