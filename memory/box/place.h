/*
 * place.h - where boxes are: their folder and file names. Used by the program and by readers.
 */
#ifndef PFS_BOX_PLACE_H
#define PFS_BOX_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The folder of the calling user's boxes: PFS_MEM_DIR, or one named after the user id. */
void pfs_box_folder(char *folder, size_t folder_bytes);

/* The folder of a user's boxes without PFS_MEM_DIR. */
void pfs_box_folder_of(char *folder, size_t folder_bytes, uint32_t user);

/* The name of a process's box: <pid>-<start>.box. */
void pfs_box_name(char *path, size_t path_bytes, const char *folder, uint32_t pid,
		  uint64_t start_ticks);

/* Field 22 of /proc/PID/stat: the process's start, in ticks since boot; 0: no such process. */
uint64_t pfs_box_start_ticks(uint32_t pid);

/*
 * pfs_box_own_name - what the calling process was called: the file name of its argv[0], or else of
 * its file; and the file name of its file. They differ where a link has another name.
 */
void pfs_box_own_name(char *name, char *file, size_t bytes);

/* Does the process still run? If nothing locks its box, it then has become another program. */
bool pfs_box_goes_on(uint32_t pid, uint64_t start_ticks);

#endif
