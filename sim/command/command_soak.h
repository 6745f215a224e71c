/*
 * command_soak.h - `pfs-sim soak`: random simulated runs, each judged by the same checks.
 */
#ifndef PFS_SIM_COMMAND_SOAK_H
#define PFS_SIM_COMMAND_SOAK_H

/* 0: every run passed. 1: one did not, as printed. 2: bad usage. */
int pfs_command_soak(int argc, char **argv);

#endif
