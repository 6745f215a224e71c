/*
 * usage.h - the text of pfs-sim --help.
 */
#ifndef PFS_SIM_USAGE_H
#define PFS_SIM_USAGE_H

extern const char pfs_sim_usage[];

#endif
