/*
 * seams.h - what the simulated world can be told about the containers' wishes.
 */
#ifndef PFS_SIM_SEAMS_H
#define PFS_SIM_SEAMS_H

#include <pfslab/status.h>

struct pfs_container;

/* Takes care of the background reclaim passes of a container; NULL, and by default: refused. */
extern enum pfs_status (*pfs_seams_reclaimer)(struct pfs_container *container);
/* The container is about to go. */
extern void (*pfs_seams_reclaimer_stop)(struct pfs_container *container);

#endif
