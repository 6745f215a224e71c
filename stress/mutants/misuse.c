/*
 * misuse.c - bugs of a caller that pfslab promises to catch, and what one thread alone must
 * get. On the simulated machine, where a panic ends the execution and not the process.
 *
 * Exit 0: every bug was caught. 1: one was not.
 */
#include <stdio.h>
#include <string.h>

#include <pfslab/variant.h>

#include "check/search/search.h"

struct misuse {
	const char *name;
	const char *policy;
	const char *caught; /* in the message; NULL: nothing may be caught */
	void (*body)(void *thread);
};

static struct pfs_container *container;

static struct pfs_claim take(struct pfs_thread *thread)
{
	struct pfs_claim claim = pfs_allocate(thread);
	if (claim.record == NULL)
		pfs_machine_fail("refused, and nobody else runs");
	return claim;
}

static void free_twice(void *thread)
{
	struct pfs_claim claim = take(thread);
	pfs_publish(thread, claim);
	pfs_free(thread, claim.record);
	pfs_free(thread, claim.record);
}

static void free_dirty(void *thread)
{
	pfs_free(thread, take(thread).record);
}

static void publish_free(void *thread)
{
	struct pfs_claim claim = take(thread);
	pfs_abandon(thread, claim);
	pfs_publish(thread, claim);
}

static void abandon_published(void *thread)
{
	struct pfs_claim claim = take(thread);
	pfs_publish(thread, claim);
	pfs_abandon(thread, claim);
}

static void reopen_free(void *thread)
{
	struct pfs_claim claim = take(thread);
	pfs_abandon(thread, claim);
	(void)pfs_reopen(thread, claim.record);
}

/* Into the ring or the words of a container that has no such record. */
static void free_elsewhere(void *thread)
{
	struct pfs_config config = *pfs_container_config(container);
	struct pfs_container *other;
	struct pfs_thread *stranger;
	struct pfs_claim claim = take(thread);
	pfs_publish(thread, claim);
	if (pfs_container_create(pfs_container_variant(container), &config, &other, NULL) !=
		    PFS_OK ||
	    pfs_thread_attach(other, &stranger) != PFS_OK)
		pfs_machine_fail("set-up");
	else
		pfs_free(stranger, claim.record);
}

static void leave_outside(void *thread)
{
	pfs_leave(thread);
}

/* Take all, be refused, free one, take it: also where full flags were set. */
static void free_and_take(void *thread)
{
	struct pfs_claim claims[4];
	for (uint32_t i = 0; i < 4; i++) {
		claims[i] = take(thread);
		pfs_publish(thread, claims[i]);
	}
	PFS_MACHINE_CHECK(pfs_allocate(thread).record == NULL, "five records in a page of four");
	PFS_MACHINE_CHECK(pfs_thread_status(thread) == PFS_FULL, "refused, but not as full");
	for (uint32_t i = 0; i < 4; i++) {
		pfs_free(thread, claims[i].record);
		claims[i] = take(thread);
		pfs_publish(thread, claims[i]);
		(void)pfs_allocate(thread);
	}
}

static const struct misuse misuses[] = {
	{ "double free", "local_scan", "panic: free", free_twice },
	{ "free of a record that is written", "local_scan", "panic: free", free_dirty },
	{ "publish of a free record", "local_scan", "panic: publish", publish_free },
	{ "abandon of a published record", "local_scan", "panic: abandon", abandon_published },
	{ "reopen of a free record", "local_scan", "panic: reopen", reopen_free },
	{ "free by another container's handle", "exact", "panic: free or abandon by a handle",
	  free_elsewhere },
	{ "leave without enter", "reclaiming", "panic: leave without enter", leave_outside },
	{ "free one, take one", "original", NULL, free_and_take },
	{ "free one, take one", "local_scan", NULL, free_and_take },
	{ "free one, take one", "reclaiming", NULL, free_and_take },
	{ "free one, take one", "exact", NULL, free_and_take },
};

static void setup(struct pfs_machine *machine, void *context)
{
	const struct misuse *misuse = context;
	struct pfs_config config;
	struct pfs_thread *thread;
	pfs_config_init(&config);
	config.page_records = 4;
	config.page_max = config.page_prealloc = 1;
	if (pfs_container_create(pfs_variant_find(misuse->policy), &config, &container, NULL) !=
		    PFS_OK ||
	    pfs_thread_attach(container, &thread) != PFS_OK)
		pfs_machine_fail("set-up");
	else
		(void)pfs_machine_spawn(machine, 0, misuse->body, thread);
}

int main(void)
{
	int failed = 0;
	struct pfs_machine *machine = pfs_machine_create(&pfs_model_sc);
	for (size_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
		const struct misuse *misuse = &misuses[i];
		struct pfs_scenario scenario = { .name = misuse->name,
						 .setup = setup,
						 .context = (void *)(uintptr_t)misuse };
		struct pfs_round_robin turn;
		pfs_round_robin_init(&turn);
		enum pfs_machine_end end = pfs_scenario_run(&scenario, machine, &turn.scheduler);
		bool good = misuse->caught == NULL
				    ? end == PFS_END_DONE
				    : end == PFS_END_FAILED &&
					      strstr(machine->run.message, misuse->caught) != NULL;
		failed += !good;
		(void)printf("%-36s %-12s %s%s\n", misuse->name, misuse->policy,
			     good                     ? "as promised"
			     : misuse->caught != NULL ? "NOT CAUGHT: "
						      : "FAILED: ",
			     good ? "" : machine->run.message);
	}
	pfs_machine_destroy(machine);
	(void)printf("%d failed\n", failed);
	return failed != 0;
}
