#include "sim/case_weak.h"

/* Two pages of two records: who is refused, or adds a page, although a record was free all the
 * time has passed it over. */
static void two_pages(struct pfs_config *config, uint32_t page_max, uint32_t idle_passes)
{
	config->page_records = 2;
	config->page_prealloc = 0; /* those would never drain */
	config->page_max = page_max;
	config->reclaim.idle_passes = idle_passes;
}

void pfs_marks_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	two_pages(config, 3, 100); /* marks change, no page goes */
}

void pfs_held_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	two_pages(config, 2, 1);
}

/* Page 0 is full, page 1 is empty and drains. */
void pfs_marks_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 4);
	for (uint64_t index = 2; index < 4 && self->machine->end == PFS_END_DONE; index++)
		pfs_case_unkeep(self, index);
	(void)pfs_reclaim_pass(self->setup);
}

/* Takes one of the two free records. */
void pfs_marks_take(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_claim claim = pfs_case_take(thread);
	thread->operations++;
	if (claim.record != NULL)
		pfs_case_publish(thread, claim);
}

/* Likewise; then page 1 holds a record, and a pass marks it as kept. */
void pfs_marks_take_and_pass(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	pfs_marks_take(opaque);
	(void)pfs_reclaim_pass(thread->handle);
}

/* Nobody may add a page. */
void pfs_marks_finish(struct pfs_case *self)
{
	struct pfs_counts counts;
	pfs_container_counts(self->container, &counts);
	if (counts.growths != 2)
		pfs_machine_fail("%llu pages added: a free record was passed over",
				 (unsigned long long)counts.growths - 2);
}

/* Claims the records of page 1 for a moment if all are free, and perhaps gives it back. */
void pfs_marks_pass(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	(void)pfs_reclaim_pass(thread->handle);
	(void)pfs_reclaim_pass(thread->handle);
}

void pfs_held_finish(struct pfs_case *self)
{
	for (uint32_t id = 0; id < self->thread_count; id++) {
		if (self->threads[id].refused != 0)
			pfs_machine_fail("thread %u was refused: it passed a free record over",
					 id);
	}
}

void pfs_last_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	config->page_records = 1;
	config->page_prealloc = 1;
	config->page_max = 1;
}

static void write_bytes(struct pfs_claim claim)
{
	uint64_t *bytes = claim.record;
	bytes[0] = bytes[1] = claim.dirty_word;
}

void pfs_last_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	for (; thread->operations < thread->own->operations; thread->operations++) {
		struct pfs_claim claim = pfs_case_take(thread);
		if (claim.record == NULL)
			continue;
		write_bytes(claim);
		pfs_case_publish(thread, claim);
		pfs_case_give(thread, claim.record);
	}
}
