/*
 * place.h - where boxes are: the folder, and the names in it. For the program and for who asks.
 */
#ifndef PFS_BOX_PLACE_H
#define PFS_BOX_PLACE_H

#include <pfslab/status.h>
#include <stddef.h>
#include <stdint.h>

/* The folder of the calling user's boxes: PFS_MEM_DIR, or one by the user's number. */
void pfs_box_folder(char *folder, size_t folder_bytes);

/* The name of a process's box: <pid>-<start>.box. */
void pfs_box_name(char *path, size_t path_bytes, const char *folder, uint32_t pid,
		  uint64_t start_ticks);

/* Field 22 of /proc/PID/stat: when it began, in ticks since the boot; 0: there is no such one. */
uint64_t pfs_box_start_ticks(uint32_t pid);

/*
 * pfs_box_prune - of the boxes whose programs died only the newest stay: 32, or as many as
 * PFS_MEM_KEEP_DEAD says. Not those of the last 10 seconds.
 */
void pfs_box_prune(const char *folder);

#endif
