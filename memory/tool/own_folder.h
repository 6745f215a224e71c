/*
 * own_folder.h - the folder of the program that runs, for the files that are installed beside it.
 */
#ifndef PFS_MEM_OWN_FOLDER_H
#define PFS_MEM_OWN_FOLDER_H

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* With a slash at its end. False: the system does not say. */
static inline bool pfs_own_folder(char *folder, size_t bytes)
{
	ssize_t got = readlink("/proc/self/exe", folder, bytes - 1);
	folder[got > 0 ? got : 0] = '\0';
	char *slash = strrchr(folder, '/');
	if (slash != NULL)
		slash[1] = '\0';
	return slash != NULL;
}

#endif
