/*
 * heap.h - a heap profile as it is shown: made from a box or from a dump, named by symbols.h,
 * written by formats.h and flame.h.
 *
 *	entry     what one stack has of one thread, owner, instrument, and size of blocks
 *	stack     locations, leaf first
 *	location  the address of a call, and of which file; its lines when it was looked up: the
 *	          innermost first, where functions were inlined
 *
 * All of them, and texts, are interned: equal ones have one index. Text 0 is "", stack 0 has no
 * frame. What finds no memory sets failed, and pfs_heap_is_whole says so once.
 */
#ifndef PFS_MEM_HEAP_H
#define PFS_MEM_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <pfslab/status.h>

#define PFS_HEAP_NONE UINT32_MAX
#define PFS_HEAP_FRAMES_MAX 512u
#define PFS_HEAP_CUT UINT64_C(2) /* the address that stands for callers that were cut off */
/* Bytes that two moments may differ by, and did not change: a dump has whole numbers. A sample more
 * or less is an interval, or a block. */
#define PFS_HEAP_NOISE 1.5

struct pfs_heap_module {
	uint64_t begin, end, file_offset;
	uint64_t loaded_ns, gone_ns; /* gone_ns 0: it is there */
	uint32_t path;               /* text */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
};

struct pfs_heap_line {
	uint32_t function, file; /* texts; file 0: not known */
	uint32_t line;
};

struct pfs_heap_location {
	uint64_t pc;     /* in the call: a byte less than the address it returns to */
	uint32_t module; /* PFS_HEAP_NONE: none */
	uint32_t first_line, line_count;
	bool is_late; /* looking up ended before it was its turn */
};

struct pfs_heap_stack {
	uint32_t first, depth; /* in frames */
	bool is_cut;
};

/* Estimates: sums of samples that were weighted each. */
struct pfs_heap_values {
	double live_objects, live_bytes;
	double total_objects, total_bytes; /* since the beginning */
	double variance;                   /* of live_bytes, before they were scaled */
	double whole;                      /* the variance of all that was scaled with them; 0: they
					    * were not scaled, or with more than one */
	uint64_t oldest_ns, newest_ns;     /* samples in use; 0: not known */
};

struct pfs_heap_entry {
	uint32_t stack;
	uint64_t thread_id;                      /* 0: not known */
	uint32_t thread, user, host, instrument; /* texts */
	uint64_t block_bytes;             /* at most so much, more than half of it; 0: of any */
	struct pfs_heap_values now, base; /* base: what it is compared with */
};

/* What stacks held at a moment of the history of stacks. */
struct pfs_heap_held {
	uint32_t stack;
	double objects, bytes;
};

struct pfs_heap_moment {
	uint64_t when_ns;
	double others_bytes; /* of stacks that are not here, */
	double others_most;  /* each of at most so much */
	uint32_t others;     /* how many */
	uint32_t count;
	struct pfs_heap_held *held;
};

struct pfs_heap_index {
	uint32_t *slots;
	uint32_t room, count;
};

struct pfs_heap {
	char program[384]; /* its name and id, or the file that was read */
	uint32_t binary;   /* text: its path; 0: not known */
	uint64_t interval; /* mean bytes between samples; 0: not known */
	uint64_t taken_ns;
	uint32_t live_pid; /* 0: it does not live */
	char died[160];    /* when; "": it lives, or this is not known */
	bool is_dump, has_base, is_named, failed;
	bool is_scaled;         /* to the exact bytes of each instrument */
	double sampled_bytes;   /* in use, as sampled: before they were scaled */
	double unsampled_bytes; /* counted, and without a sample that stands for them */
	char of[200];           /* what was chosen of it: "at the peak, 12:00:01"; "": all */
	uint64_t lost_samples, lost_bytes, lost_stacks, lost_contexts;
	uint64_t stacks_taken, stacks_walked; /* since the start; 0: not known */

	struct pfs_heap_moment *moments; /* the oldest first; only a box has some */
	uint32_t moment_count;
	struct pfs_heap_module *modules;
	struct pfs_heap_location *locations;
	struct pfs_heap_line *lines;
	struct pfs_heap_stack *stacks;
	uint32_t *frames; /* locations */
	struct pfs_heap_entry *entries;
	char **texts;
	uint32_t module_count, location_count, line_count, stack_count, frame_count, entry_count,
		text_count;
	uint32_t module_room, location_room, line_room, stack_room, frame_room, entry_room,
		text_room;
	struct pfs_heap_index location_index, stack_index, entry_index, text_index;
};

/* NULL: no memory. */
struct pfs_heap *pfs_heap_new(void);
void pfs_heap_free(struct pfs_heap *heap);
/* False: it lacks parts for want of memory, as message says. */
bool pfs_heap_is_whole(const struct pfs_heap *heap, struct pfs_message *message);

uint32_t pfs_heap_text(struct pfs_heap *heap, const char *text);
uint32_t pfs_heap_text_of(struct pfs_heap *heap, const char *text, size_t length);
uint32_t pfs_heap_add_module(struct pfs_heap *heap, const struct pfs_heap_module *module);
uint32_t pfs_heap_location(struct pfs_heap *heap, uint64_t pc, uint32_t module);
/* Lines of a location are added one after the other, the innermost first. */
void pfs_heap_add_line(struct pfs_heap *heap, uint32_t location, const char *function,
		       const char *file, uint32_t line);
/* A stack that is cut gets a last frame, "[cut]". */
uint32_t pfs_heap_stack(struct pfs_heap *heap, const uint32_t *locations, uint32_t depth,
			bool is_cut);
/* The entry like this one, its values 0 if it is new: never NULL, valid until the next call. */
struct pfs_heap_entry *pfs_heap_entry(struct pfs_heap *heap, const struct pfs_heap_entry *like);

/* Which file had an address at a moment: one that was there then, else the last one before, else
 * the first. PFS_HEAP_NONE: none. */
uint32_t pfs_heap_module_at(const struct pfs_heap *heap, uint64_t pc, uint64_t when_ns);

/* Adds sums and variances; the oldest and the newest are those of both. */
void pfs_heap_values_add(struct pfs_heap_values *to, const struct pfs_heap_values *from);
/* One standard deviation of live_bytes; below 0: not known. Of what was scaled to an exact sum, the
 * error is what a part can take from the others. */
double pfs_heap_error(const struct pfs_heap *heap, const struct pfs_heap_values *values);

struct pfs_heap_values pfs_heap_sum(const struct pfs_heap *heap, bool of_base);
const char *pfs_heap_path_end(const char *path); /* without folders */
/* A frame as it is shown; line < the lines it has, or 0. "[unknown] libx.so+0x12" where no name is
 * known. */
const char *pfs_heap_frame_name(const struct pfs_heap *heap, uint32_t location, uint32_t line,
				char *text, size_t text_bytes);

/* ---- where one comes from ---- */

struct pfs_reader;

/* Which of a box's samples: the peak's, or those of some ages. Scaled: with the error of sampling
 * taken out of each instrument's sum; not for what is compared, where errors of the same samples
 * cancel out. */
struct pfs_heap_choice {
	bool is_scaled;
	bool at_peak;                /* when they stood for the most bytes */
	bool as_kept;                /* as moments have it: sums of contexts, without ages */
	uint64_t older_ns, newer_ns; /* only those in use for longer, or not so long; 0: any */
};

/* Of a box. choice NULL: all that is in use, as sampled. NULL: as message says. */
struct pfs_heap *pfs_heap_of_box_chosen(struct pfs_reader *reader,
					const struct pfs_heap_choice *choice,
					struct pfs_message *message);
static inline struct pfs_heap *pfs_heap_of_box(struct pfs_reader *reader,
					       struct pfs_message *message)
{
	return pfs_heap_of_box_chosen(reader, NULL, message);
}
/* Of a dump's text: heap_v2 as jemalloc writes it, or gperftools' "heap profile:", with or without
 * names in front. path: for messages. */
struct pfs_heap *pfs_heap_of_dump(const char *text, size_t bytes, const char *path,
				  struct pfs_message *message);
/* Of a TARGET, which may also be a dump, unless its peak or ages are chosen. */
struct pfs_heap *pfs_heap_open(const char *target, const struct pfs_heap_choice *choice,
			       struct pfs_message *message);

/* What base has becomes what heap is compared with; where files lie elsewhere now, addresses are
 * taken along. */
void pfs_heap_compare(struct pfs_heap *heap, const struct pfs_heap *base);
/* The moment of the history nearest to a time; PFS_HEAP_NONE: there is none. */
uint32_t pfs_heap_moment_near(const struct pfs_heap *heap, uint64_t when_ns);
/* What the heap is compared with is that moment of its own history: bytes and blocks in use, by
 * stack. Sums since the start are not known there. */
void pfs_heap_since(struct pfs_heap *heap, uint32_t moment);
/* Of a compared heap only what each stack grew by; what it shrank by is 0. */
void pfs_heap_keep_growth(struct pfs_heap *heap);

#endif
