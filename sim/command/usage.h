/*
 * usage.h - what pfs-sim --help says.
 */
#ifndef PFS_SIM_USAGE_H
#define PFS_SIM_USAGE_H

extern const char pfs_sim_usage[];

#endif
