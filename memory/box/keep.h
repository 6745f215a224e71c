/*
 * keep.h - which boxes of dead programs stay. Used by a program that starts, which removes the
 * others, and by pfs-mem list, which says why.
 */
#ifndef PFS_BOX_KEEP_H
#define PFS_BOX_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFS_KEEP_NAME_BYTES 64u
#define PFS_KEEP_TRIVIAL_BYTES (UINT64_C(4) << 20) /* boxes of programs that held less go first */
#define PFS_KEEP_DROPPED "dropped"                 /* the file that counts removed boxes */

/* How a program ended; a higher value is better evidence. */
enum pfs_cause { PFS_CAUSE_UNCOUNTED, PFS_CAUSE_EXECED, PFS_CAUSE_ENDED, PFS_CAUSE_DIED };

enum pfs_keep {
	PFS_KEEP_NOT, /* it goes with the next start of a program */
	PFS_KEEP_LIVING,
	PFS_KEEP_YOUNG,   /* written in the last 10 seconds, unless its program has execed */
	PFS_KEEP_NEWEST,  /* among the newest programs that were killed while they held much */
	PFS_KEEP_WEIGHT,  /* by cause, then bytes */
	PFS_KEEP_TRIVIAL, /* there is room for it */
};

struct pfs_kept {
	char name[PFS_KEEP_NAME_BYTES];
	enum pfs_keep keep;
	enum pfs_cause cause;
	uint64_t held_bytes; /* at its end: counted blocks, own mappings, brk */
	uint64_t seen_ns;    /* when it ended, or was last seen alive; since 1970 */
};

/*
 * pfs_box_keep - weigh the boxes of a folder, and decide which stay: at most as many of dead
 * programs as PFS_MEM_KEEP_DEAD says, or 32. A quarter of these places are for the newest programs
 * that died while they held PFS_KEEP_TRIVIAL_BYTES or more. The others are by cause, then by bytes;
 * after them those that held less, the newest first.
 *
 * folder  a descriptor of it; weighs: all boxes, for a list, and writes nothing; else: stops if
 * there are few enough (*count is 0), and notes what it found in the boxes Returns an array to
 * free, NULL: no boxes, or no memory.
 */
struct pfs_kept *pfs_box_keep(int folder, bool weighs, size_t *count);

/* Does an open box belong to a program that has become another one? */
bool pfs_box_is_execed(int file);

/* Remove the boxes of a folder that do not stay, and count them in its file PFS_KEEP_DROPPED. */
void pfs_box_prune(const char *folder);

/* What the file says: boxes, the bytes of the largest, and when the last went. 0: there is none. */
void pfs_box_dropped(const char *folder, uint64_t dropped[3]);

#endif
