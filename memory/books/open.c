/*
 * open.c - open and close the books of a program.
 */
#define _GNU_SOURCE
#include "memory/books/books.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <pfslab/variant.h>

#include "containers/message.h"
#include "memory/profile/profile.h"
#include "memory/trace/owner.h"

/* ---- open ---- */

void pfs_memory_config_init(struct pfs_memory_config *config)
{
	*config = (struct pfs_memory_config){
		.rule = "exact",
		.instruments_max = 250,
		.threads_max = 16384,
		.accounts_max = 4096,
		.cells_max = 262144,
		.tick_ms = 1000,
		.stacks_max = 16384,
		.contexts_max = 32768,
		.samples_max = 65536,
		.trace_owners_max = PFS_BOX_OWNERS_MAX,
	};
}

static enum pfs_status check(const struct pfs_memory_config *config, struct pfs_message *message)
{
	if (config->rule == NULL || pfs_rule_find(config->rule) == NULL)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "rule %s is unknown: choose from " PFS_RULE_NAMES,
				       config->rule != NULL ? config->rule : "(none)");
	if (config->instruments_max > PFS_BOX_INSTRUMENTS_MAX)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "instruments_max %u: must be at most %u",
				       config->instruments_max, PFS_BOX_INSTRUMENTS_MAX);
	if (config->threads_max < 1 || config->threads_max > PFS_BOX_PEOPLE_MAX ||
	    config->accounts_max > PFS_BOX_PEOPLE_MAX)
		return pfs_message_set(
			message, PFS_BAD_CONFIG,
			"threads_max %u, accounts_max %u: must be 1 to 65536 and 0 to 65536",
			config->threads_max, config->accounts_max);
	if (config->cells_max < 1 || config->cells_max > PFS_BOX_CELLS_MAX)
		return pfs_message_set(message, PFS_BAD_CONFIG, "cells_max %u: must be 1 to %u",
				       config->cells_max, PFS_BOX_CELLS_MAX);
	if (config->profile_lg > PFS_PROFILE_LG_MOST ||
	    (config->profile_lg != 0 && strcmp(config->rule, "exact") != 0))
		return pfs_message_set(
			message, PFS_BAD_CONFIG,
			"profile_lg %u: must be 0 to %u, and 0 unless the rule is exact",
			config->profile_lg, PFS_PROFILE_LG_MOST);
	if (config->profile_lg != 0 && (config->stacks_max - 1 >= PFS_PROFILE_RECORDS_MOST ||
					config->contexts_max - 1 >= PFS_PROFILE_RECORDS_MOST ||
					config->samples_max - 1 >= PFS_PROFILE_RECORDS_MOST))
		return pfs_message_set(
			message, PFS_BAD_CONFIG,
			"stacks_max %u, contexts_max %u, samples_max %u: each must be 1 to %u",
			config->stacks_max, config->contexts_max, config->samples_max,
			PFS_PROFILE_RECORDS_MOST);
	if (config->trace_owners_max > PFS_BOX_OWNERS_MAX)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "trace_owners_max %u: must be at most %u",
				       config->trace_owners_max, PFS_BOX_OWNERS_MAX);
	if (!config->is_private && getauxval(AT_SECURE) != 0)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "a set-uid program cannot have a box: set is_private");
	return PFS_OK;
}

static uint32_t at_least_one(uint32_t value)
{
	return value != 0 ? value : 1;
}

static uint32_t row_bases_of(const struct pfs_memory_config *config)
{
	return (config->threads_max + 3 * config->accounts_max + 1 + 1024) *
	       at_least_one(config->instruments_max);
}

/* As many records as fit four system pages with their words. */
#define STACK_PAGE_RECORDS 31u
#define CONTEXT_PAGE_RECORDS 124u
#define SAMPLE_PAGE_RECORDS 63u

#define WANTS 19u

/* Regions without records are left out. */
static uint32_t fill_wants(struct pfs_box_want *wants, const struct pfs_memory_config *config)
{
	uint32_t accounts = at_least_one(config->accounts_max), count = 0;
	bool has_profile = config->profile_lg != 0;
	const struct pfs_box_want each[WANTS] = {
		{ PFS_BOX_INSTRUMENTS, sizeof(struct pfs_box_instrument),
		  at_least_one(config->instruments_max), 16 },
		{ PFS_BOX_THREADS, sizeof(struct pfs_box_thread), config->threads_max, 256 },
		{ PFS_BOX_ACCOUNTS, sizeof(struct pfs_box_account), accounts, 32 },
		{ PFS_BOX_USERS, sizeof(struct pfs_box_account), accounts, 32 },
		{ PFS_BOX_HOSTS, sizeof(struct pfs_box_account), accounts, 32 },
		{ PFS_BOX_CELLS, sizeof(struct pfs_cell), config->cells_max,
		  PFS_CELL_PAGE_RECORDS },
		/* Right after the cells: a tag stores the distance from the first cell. */
		{ PFS_BOX_SAMPLES, sizeof(struct pfs_box_sample),
		  has_profile ? config->samples_max : 0, SAMPLE_PAGE_RECORDS },
		{ PFS_BOX_STACKS, sizeof(struct pfs_box_stack),
		  has_profile ? config->stacks_max : 0, STACK_PAGE_RECORDS },
		{ PFS_BOX_CONTEXTS, sizeof(struct pfs_box_context),
		  has_profile ? config->contexts_max : 0, CONTEXT_PAGE_RECORDS },
		{ PFS_BOX_MODULES, sizeof(struct pfs_box_module), has_profile ? PFS_MODULES_MAX : 0,
		  0 },
		{ PFS_BOX_TICKS, sizeof(struct pfs_box_tick), PFS_BOX_TICKS_KEPT, 0 },
		{ PFS_BOX_CELL_BASES, sizeof(struct pfs_box_cell_base),
		  config->cells_max + PFS_CELL_PAGE_RECORDS, 0 },
		{ PFS_BOX_ROW_BASES, sizeof(struct pfs_box_row_base), row_bases_of(config), 0 },
		{ PFS_BOX_MAPPERS, sizeof(struct pfs_box_mapper), PFS_BOX_MAPPERS_MAX, 0 },
		{ PFS_BOX_OWNERS, sizeof(struct pfs_box_owner),
		  at_least_one(config->trace_owners_max), 16 },
		{ PFS_BOX_LIMITS, sizeof(struct pfs_box_limit), PFS_BOX_LIMITS_MAX, 0 },
		{ PFS_BOX_SWITCHES, sizeof(struct pfs_box_switch), config->threads_max, 0 },
		{ PFS_BOX_MOMENTS, sizeof(struct pfs_box_moment),
		  has_profile ? PFS_MOMENTS_KEPT : 0, 0 },
		{ PFS_BOX_CORRUPTION, sizeof(struct pfs_box_corruption), 1, 0 },
	};
	for (uint32_t i = 0; i < WANTS; i++)
		if (each[i].records != 0)
			wants[count++] = each[i];
	return count;
}

static enum pfs_status make_box(struct pfs_books *self, const struct pfs_memory_config *config,
				struct pfs_message *message)
{
	struct pfs_box_want wants[WANTS];
	uint32_t count = fill_wants(wants, config);
	return pfs_box_make(&self->box, config->folder, config->is_private, wants, count, message);
}

/* As in MySQL: pages of 256 records, at most 256 pages. */
static enum pfs_status make_numbers(struct pfs_books *self, const struct pfs_memory_config *config,
				    const char *policy, struct pfs_message *message)
{
	struct pfs_shelf *shelf = &self->shelves[PFS_SHELF_NUMBERS];
	struct pfs_config numbers;
	pfs_config_init(&numbers);
	numbers.record_size_bytes = sizeof(uint64_t);
	numbers.page_records = 256;
	numbers.page_max = (config->threads_max + 255) / 256;
	numbers.record_max = config->threads_max;
	enum pfs_status status = pfs_container_create(pfs_variant_find(policy), &numbers,
						      &shelf->container, message);
	if (status == PFS_OK)
		status = pfs_thread_attach(shelf->container, &shelf->handle);
	return status;
}

/* record_max: the configured maximum, although the last page may have room for more. */
static enum pfs_status make_shelf(struct pfs_books *self, enum pfs_shelves number,
				  enum pfs_box_kind kind, uint32_t record_max,
				  struct pfs_message *message)
{
	struct pfs_shelf *shelf = &self->shelves[number];
	struct pfs_config config;
	shelf->region = pfs_box_region_of(&self->box, kind);
	pfs_box_configure(&self->box, kind, &config, &shelf->source);
	config.record_max = record_max;
	if (record_max == 0)
		config.page_max = 0;
	enum pfs_status status = pfs_container_create(pfs_variant_find("exact"), &config,
						      &shelf->container, message);
	if (status == PFS_OK)
		status = pfs_thread_attach(shelf->container, &shelf->handle);
	return status;
}

static enum pfs_status make_shelves(struct pfs_books *self, const struct pfs_memory_config *config,
				    struct pfs_message *message)
{
	const struct {
		enum pfs_box_kind kind;
		uint32_t most;
	} shelves[PFS_SHELF_NUMBERS] = {
		{ PFS_BOX_INSTRUMENTS, config->instruments_max },
		{ PFS_BOX_THREADS, config->threads_max },
		{ PFS_BOX_ACCOUNTS, config->accounts_max },
		{ PFS_BOX_USERS, config->accounts_max },
		{ PFS_BOX_HOSTS, config->accounts_max },
		{ PFS_BOX_CELLS, config->cells_max },
		{ PFS_BOX_OWNERS, config->trace_owners_max },
		{ PFS_BOX_STACKS, config->stacks_max },
		{ PFS_BOX_CONTEXTS, config->contexts_max },
		{ PFS_BOX_SAMPLES, config->samples_max },
	};
	uint32_t count = config->profile_lg != 0 ? PFS_SHELF_NUMBERS : PFS_SHELF_STACKS;
	const char *numbers = pfs_rule_find(config->rule)->numbers;
	enum pfs_status status = PFS_OK;
	for (uint32_t i = 0; status == PFS_OK && i < count; i++)
		status = make_shelf(self, i, shelves[i].kind, shelves[i].most, message);
	if (status == PFS_OK && numbers != NULL)
		status = make_numbers(self, config, numbers, message);
	return status;
}

static void drop_shelves(struct pfs_books *self)
{
	for (uint32_t i = 0; i < PFS_SHELVES; i++) {
		if (self->shelves[i].handle != NULL)
			pfs_thread_detach(self->shelves[i].handle);
		pfs_container_destroy(self->shelves[i].container);
	}
	pfs_profile_close(self->profile);
	pfs_box_end(&self->box);
}

static void drop(struct pfs_books *self)
{
	if (!self->is_uncounted) /* its records are gone, and the box is its parent's */
		drop_shelves(self);
	for (uint32_t kind = 0; kind < PFS_PARTY_KINDS; kind++)
		free(self->by_reference[kind]);
	free(self->global);
	free(self);
}

static void fill(struct pfs_books *self, const struct pfs_memory_config *config)
{
	struct pfs_box_head *head = self->box.head;
	const struct pfs_box_region *cells = self->shelves[PFS_SHELF_CELLS].region;
	self->rule = pfs_rule_find(config->rule);
	self->control = self->box.control;
	/* NOLINTNEXTLINE: a region of the box */
	self->switches =
		(void *)(self->box.base + pfs_box_region_of(&self->box, PFS_BOX_SWITCHES)->offset);
	self->switch_count = config->threads_max;
	self->instruments_max = config->instruments_max;
	self->cells_base = self->box.base + cells->offset - PFS_LINE;
	self->cell_lines = (uint32_t)(cells->bytes / PFS_LINE);
	self->config = (struct pfs_config_of_books){ config->tick_ms, config->keep };
	self->box.keep = config->keep;
	self->global->level = PFS_CELL_OF_GLOBAL;
	strncpy(head->rule, config->rule, sizeof(head->rule) - 1);
	head->instruments_max = config->instruments_max;
	head->tick_ms = config->tick_ms;
	pfs_mutex_init(&self->desk);
	pfs_mutex_init(&self->limits_lock);
	(void)pthread_mutex_init(&self->tick_lock, NULL);
	(void)pthread_cond_init(&self->end_tick, NULL);
	pfs_store_relaxed(&head->state, PFS_BOX_LIVE); /* relaxed: it is still empty */
}

/* Did a part of the box find no memory? */
static bool has_no_room(const struct pfs_box *box)
{
	return box->base != NULL &&
	       pfs_load_relaxed(&box->head->lost[PFS_LOST_MEMORY]) != 0; /* relaxed: a count */
}

enum pfs_status pfs_memory_open(const struct pfs_memory_config *config, struct pfs_books **memory,
				struct pfs_message *message)
{
	enum pfs_status status = check(config, message);
	if (status != PFS_OK)
		return status;
	struct pfs_books *self = calloc(1, sizeof(*self));
	struct pfs_party *global =
		calloc(1, sizeof(*global) + PFS_BOX_INSTRUMENTS_MAX * sizeof(struct pfs_cell *));
	if (self == NULL || global == NULL) {
		free(self);
		free(global);
		return pfs_message_set(message, PFS_NO_MEMORY, "no memory for the accounts");
	}
	self->global = global;
	for (uint32_t kind = 0; kind < PFS_PARTY_KINDS; kind++) {
		self->by_reference[kind] = calloc(config->accounts_max + 1, sizeof(void *));
		if (self->by_reference[kind] == NULL)
			status = pfs_message_set(message, PFS_NO_MEMORY, "no memory for accounts");
	}
	if (status == PFS_OK)
		status = make_box(self, config, message);
	if (status == PFS_OK)
		status = make_shelves(self, config, message);
	if (status == PFS_OK && !pfs_limits_open(self))
		status = pfs_message_set(message, PFS_NO_MEMORY, "no memory for limits");
	if (status == PFS_OK && config->profile_lg != 0 && !pfs_profile_open(self, config))
		status = pfs_message_set(message, PFS_NO_MEMORY, "no memory for the profile");
	if (status == PFS_NO_MEMORY && has_no_room(&self->box))
		(void)pfs_box_is_full(&self->box, message);
	if (status != PFS_OK) {
		drop(self);
		return status;
	}
	fill(self, config);
	pfs_box_watch(&self->box);
	pfs_books_enlist(self);
	if (config->tick_ms != 0)
		pfs_ticker_start(self);
	*memory = self;
	return PFS_OK;
}

/* ---- close ---- */

static void free_named(void *named)
{
	free(named);
}

static void keep_node(void *party)
{
	(void)party; /* freed through the list */
}

void pfs_memory_close(struct pfs_books *memory)
{
	if (memory == NULL)
		return;
	pfs_ticker_end(memory);
	pfs_books_unlist(memory);
	for (uint32_t kind = 0; kind < PFS_PARTY_KINDS; kind++) {
		tdestroy(memory->parties[kind], keep_node);
		while (memory->lists[kind] != NULL) {
			struct pfs_party *party = memory->lists[kind];
			memory->lists[kind] = party->next;
			free(party);
		}
	}
	tdestroy(memory->instruments, free_named);
	pfs_owners_forget(memory);
	while (memory->threads != NULL) {
		struct pfs_memory_thread *thread = memory->threads;
		memory->threads = thread->next;
		pfs_profile_thread_end(thread);
		free(thread);
	}
	drop(memory);
}

void pfs_books_leave(struct pfs_books *self)
{
	pfs_box_leave(&self->box);
}

const char *pfs_memory_path(const struct pfs_books *memory)
{
	return memory->box.is_private ? NULL : memory->box.path;
}
