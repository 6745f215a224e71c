/*
 * command_run.h - `pfs-sim run`: a workload of bench/ in virtual time, once for each seed.
 */
#ifndef PFS_SIM_COMMAND_RUN_H
#define PFS_SIM_COMMAND_RUN_H

/* argv[0] is "run". Returns the exit code: 0; 1: a check failed; 2: bad usage, after one line. */
int pfs_command_run(int argc, char **argv);

#endif
