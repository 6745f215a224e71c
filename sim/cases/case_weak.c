/*
 * case_weak.c - scenarios of passes beside searches: marks that change, records that a pass holds
 * for a moment; and the last record.
 */
#include "sim/cases/case_kind.h"

/* Two pages of two records: who is refused, or adds a page, although a record was free all the
 * time has passed it over. */
static void two_pages(struct pfs_config *config, uint32_t page_max, uint32_t idle_passes)
{
	pfs_case_pages(config, 2, 0, page_max); /* pages of the start would never drain */
	config->reclaim.idle_passes = idle_passes;
}

static void marks_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	two_pages(config, 3, 100); /* marks change, no page goes */
}

/* The set-up makes a pass, too: the first of two makes page 1 go. */
static void held_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	two_pages(config, 2, 2);
}

static void held_page_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	two_pages(config, 3, 2);
}

/* Page 0 is full, page 1 is empty and drains. */
static void marks_fill(struct pfs_case *self)
{
	pfs_case_keep(self, 4);
	for (uint64_t index = 2; index < 4 && self->machine->run.end == PFS_END_DONE; index++)
		pfs_case_unkeep(self, index);
	(void)pfs_reclaim_pass(self->setup);
	pfs_case_expect_pages(self, 2);
}

/* Takes one of the two free records. */
static void marks_take(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	struct pfs_claim claim = pfs_case_take(thread);
	thread->operations++;
	if (claim.record != NULL)
		pfs_case_publish(thread, claim);
}

/* Likewise; then page 1 holds a record, and a pass marks it as kept. */
static void marks_take_and_pass(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	marks_take(opaque);
	(void)pfs_reclaim_pass(thread->handle);
}

/* Pages that were added since the set-up. */
static uint64_t pages_added(struct pfs_case *self, bool *some_went)
{
	struct pfs_counts counts;
	pfs_container_counts(self->container, &counts);
	*some_went = counts.reclaimed != 0 || counts.pages_waiting != 0;
	return counts.growths - 2;
}

/* Nobody may add a page. */
static void marks_finish(struct pfs_case *self)
{
	bool some_went;
	uint64_t added = pages_added(self, &some_went);
	if (added != 0)
		pfs_machine_fail("%llu pages added: a free record was passed over",
				 (unsigned long long)added);
}

/* Nobody may be refused: the two records are free, or the pass has them, and then there is room
 * for a page. Nor may a page be added before one went. */
static void held_page_finish(struct pfs_case *self)
{
	bool some_went;
	uint64_t added = pages_added(self, &some_went);
	pfs_case_nobody_refused(self);
	if (added != 0 && !some_went)
		pfs_machine_fail("%llu pages added because of records that only the pass held",
				 (unsigned long long)added);
}

static void last_configure(struct pfs_case *self, struct pfs_config *config)
{
	(void)self;
	pfs_case_pages(config, 1, 1, 1);
}

static void write_bytes(struct pfs_claim claim)
{
	uint64_t *bytes = claim.record;
	bytes[0] = bytes[1] = claim.dirty_word;
}

static void last_body(void *opaque)
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

/* Its bytes are written, and then it is given back without being published. */
static void abandon_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	for (; thread->operations < thread->own->operations; thread->operations++) {
		struct pfs_claim claim = pfs_case_take(thread);
		if (claim.record == NULL)
			continue;
		write_bytes(claim);
		pfs_case_abandon(thread, claim);
	}
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_weak[] = {
	{ "marks", "a page's mark changes while a search goes by: no page is added",
	  PFS_CASE_RECLAIM, 2, 1, 2, marks_configure, marks_fill,
	  { marks_take, marks_take_and_pass, marks_take }, marks_finish },
	{ "last", "threads want the only record", PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 0,
	  last_configure, NULL, { last_body, last_body, last_body }, NULL },
	{ "abandon", "a thread writes the only record and abandons it", PFS_CASE_INDEX, 2, 1, 0,
	  last_configure, NULL, { abandon_body, last_body, last_body }, NULL },
	{ "held", "a pass holds the last free records for a moment: nobody is refused",
	  PFS_CASE_RECLAIM, 3, 1, 3, held_configure, marks_fill,
	  { marks_take, pfs_case_pass, marks_take }, pfs_case_nobody_refused },
	{ "held_page", "likewise, with room for another page: none is added", PFS_CASE_RECLAIM, 3,
	  1, 3, held_page_configure, marks_fill, { marks_take, pfs_case_pass, marks_take },
	  held_page_finish },
	{ .name = NULL },
};
/* clang-format on */
