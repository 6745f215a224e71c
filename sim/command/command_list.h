/*
 * command_list.h - pfs-sim list: policies that the machine sees into, scenarios, traits.
 */
#ifndef PFS_SIM_COMMAND_LIST_H
#define PFS_SIM_COMMAND_LIST_H

/* As main: the exit status. */
int pfs_command_list(int argc, char **argv);

#endif
