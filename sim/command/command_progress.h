/*
 * command_progress.h - `pfs-sim progress`: every policy, every scenario, every thread parked
 * forever at each of its steps.
 */
#ifndef PFS_SIM_COMMAND_PROGRESS_H
#define PFS_SIM_COMMAND_PROGRESS_H

/* argv[0] is "progress". Returns the exit code. */
int pfs_command_progress(int argc, char **argv);

#endif
