/*
 * owner.h - which frame of a stack is the program's own: the nearest to the leaf that belongs to no
 * allocator, no standard library, and to nothing that rules pass over. Rules also name stacks.
 *
 * A file of rules has a rule a line; # begins a comment:
 *
 *	skip KIND PATTERN         its frames are passed over, as those of malloc are
 *	name KIND PATTERN NAME    a stack with such a frame is of NAME
 *
 * KIND is function, file or module; PATTERN is a shell pattern for the function without its
 * parameters, the source file without folders, or the program's or library's file name. The frame
 * nearest to the leaf decides, and of its rules the first.
 */
#ifndef PFS_MEM_OWNER_H
#define PFS_MEM_OWNER_H

#include "heap.h"

struct pfs_rules; /* one thread */

/* pfs_rules_open - read a file of rules. path NULL: those shipped for the heap's program, if there
 * are any; none are fine. NULL: it cannot be read, or a line is no rule, as message says. */
struct pfs_rules *pfs_rules_open(const char *path, const struct pfs_heap *heap,
				 struct pfs_message *message);
void pfs_rules_close(struct pfs_rules *rules);

/* A frame of a stack: a location, and which of its lines, where calls were inlined. */
struct pfs_frame_of {
	uint32_t location; /* PFS_HEAP_NONE: the stack has no frames */
	uint32_t line;
};

/* pfs_owner_find - the program's own frame of a stack. If there is none, the leaf. after: the next
 * one above that frame, towards the root; PFS_HEAP_NONE: none. */
struct pfs_frame_of pfs_owner_find(const struct pfs_heap *heap, const struct pfs_rules *rules,
				   uint32_t stack, struct pfs_frame_of *after);

/* The name that the rules give a stack; NULL: none. */
const char *pfs_owner_name(const struct pfs_heap *heap, const struct pfs_rules *rules,
			   uint32_t stack);

/* The frame as text: "Desk::open sessions.cc:43". Returns text. */
const char *pfs_frame_text(const struct pfs_heap *heap, struct pfs_frame_of frame, char *text,
			   size_t text_bytes);

#endif
