/*
 * command_litmus.h - pfs-sim litmus: the table of weak outcomes, checked.
 */
#ifndef PFS_SIM_COMMAND_LITMUS_H
#define PFS_SIM_COMMAND_LITMUS_H

/* As main. 0: every verdict and every count is as it should be; 1: not. */
int pfs_command_litmus(int argc, char **argv);

#endif
