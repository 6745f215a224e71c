/*
 * command_list.h - pfs-sim list: policies that the machine sees into, scenarios, traits.
 */
#ifndef PFS_SIM_COMMAND_LIST_H
#define PFS_SIM_COMMAND_LIST_H

/* Both print, and return 0. */
int pfs_command_list(void);
int pfs_command_list_traits(void);

#endif
