/*
 * frames.h - the way from a return address to its caller's, by the function's unwind table (DWARF
 * call frame information), which the unwinder uses as well
 *
 * The table is read for x86-64; other machines have no rules.
 *
 * A frame begins where the stack pointer was before the call: just below is the return address.
 */
#ifndef PFS_PROFILE_FRAMES_H
#define PFS_PROFILE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

enum pfs_frame_kind {
	PFS_FRAME_NONE,    /* the address has no table: the unwinder stops here */
	PFS_FRAME_LAST,    /* the function has no caller */
	PFS_FRAME_FIXED,   /* the frame begins `words` above the stack pointer */
	PFS_FRAME_POINTED, /* the frame begins 2 words above the frame pointer, which points to the
			    * caller's frame pointer */
	PFS_FRAME_STORED   /* the frame's begin is stored `words` below the frame pointer, which
			    * points to the caller's: a function that aligns its stack */
};

struct pfs_frame_rule {
	enum pfs_frame_kind kind;
	uint32_t words;
	uint32_t saved; /* of FIXED: the caller's frame pointer is that many words below the
			 * frame's begin; 0: the function leaves the register alone */
};

/*
 * pfs_frames_rule - the rule of a return address.
 *
 * Returns   false: none of the above, or a table that this code does not understand.
 * Progress  as the unwinder: no lock, no allocation (glibc 2.35 and later).
 */
bool pfs_frames_rule(uintptr_t address, struct pfs_frame_rule *rule);

#endif
