/*
 * output.h - an output file that is complete or absent: written under another name, and renamed.
 */
#ifndef PFS_COMMAND_OUTPUT_H
#define PFS_COMMAND_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#define PFS_OUTPUT_PATH_BYTES 4096

/* Begun and not yet ended. */
struct pfs_output {
	FILE *file;
	char path[PFS_OUTPUT_PATH_BYTES];
	char partial[PFS_OUTPUT_PATH_BYTES]; /* "" for a file that is not ordinary, such as a
					      * pipe */
};

/* False with errno: it cannot be written. */
bool pfs_output_begin(struct pfs_output *self, const char *path);
/* The file of its name holds all of it; false with errno: that file is unchanged. */
bool pfs_output_end(struct pfs_output *self);
/* Could it be begun at this moment? The file is unchanged; false with errno. */
bool pfs_output_could(const char *path);
/* As if it was never begun. */
void pfs_output_drop(struct pfs_output *self);

#endif
