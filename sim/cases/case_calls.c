/*
 * case_calls.c - threads that make the calls that are said behind the name:
 * they give and take single records, of as few as there may be. sim/calls.py
 * goes through all programs.
 */
#include <string.h>

#include "sim/cases/case_kind.h"

#define CALLERS_MAX PFS_CASE_EXTRA_MAX /* threads: each has a handle more */

static void *first_kept(struct pfs_case_thread *thread)
{
	struct pfs_case *self = thread->own;
	void *record = self->kept[thread->id];
	self->kept[thread->id] = NULL;
	return record;
}

/* Threads have two handles: by one they take, by the other they give, so that
 * what was given is looked for in the trees. What they own first is given
 * first. */
static void calls_body(void *opaque)
{
	struct pfs_case_thread *thread = opaque;
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

static void configure(struct pfs_case *self, struct pfs_config *config, uint32_t word,
		      uint32_t records, uint32_t pages)
{
	static const char *const usual[] = { "gt", "tg" };
	self->room_fan = 2;
	self->word_records = word;
	pfs_case_pages(config, records, pages, pages);
	for (uint32_t i = 0; i < self->thread_count; i++) {
		if (self->calls[i][0] == '\0')
			memcpy(self->calls[i], usual[i % 2], 3);
	}
}

static void one_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, 1, 1, 1);
}

static void word_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, self->thread_count, self->thread_count, 1);
}

static void page_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, 1, self->thread_count, 1);
}

static void pages_configure(struct pfs_case *self, struct pfs_config *config)
{
	configure(self, config, 1, 1, self->thread_count);
}

/* All are in use, those of the first threads; and a search has cleared all
 * paths. */
static void fill(struct pfs_case *self)
{
	pfs_case_keep_all(self);
	for (uint32_t i = 0; i < self->thread_count; i++)
		(void)pfs_case_attach_extra(self);
	if (self->machine->run.end == PFS_END_DONE && pfs_allocate(self->setup).record != NULL)
		pfs_machine_fail("set-up: a record too many");
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

#define BODIES                                     \
	{                                          \
		calls_body, calls_body, calls_body \
	}
#define TRAITS \
	(PFS_CASE_INDEX | PFS_CASE_TIMED | PFS_CASE_SPARING | PFS_CASE_CALLS | PFS_CASE_APART)

const struct pfs_case_kind pfs_cases_calls[] = {
	{ "calls_one", "threads give and take as said, of one record: calls_one:gtt,tg", TRAITS, 2,
	  2, 3, one_configure, fill, BODIES, NULL },
	{ "calls_word", "likewise, of a record for each thread, in one word", TRAITS, 2, 2, 3,
	  word_configure, fill, BODIES, NULL },
	{ "calls_page", "likewise, in a word for each", TRAITS, 2, 2, 3, page_configure, fill,
	  BODIES, NULL },
	{ "calls_pages", "likewise, in a page for each", TRAITS, 2, 2, 3, pages_configure, fill,
	  BODIES, NULL },
	{ .name = NULL },
};
