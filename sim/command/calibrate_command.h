/*
 * calibrate_command.h - `pfs-sim calibrate`.
 */
#ifndef PFS_SIM_CALIBRATE_COMMAND_H
#define PFS_SIM_CALIBRATE_COMMAND_H

/* Becomes the program pfs-calibrate in the same folder: code that measures the real machine must
 * not be linked with the simulated one. argv[0] is "calibrate". Returns only on failure: 2, after a
 * line on stderr. */
int pfs_command_calibrate(int argc, char **argv);

#endif
