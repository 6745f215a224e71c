/*
 * case_calls.c - threads that make the calls that follow the scenario's name: they free and
 * allocate single records, of which there are as few as possible. sim/calls.py runs all programs.
 */
#include <string.h>

#include "sim/cases/case_kind.h"

#define CALLERS_MAX PFS_CASE_EXTRA_MAX /* each thread has an extra handle */

static void *first_kept(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	void *record = self->kept[thread->id];
	self->kept[thread->id] = NULL;
	return record;
}

/* Threads allocate by one handle and free by another, so that a search for a freed record reads the
 * trees. The record that a thread has owned longest is freed first. */
static void calls_body(struct pfs_case_thread *thread)
{
	const char *calls = thread->own->calls[thread->id];
	struct pfs_case_thread by = pfs_case_by_extra(thread, thread->id);
	void *held[PFS_CASE_OPERATIONS_MAX + 1] = { first_kept(thread) };
	uint32_t given = 0, taken = held[0] != NULL;
	for (; *calls != '\0'; calls++, thread->operations++) {
		if (*calls == 'g' && given < taken) {
			pfs_case_give(&by, held[given++]);
			continue;
		}
		struct pfs_claim claim = *calls == 't' ? pfs_case_take(thread)
						       : (struct pfs_claim){ .record = NULL };
		if (claim.record == NULL)
			continue;
		pfs_case_publish(thread, claim);
		held[taken++] = claim.record;
	}
}

/* What the shape leaves open is as many as there are threads. */
static void configure(struct pfs_case *self, struct pfs_config *config)
{
	const struct pfs_case_shape *shape = &self->kind->shape;
	static const char *const usual[] = { "gt", "tg" };
	if (shape->records == 0)
		config->page_records = self->thread_count;
	if (shape->word_records == 0)
		self->word_records = self->thread_count;
	if (shape->most == 0)
		config->page_prealloc = config->page_max = self->thread_count;
	for (uint32_t i = 0; i < self->thread_count; i++) {
		if (self->calls[i][0] == '\0')
			memcpy(self->calls[i], usual[i % 2], 3);
	}
}

/* All records are in use, by the first threads, and a search has cleared all paths. */
static void fill(struct pfs_case *self)
{
	pfs_case_keep_all(self);
	pfs_case_attach_extras(self, self->thread_count);
	pfs_case_expect_full(self);
}

bool pfs_case_read_calls(struct pfs_case *self, const char *text)
{
	uint32_t count = 0;
	if ((self->kind->traits & PFS_CASE_CALLS) == 0)
		return false;
	for (;; text++) {
		size_t length = strspn(text, "gt");
		if (length == 0 || length > PFS_CASE_OPERATIONS_MAX || count == CALLERS_MAX)
			return false;
		memcpy(self->calls[count++], text, length);
		text += length;
		if (*text != ',')
			break;
	}
	self->thread_count = self->thread_max = count;
	return *text == '\0';
}

#define TRAITS \
	(PFS_CASE_INDEX | PFS_CASE_TIMED | PFS_CASE_SPARING | PFS_CASE_CALLS | PFS_CASE_APART)

/* clang-format off */
const struct pfs_case_kind pfs_cases_calls[] = {
	{ "calls_one", "threads free and allocate the only record, as calls_one:gtt,tg says",
	  TRAITS, 2, 2, 3, { PFS_CASE_PAGES(1, 1, 1), .room_fan = 2, .word_records = 1 }, configure,
	  fill, { calls_body, calls_body, calls_body }, NULL },
	{ "calls_word", "the same with a record for each thread, in one word", TRAITS, 2, 2, 3,
	  { PFS_CASE_PAGES(0, 1, 1), .room_fan = 2 }, configure, fill,
	  { calls_body, calls_body, calls_body }, NULL },
	{ "calls_page", "the same with a word for each thread, in one page", TRAITS, 2, 2, 3,
	  { PFS_CASE_PAGES(0, 1, 1), .room_fan = 2, .word_records = 1 }, configure, fill,
	  { calls_body, calls_body, calls_body }, NULL },
	{ "calls_pages", "the same with a page for each thread", TRAITS, 2, 2, 3,
	  { PFS_CASE_PAGES(1, 0, 0), .room_fan = 2, .word_records = 1 }, configure, fill,
	  { calls_body, calls_body, calls_body }, NULL },
	{ .name = NULL },
};
/* clang-format on */
