/*
 * command_weaken.h - pfs-sim weaken: every place that orders anything is made weaker, one at a
 * time, and all scenarios are searched: who notices?
 */
#ifndef PFS_SIM_COMMAND_WEAKEN_H
#define PFS_SIM_COMMAND_WEAKEN_H

#include <stdint.h>

/*
 * pfs_command_weaken - print the table: place, label, caught by what, after how many executions.
 *
 * labels: NULL: all places, exit 0. Otherwise "L1,L3": only places of these labels, as the
 * comments of the sources name them, and exit 1 if one of the labels is not caught anywhere.
 */
int pfs_command_weaken(const char *labels, uint64_t executions, uint64_t seed);

#endif
