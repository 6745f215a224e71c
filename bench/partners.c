#include "partners.h"

#include <stdlib.h>

bool pfs_partners_start(struct pfs_scene *scene, uint32_t in_hands)
{
	uint32_t rings = scene->thread_count / 2;
	uint64_t most = (uint64_t)rings * (PFS_RING_ROOM + 2 * (uint64_t)in_hands);

	scene->shared = pfs_rings_create(rings);
	if (most <= scene->capacity) /* then the preallocated pages are enough, for certain */
		scene->live_peak[0] = most;
	return scene->shared != NULL;
}

void pfs_partners_stop(struct pfs_scene *scene)
{
	free(scene->shared);
	scene->shared = NULL;
}

uint64_t pfs_partners_held(const struct pfs_worker *worker, uint32_t container)
{
	(void)container;
	return pfs_partner_produces(worker->index) ? 0 : pfs_ring_count(pfs_partners_ring(worker));
}

bool pfs_partners_is_counted(const struct pfs_scene *scene, uint32_t worker_index)
{
	(void)scene;
	return !pfs_partner_produces(worker_index);
}
