/* case_many.c - scenarios of batches: several records in one call. */
#include "sim/cases/case_kind.h"

/* ---- many: batches over pages of two words ---- */

#define MANY_RECORDS 6u /* of a page, and 3 of a word: two of them by one CAS */
#define MANY_WANTED 4u  /* of each call: more than a word */

static void many_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->word_records = 3;
	pfs_case_pages(config, MANY_RECORDS, 1, 2);
}

static void scarce_configure(struct pfs_case *self, struct pfs_config *config)
{
	self->word_records = 3;
	pfs_case_pages(config, MANY_RECORDS, 1, 1);
}

/* The last record first, so that no two neighbours of the batch are neighbours in a word. */
static void many_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
	for (; thread->operations < thread->own->operations; thread->operations++) {
		struct pfs_claim claims[MANY_WANTED];
		void *records[MANY_WANTED];
		uint32_t taken = pfs_case_take_many(thread, claims, MANY_WANTED);
		for (uint32_t i = 0; i < taken; i++) {
			pfs_case_stamp(claims[i]);
			pfs_case_publish(thread, claims[i]);
			records[taken - 1 - i] = claims[i].record;
		}
		for (uint32_t i = 0; i < taken; i++)
			pfs_case_check_stamp(records[i]);
		pfs_case_give_many(thread, records, taken);
	}
}

/* Two threads need 8 of 12 records at most. */
static void many_finish(struct pfs_case *self)
{
	if (self->thread_count <= 2)
		pfs_case_exact_refuses_nobody(self);
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_many[] = {
	{ "many", "threads take and give four records a call, of pages of two words",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 0, many_configure, NULL,
	  { many_body, many_body, many_body }, many_finish },
	{ "many_scarce", "likewise, and there are not enough; one more takes single ones",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 0, scarce_configure, NULL,
	  { many_body, many_body, pfs_case_churn }, NULL },
	{ .name = NULL },
};
/* clang-format on */
