/*
 * place.h - where boxes are: their folder and file names. Used by the program and by readers.
 */
#ifndef PFS_BOX_PLACE_H
#define PFS_BOX_PLACE_H

#include <stddef.h>
#include <stdint.h>

/* The folder of the calling user's boxes: PFS_MEM_DIR, or one named after the user id. */
void pfs_box_folder(char *folder, size_t folder_bytes);

/* The name of a process's box: <pid>-<start>.box. */
void pfs_box_name(char *path, size_t path_bytes, const char *folder, uint32_t pid,
		  uint64_t start_ticks);

/* Field 22 of /proc/PID/stat: the process's start, in ticks since boot; 0: no such process. */
uint64_t pfs_box_start_ticks(uint32_t pid);

/*
 * pfs_box_prune - remove boxes of dead programs, except the newest: 32, or as many as
 * PFS_MEM_KEEP_DEAD says. Boxes written in the last 10 seconds are never removed.
 */
void pfs_box_prune(const char *folder);

#endif
