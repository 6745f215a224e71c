/*
 * case_history_test.c - histories of calls and pages that the check must refuse, each next to a
 * fine one that differs in one stamp.
 */
#include <stdio.h>
#include <string.h>

#include "sim/cases/case_history.h"
#include "check/tests/expect.h"

static struct pfs_case_history history;
static struct pfs_machine *machine;

static void nothing(void *argument)
{
	(void)argument;
}

/* Two threads, and one page of one record from the start. */
static void begin(bool exact, bool real_time)
{
	pfs_machine_reset(machine);
	(void)pfs_machine_spawn(machine, 0, nothing, NULL);
	(void)pfs_machine_spawn(machine, 0, nothing, NULL);
	pfs_case_history_begin(&history, exact, real_time, 1);
	pfs_case_history_page(&history, machine, 0, true);
	machine->run.step_count = 1; /* pages that appear from now on were added */
}

static void page(uint32_t index, bool published, uint32_t thread)
{
	machine->run.last_actor = pfs_actor_step(thread);
	pfs_case_history_page(&history, machine, index, published);
}

static void take(uint32_t thread, uint32_t record)
{
	pfs_case_history_call(&history, thread);
	pfs_case_history_allocated(&history, thread, record);
}

static void give(uint32_t thread, uint32_t record)
{
	uint32_t life = pfs_case_history_free(&history, record);
	pfs_case_history_freed(&history, machine, thread, life);
}

static void full(uint32_t thread)
{
	pfs_case_history_call(&history, thread);
	pfs_case_history_refused(&history, thread, true);
}

/* message: a part of the expected failure, or NULL: none. */
static void expect_says(const char *message, const char *what)
{
	pfs_case_history_check(&history);
	bool fine = machine->run.end == PFS_END_DONE;
	pfs_expect(message == NULL ? fine : !fine && strstr(machine->run.message, message) != NULL,
		   what);
}

static void test_owners(void)
{
	begin(true, false);
	take(0, 0), give(0, 0), take(1, 0);
	expect_says(NULL, "one owner after the other");
	begin(true, false);
	take(0, 0), take(1, 0);
	expect_says("two owners", "two owners of a record");
	begin(true, false);
	pfs_case_history_keep(&history, 0);
	take(1, 0);
	expect_says("two owners", "a record that was in use from the start");
	begin(true, false);
	for (uint32_t i = 0; i <= PFS_CASE_LIVES_MAX; i++)
		take(0, 0), give(0, 0);
	expect_says("too long", "a history that was not kept is not fine");
}

static void test_full(void)
{
	begin(true, false);
	take(0, 0), full(1), give(0, 0);
	expect_says(NULL, "full while all is in use");
	begin(true, false);
	take(0, 0), give(0, 0), full(1);
	expect_says("answered full", "full while a record is free");
	begin(false, false);
	take(0, 0), give(0, 0), full(1);
	expect_says(NULL, "which only an exact policy may not say");
	begin(true, false);
	take(0, 0), give(0, 0);
	pfs_case_history_call(&history, 0), full(1);
	expect_says(NULL, "an allocate that never ended may own any record");
}

static void end_now(struct pfs_machine *self, uint32_t *at)
{
	*at = pfs_clock_of(&self->clocks, 0)[0];
	(void)pfs_clock_release(&self->clocks, 0);
}

/* Only frees that a thread knows of count for its answer: thread 0 frees; does thread 1 know? */
static void test_learned(void)
{
	uint32_t epoch;
	for (int knows = 0; knows < 2; knows++) {
		begin(true, false);
		pfs_clocks_begin(&machine->clocks, 2);
		history.learned = true;
		take(0, 0), give(0, 0);
		end_now(machine, &epoch);
		if (knows != 0)
			pfs_clock_of(&machine->clocks, 1)[0] = epoch;
		full(1);
		expect_says(knows != 0 ? "answered full" : NULL,
			    "full, where the free happened before, or did not");
	}
}

static void test_pages(void)
{
	begin(true, false);
	take(0, 0), pfs_case_history_call(&history, 1);
	page(1, true, 1), pfs_case_history_allocated(&history, 1, 1);
	expect_says(NULL, "a page added while all is in use");
	begin(true, false);
	take(0, 0), give(0, 0), pfs_case_history_call(&history, 1);
	page(1, true, 1), pfs_case_history_allocated(&history, 1, 1);
	expect_says("or added a page", "a page added while a record is free");
	begin(true, false);
	take(0, 0), page(1, true, 1), take(1, 1), give(1, 1), page(1, false, 1);
	full(1);
	expect_says(NULL, "full once the free record's page is gone");
	begin(true, false);
	take(0, 0), page(1, true, 1), take(1, 1), page(1, false, 1), give(1, 1);
	expect_says("not published", "a page that goes while its record is in use");
	begin(true, false);
	take(0, 1), page(1, true, 1);
	expect_says("not published", "a record before its page came");
}

/* With store buffers a free ends when it has reached memory. */
static void test_buffers(void)
{
	begin(true, false);
	take(0, 0);
	machine->threads[0]->buffer_count = 1;
	give(0, 0), full(1);
	machine->threads[0]->buffer_count = 0;
	pfs_case_history_step(&history, machine);
	expect_says(NULL, "full while a free is buffered");
	begin(true, false);
	take(0, 0);
	machine->threads[0]->buffer_count = 1;
	give(0, 0);
	machine->threads[0]->buffer_count = 0;
	pfs_case_history_step(&history, machine);
	full(1);
	expect_says("answered full", "full once it has reached memory");
	begin(true, true);
	take(0, 0);
	machine->threads[0]->buffer_count = 1;
	give(0, 0), full(1);
	machine->threads[0]->buffer_count = 0;
	expect_says("answered full", "full after a free that returned, by real time");
}

int main(void)
{
	machine = pfs_machine_create(&pfs_model_tso);
	test_owners();
	test_full();
	test_learned();
	test_pages();
	test_buffers();
	pfs_machine_destroy(machine);
	return pfs_expect_report();
}
