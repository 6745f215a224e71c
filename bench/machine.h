/*
 * machine.h - facts about the machine and the build, recorded with every result.
 */
#ifndef PFS_BENCH_MACHINE_H
#define PFS_BENCH_MACHINE_H

#include <hwloc.h>
#include <stdbool.h>

#include "clock.h"

/* Put them all into the JSON context. What the machine does not report is ABSENT. */
void pfs_machine_describe(hwloc_topology_t topology, const struct pfs_clock *clock, bool counted);

#endif
