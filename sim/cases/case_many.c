/* case_many.c - scenarios of batches: calls that allocate or free several records. */
#include "sim/cases/case_kind.h"

/* ---- many: batches over pages of two words ---- */

#define MANY_WANTED 4u /* records of a call: more than a word has */

/* Frees the last record first, so that no neighbours of the batch are neighbours in a word. */
static void many_body(struct pfs_case_thread *thread)
{
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

/* Two threads need at most 8 of the 12 records. */
static void many_finish(struct pfs_case *self)
{
	if (self->thread_count <= 2)
		pfs_case_exact_refuses_nobody(self);
}

/* clang-format off */
const struct pfs_case_kind pfs_cases_many[] = {
	{ "many", "threads allocate and free four records per call; a page has two words",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 0, { PFS_CASE_PAGES(6, 1, 2), .word_records = 3 },
	  NULL, NULL, { many_body, many_body, many_body }, many_finish },
	{ "many_scarce", "the same with too few records; a third thread takes single ones",
	  PFS_CASE_INDEX | PFS_CASE_TIMED, 2, 1, 0, { PFS_CASE_PAGES(6, 1, 1), .word_records = 3 },
	  NULL, NULL, { many_body, many_body, pfs_case_churn }, NULL },
	{ .name = NULL },
};
/* clang-format on */
