/*
 * corruption.c - reports memory corruption.
 */
#define _GNU_SOURCE
#include "corruption.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "last.h"
#include "text.h"

#define PATH_BYTES 512u
#define WAIT_MS 2000u

static struct pfs_corruption corruption PFS_SELDOM; /* the reporter's */
static _Atomic(uint32_t) reporter;                  /* its thread; 0: nothing was reported yet */
static _Atomic(uint32_t) is_done;

static const char *const kind_names[PFS_CORRUPTION_KINDS] = {
	[PFS_CORRUPTION_NONE] = "",
	[PFS_CORRUPTION_OVERFLOW] = "overflow",
	[PFS_CORRUPTION_UNDERFLOW] = "underflow",
	[PFS_CORRUPTION_USE_AFTER_FREE] = "use after free",
	[PFS_CORRUPTION_DOUBLE_FREE] = "double free",
	[PFS_CORRUPTION_INVALID_POINTER] = "invalid pointer",
};

/* ---- the text ---- */

/* Behind the program's path. Enough for the lines of one stack. */
static struct pfs_text text_begin(void)
{
	return (struct pfs_text){ pfs_guard_scratch() + PATH_BYTES,
				  PFS_GUARD_SCRATCH_BYTES - PATH_BYTES, 0 };
}

static void add_thread(struct pfs_text *text, const struct pfs_trace *trace)
{
	pfs_text_add(text, "thread ");
	pfs_text_number(text, trace->thread_id);
	pfs_text_add(text, " (");
	pfs_text_add(text, trace->thread);
	pfs_text_add(text, ")");
}

/* Where a stack ends, the byte before is looked up: outermost.c hides the last byte of the call. */
static bool find_module(uintptr_t address, struct dl_find_object *module)
{
	return _dl_find_object((void *)address, module) == 0 ||     /* NOLINT: code */
	       _dl_find_object((void *)(address - 1), module) == 0; /* NOLINT: code */
}

/* The module and the offset in it, as addr2line takes them. */
static void add_frame(struct pfs_text *text, uintptr_t address)
{
	struct dl_find_object module;
	pfs_text_add(text, "    ");
	if (!find_module(address, &module)) {
		pfs_text_hex(text, address);
	} else {
		const char *path = module.dlfo_link_map->l_name;
		pfs_text_add(text, path[0] != '\0' ? path : pfs_guard_scratch());
		pfs_text_add(text, "+");
		pfs_text_hex(text, address - module.dlfo_link_map->l_addr);
	}
	pfs_text_add(text, "\n");
}

/* Calls are a byte before the addresses that they return to. */
static void add_stack(struct pfs_text *text, const struct pfs_trace *trace, bool is_access)
{
	for (uint32_t i = 0; i < trace->depth; i++)
		add_frame(text, trace->frames[i] - (i == 0 && is_access ? 0 : 1));
	if (trace->is_cut)
		pfs_text_add(text, "    ...\n");
}

static void put_trace(struct pfs_text *text, const char *what, const struct pfs_trace *trace,
		      bool is_access)
{
	if (trace == NULL || trace->thread_id == 0)
		return;
	pfs_text_add(text, "pfsmalloc: ");
	pfs_text_add(text, what);
	add_thread(text, trace);
	pfs_text_add(text, "\n");
	add_stack(text, trace, is_access);
	pfs_text_put(text);
}

/* "3 bytes past the end of a block of 100 bytes at 0x..." */
static void add_place(struct pfs_text *text, const struct pfs_corruption *self)
{
	uintptr_t block = self->found.block, end = block + self->found.size_bytes;
	bool is_before = self->address < block, is_past = self->address >= end;
	uintptr_t from = is_past ? end - 1 : block;
	pfs_text_number(text, is_before ? block - self->address : self->address - from);
	pfs_text_add(text, is_before ? " bytes before a block of "
			   : is_past ? " bytes past the end of a block of "
				     : " bytes into a block of ");
	pfs_text_number(text, self->found.size_bytes);
	pfs_text_add(text, " bytes at ");
	pfs_text_hex(text, block);
}

static void put_head(struct pfs_text *text, const struct pfs_corruption *self)
{
	static const char *const did[] = { [PFS_ACCESS_ANY] = " accessed ",
					   [PFS_ACCESS_READ] = " read ",
					   [PFS_ACCESS_WRITE] = " wrote " };
	pfs_text_add(text, "pfsmalloc: ");
	pfs_text_add(text, kind_names[self->kind]);
	pfs_text_add(text, ": ");
	if (self->call == NULL) {
		add_thread(text, &self->here);
		pfs_text_add(text, did[self->access]);
		pfs_text_hex(text, self->address);
	} else {
		pfs_text_add(text, self->call);
		pfs_text_add(text, self->kind <= PFS_CORRUPTION_UNDERFLOW
					   ? " found a byte written at "
					   : " was given ");
		pfs_text_hex(text, self->address);
	}
	pfs_text_add(text, ", ");
	add_place(text, self);
	pfs_text_add(text, ", in process ");
	pfs_text_number(text, (uint64_t)getpid());
	pfs_text_add(text, "\n");
	pfs_text_put(text);
}

/* Without the stack here. */
static void put_report(const struct pfs_corruption *self)
{
	struct pfs_text text = text_begin();
	ssize_t length = readlink("/proc/self/exe", pfs_guard_scratch(), PATH_BYTES - 1);
	pfs_guard_scratch()[length > 0 ? length : 0] = '\0';
	put_head(&text, self);
	put_trace(&text, "allocated by ", self->found.allocated, false);
	if (self->found.is_freed)
		put_trace(&text, "freed by ", self->found.freed, false);
}

static void put_here(const struct pfs_corruption *self)
{
	struct pfs_text text = text_begin();
	bool is_access = self->call == NULL;
	put_trace(&text, is_access ? "accessed by " : "found by ", &self->here, is_access);
}

/* ---- the reporter ---- */

/* False: another thread reports, and has done so; or this one does. */
static bool begin(void)
{
	uint32_t seen = 0, self = (uint32_t)gettid();
	const struct timespec moment = { .tv_nsec = 1000000 };
	/* relaxed: one thread passes. */
	if (pfs_cas_relaxed(&reporter, &seen, self)) {
		pfs_guard_stop();
		return true;
	}
	/* relaxed: a flag; the process ends either way. */
	for (uint32_t i = 0; seen != self && i < WAIT_MS && pfs_load_relaxed(&is_done) == 0; i++)
		(void)nanosleep(&moment, NULL);
	return false;
}

static void name_traces(const struct pfs_guard_found *found)
{
	pfs_trace_name(&corruption.here);
	if (found->block != 0) {
		pfs_trace_name(found->allocated);
		pfs_trace_name(found->freed);
	}
}

/* What is known without the stack comes first: it may be damaged, and a second fault ends the
 * program. */
static void report(uintptr_t code)
{
	pfs_trace_begin(&corruption.here, code);
	name_traces(&corruption.found);
	if (corruption.found.block != 0)
		put_report(&corruption);
	if (pfs_corruption_noted != NULL)
		pfs_corruption_noted(&corruption);
	pfs_trace_take(&corruption.here, code);
	pfs_trace_name(&corruption.here);
	if (corruption.found.block != 0)
		put_here(&corruption);
	if (pfs_corruption_noted != NULL)
		pfs_corruption_noted(&corruption);
	pfs_store_relaxed(&is_done, 1); /* relaxed: see begin */
}

static enum pfs_corruption_kind kind_of(const struct pfs_guard_found *found, uintptr_t address)
{
	if (address < found->block)
		return PFS_CORRUPTION_UNDERFLOW;
	if (address >= found->block + found->size_bytes)
		return PFS_CORRUPTION_OVERFLOW;
	return found->is_freed ? PFS_CORRUPTION_USE_AFTER_FREE : PFS_CORRUPTION_NONE;
}

bool pfs_corruption_accessed(uintptr_t address, uintptr_t code, enum pfs_corruption_access access)
{
	struct pfs_guard_found found;
	if (!pfs_guard_find(address, &found))
		return false;
	enum pfs_corruption_kind kind = kind_of(&found, address);
	/* Inside a living block: the program has changed the access to its pages. */
	if (kind == PFS_CORRUPTION_NONE)
		return false;
	if (!begin())
		return true;
	corruption = (struct pfs_corruption){
		.kind = kind, .access = access, .address = address, .found = found
	};
	report(code);
	return true;
}

void pfs_corruption_written(uintptr_t address, const char *call)
{
	if (begin()) {
		corruption = (struct pfs_corruption){ .access = PFS_ACCESS_WRITE,
						      .call = call,
						      .address = address };
		(void)pfs_guard_find(address, &corruption.found);
		corruption.kind = kind_of(&corruption.found, address);
		report(0);
	}
	pfs_last_begin();
	abort();
}

void pfs_corruption_misused(const char *call, const void *pointer, const char *what)
{
	bool is_free = strcmp(what, PFS_IS_FREE) == 0;
	if ((!is_free && strcmp(what, PFS_NOT_START) != 0 && strcmp(what, PFS_NO_BLOCK) != 0) ||
	    !begin())
		return;
	corruption = (struct pfs_corruption){ .kind = is_free ? PFS_CORRUPTION_DOUBLE_FREE
							      : PFS_CORRUPTION_INVALID_POINTER,
					      .call = call,
					      .address = (uintptr_t)pointer };
	(void)pfs_guard_find(corruption.address, &corruption.found);
	report(0);
}
