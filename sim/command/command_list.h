/*
 * command_list.h - `pfs-sim list`: the policies that the machine can see into, scenarios, traits.
 */
#ifndef PFS_SIM_COMMAND_LIST_H
#define PFS_SIM_COMMAND_LIST_H

/* As main: the exit status. */
int pfs_command_list(int argc, char **argv);

#endif
