/*
 * corruption.c - pfs-mem corruption: the memory corruption that ended a program, and the stacks
 * that the allocator recorded for it.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "profile/symbols.h"

static void take_modules(struct pfs_heap *heap, const struct pfs_box_corruption *self)
{
	for (uint32_t i = 0; i < PFS_BOX_TRACE_MODULES && self->modules[i].end != 0; i++) {
		const struct pfs_box_module *from = &self->modules[i];
		struct pfs_heap_module module = { .begin = from->begin,
						  .end = from->end,
						  .file_offset = from->file_offset,
						  .path = pfs_heap_text(heap, from->path),
						  .build_id_bytes = from->build_id_bytes };
		memcpy(module.build_id, from->build_id, sizeof(module.build_id));
		if (module.begin < module.end)
			(void)pfs_heap_add_module(heap, &module);
	}
}

/* The first frame of an access is an instruction, the others are behind their calls. */
static uint32_t location_of(struct pfs_heap *heap, const struct pfs_box_corruption *self,
			    uint32_t of, uint32_t frame)
{
	bool is_call = of != PFS_BOX_TRACE_HERE || frame != 0 || self->call[0] != '\0';
	uint64_t pc = self->traces[of].frames[frame] - (is_call ? 1 : 0);
	return pfs_heap_location(heap, pc, pfs_heap_module_at(heap, pc, self->realtime_ns));
}

static void put_frame(const struct pfs_heap *heap, uint32_t location)
{
	const struct pfs_heap_location *at = &heap->locations[location];
	char text[512];
	uint32_t lines = at->line_count != 0 ? at->line_count : 1;
	for (uint32_t i = 0; i < lines; i++) {
		(void)printf("    %s", pfs_heap_frame_name(heap, location, i, text, sizeof(text)));
		if (i < at->line_count) {
			const struct pfs_heap_line *line = &heap->lines[at->first_line + i];
			if (line->file != 0)
				(void)printf(" (%s:%u)", pfs_heap_path_end(heap->texts[line->file]),
					     line->line);
		}
		(void)printf("\n");
	}
}

static void put_trace(struct pfs_heap *heap, const struct pfs_box_corruption *self, uint32_t of,
		      const char *what)
{
	const struct pfs_box_trace *trace = &self->traces[of];
	if (trace->os_tid == 0)
		return;
	(void)printf("%s thread %u (%s)\n", what, trace->os_tid, trace->thread);
	for (uint32_t i = 0; i < trace->depth; i++)
		put_frame(heap, location_of(heap, self, of, i));
	if (trace->is_cut != 0)
		(void)printf("    ...\n");
}

/* "7 bytes into the block of 100 bytes at 0x..." */
static void put_place(const struct pfs_box_corruption *self)
{
	uint64_t end = self->block + self->block_bytes;
	if (self->block == 0) {
		(void)printf("nothing is known of a block there\n");
		return;
	}
	bool is_before = self->address < self->block, is_past = self->address >= end;
	(void)printf("%" PRIu64 " bytes %s a block of %" PRIu64 " bytes at 0x%" PRIx64 "\n",
		     is_before ? self->block - self->address
		     : is_past ? self->address - end + 1
			       : self->address - self->block,
		     is_before ? "before"
		     : is_past ? "past the end of"
			       : "into",
		     self->block_bytes, self->block);
}

static void put_what(const struct pfs_box_corruption *self)
{
	static const char *const did[] = { "accessed", "read", "wrote" };
	const struct pfs_box_trace *here = &self->traces[PFS_BOX_TRACE_HERE];
	char when[64];
	bool is_found = self->kind <= PFS_BOX_UNDERFLOW;
	(void)printf("%s at %s: ", pfs_box_corruption_name(self->kind),
		     pfs_time_text(self->realtime_ns, when, sizeof(when)));
	if (self->call[0] != '\0')
		(void)printf("%s %s 0x%" PRIx64 ", ", self->call,
			     is_found ? "found a byte written at" : "was given", self->address);
	else
		(void)printf("thread %u (%s) %s 0x%" PRIx64 ", ", here->os_tid, here->thread,
			     did[self->access < 3 ? self->access : 0], self->address);
	put_place(self);
}

static int put_stacks(const struct pfs_box_corruption *self)
{
	struct pfs_heap *heap = pfs_heap_new();
	struct pfs_symbols_report report = { 0 };
	if (heap == NULL)
		return pfs_complain(PFS_EXIT_REFUSED, "corruption: no memory");
	take_modules(heap, self);
	for (uint32_t of = 0; of < PFS_BOX_TRACES; of++)
		for (uint32_t i = 0; i < self->traces[of].depth; i++)
			(void)location_of(heap, self, of, i);
	pfs_heap_look_up(heap, true, NULL, &report);
	if (!heap->failed) {
		put_trace(heap, self, PFS_BOX_TRACE_HERE,
			  self->call[0] != '\0' ? "found by" : "accessed by");
		put_trace(heap, self, PFS_BOX_TRACE_ALLOCATED, "allocated by");
		put_trace(heap, self, PFS_BOX_TRACE_FREED, "freed by");
	}
	if (report.files_refused != 0)
		(void)pfs_complain(0, "%u files have no names for their addresses; the first: %s",
				   report.files_refused, report.why.text);
	int status = heap->failed ? pfs_complain(PFS_EXIT_REFUSED, "corruption: no memory")
				  : PFS_EXIT_FINE;
	pfs_heap_free(heap);
	return status;
}

static int run_corruption(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	char died[160];
	struct pfs_reader *reader = pfs_reader_open(arguments->words[0], &message);
	if (reader == NULL)
		return pfs_complain_of(&message);
	struct pfs_snapshot *snapshot = pfs_snapshot_take(reader, 0, &message);
	if (snapshot == NULL) {
		pfs_reader_close(reader);
		return pfs_complain_of(&message);
	}
	(void)printf("%s (%u) %s\n", snapshot->info.program, snapshot->info.pid,
		     pfs_box_died(&snapshot->info, died, sizeof(died)));
	int status = PFS_EXIT_FINE;
	if (snapshot->corruption != NULL) {
		put_what(snapshot->corruption);
		status = put_stacks(snapshot->corruption);
	} else {
		(void)printf("no memory corruption was recorded\n");
	}
	pfs_snapshot_free(snapshot);
	pfs_reader_close(reader);
	return status;
}

/* clang-format off */
const struct pfs_command pfs_command_corruption = {
	.name = "corruption", .words = "TARGET", .words_min = 1, .words_max = 1,
	.run = run_corruption,
	.doc = "show the memory corruption that ended a program\vThe block, where it was allocated "
	       "and freed, and by which threads: a fault at a guarded block, or a wrong pointer "
	       "given to free. Guarded blocks are a sample: pfs-mem run --guard N.",
};
/* clang-format on */
