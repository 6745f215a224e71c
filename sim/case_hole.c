#include "sim/case_hole.h"

void pfs_hole_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	config->page_records = 1;
	config->page_max = 3;
}

/* Page 0 was given back, page 1 is full. */
void pfs_hole_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 2);
	pfs_case_unkeep(self, 0);
	(void)pfs_reclaim_now(self->setup);
}

/* Keeps what it takes, so that each thread needs a page: the first one fills the hole. Who
 * looked there before has not skipped it. */
void pfs_hole_take(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_claim claim = pfs_case_take(thread);
	thread->operations++;
	if (claim.record != NULL)
		pfs_case_publish(thread, claim);
}
