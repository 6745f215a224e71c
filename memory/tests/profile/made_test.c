/*
 * made_test.c - makes a box by hand with a profile of this program itself: its real stacks, its
 * real files, and known samples.
 *
 * usage: profile_made PATH [more | history]
 * more: the box at a later moment, where planted_leak has grown and planted_shrinks has shrunk.
 * history: with moments of 30, 20 and 10 hours ago and of its start, where the first stack held
 * 1000, 2000, 3000 and 4000 bytes, and each other one 700; the second did not fit into the oldest.
 * Prints what is in use, as "objects bytes". The box is left as if the program had been killed.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <execinfo.h>
#include <inttypes.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "planted_test.h"
#include "memory/tests/box/fixture_test.h"

#define LG 12
#define OWN_FRAMES 8 /* at most: those of planted_record and of a sanitizer */

static struct pfs_made_box box;
static uint32_t thread, instrument;
static double objects, bytes;
static volatile int after; /* prevents tail calls */

/* The stack, from the caller of planted_record on. */
static uint32_t stack_of(const void *caller)
{
	static struct {
		uint64_t frames[PFS_STACK_FRAMES];
		uint32_t depth, reference;
	} known[64];
	static uint32_t count;
	void *addresses[PFS_STACK_FRAMES + OWN_FRAMES];
	uint64_t frames[PFS_STACK_FRAMES];
	uint32_t found = (uint32_t)backtrace(addresses, PFS_STACK_FRAMES), own = 0;
	while (own < found && addresses[own] != caller)
		own++;
	uint32_t depth = found - own;
	for (uint32_t i = 0; i < depth; i++)
		frames[i] = (uint64_t)(uintptr_t)addresses[i + own];
	for (uint32_t i = 0; i < count; i++)
		if (known[i].depth == depth &&
		    memcmp(known[i].frames, frames, depth * sizeof(*frames)) == 0)
			return known[i].reference;
	known[count].depth = depth;
	memcpy(known[count].frames, frames, depth * sizeof(*frames));
	return known[count++].reference = pfs_made_stack(&box, frames, depth);
}

__attribute__((noinline)) void planted_record(uint64_t size, int count)
{
	uint32_t reference, stack = stack_of(__builtin_return_address(0));
	double stand_for = -1 / expm1(-(double)size / (1 << LG));
	struct pfs_box_context *context = pfs_made_context(&box, stack, instrument, thread,
							   &reference);
	for (int i = 0; i < count; i++)
		(void)pfs_made_block(&box, reference, 1, size);
	/* Twice as much was allocated since the start. */
	/* relaxed, five times: one thread. */
	pfs_store_relaxed(&context->samples, 2 * (uint64_t)count); /* relaxed: see above */
	/* relaxed: see above */
	pfs_store_relaxed(&context->objects_256ths, (uint64_t)(512 * stand_for * count));
	/* relaxed: see above */
	pfs_store_relaxed(&context->bytes, (uint64_t)(2 * stand_for * count * (double)size));
	/* relaxed: see above */
	pfs_store_relaxed(&context->freed_bytes, (uint64_t)(stand_for * count * (double)size));
	/* relaxed: see above */
	pfs_store_relaxed(&context->freed_objects_256ths, (uint64_t)(256 * stand_for * count));
	objects += stand_for * count;
	bytes += stand_for * count * (double)size;
	after++;
}

/* ---- which files ---- */

static void note_build_id(struct pfs_box_module *module, const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		const char *at = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		const char *end = at + info->dlpi_phdr[i].p_memsz;
		while (at + sizeof(ElfW(Nhdr)) < end) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
			const char *name = at + sizeof(*note);
			const char *what = name + ((note->n_namesz + 3u) & ~3u);
			if (note->n_type == NT_GNU_BUILD_ID && memcmp(name, "GNU", 4) == 0) {
				module->build_id_bytes = note->n_descsz;
				memcpy(module->build_id, what, note->n_descsz);
			}
			at = what + ((note->n_descsz + 3u) & ~3u);
		}
	}
}

static int add_module(struct dl_phdr_info *info, size_t size, void *opaque)
{
	char program[400] = "";
	uint64_t low = UINT64_MAX, high = 0;
	(void)size;
	(void)opaque;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD)
			continue;
		low = segment->p_vaddr < low ? segment->p_vaddr : low;
		high = segment->p_vaddr + segment->p_memsz > high
			       ? segment->p_vaddr + segment->p_memsz
			       : high;
	}
	if (info->dlpi_name[0] == '\0' && readlink("/proc/self/exe", program, 399) < 0)
		return 1;
	pfs_made_module(&box, info->dlpi_addr + (low & ~4095u), info->dlpi_addr + high, 0,
			info->dlpi_name[0] != '\0' ? info->dlpi_name : program, 1, 0);
	note_build_id(
		(struct pfs_box_module *)(void *)(box.base +
						  pfs_made_region(&box, PFS_BOX_MODULES)->offset) +
			box.modules - 1,
		info);
	return 0;
}

/* ---- what is planted ---- */

__attribute__((noinline)) static void planted_leak(int count)
{
	planted_record(100000, count); /* the leak's line */
	after++;
}

__attribute__((noinline)) static void planted_shrinks(int count)
{
	planted_record(5000, count);
	after++;
}

__attribute__((noinline)) static void planted_tiny(void)
{
	planted_record(2, 3);
	after++;
}

static void plant_moments(void)
{
	uint64_t hour = UINT64_C(3600000000000);
	for (uint32_t i = 1; i <= 4; i++) {
		struct pfs_box_held stacks[64];
		uint32_t count = 0;
		for (uint32_t stack = 1; stack <= box.made[PFS_BOX_STACKS]; stack++)
			if (i != 1 || stack != 2)
				stacks[count++] = (struct pfs_box_held){ stack, 1,
									 stack == 1 ? 1000 * i
										    : 700 };
		struct pfs_box_moment *moment = pfs_made_moment(
			&box, box.head->start_realtime_ns - (4 - i) * 10 * hour, stacks, count);
		moment->others = i == 1;
		moment->others_bytes = moment->others_most = i == 1 ? 650 : 0;
	}
}

int main(int argc, char **argv)
{
	const struct pfs_made_sizes sizes = { .instruments = 8,
					      .threads = 8,
					      .accounts = 8,
					      .cells = 8,
					      .page_records = 64,
					      .stacks = 64,
					      .contexts = 64,
					      .samples = 4096,
					      .profile_lg = LG };
	bool more = argc > 2 && strcmp(argv[2], "more") == 0;
	bool has_history = argc > 2 && strcmp(argv[2], "history") == 0;
	if (argc < 2 || argc > 3 || (argc == 3 && !more && !has_history))
		return fprintf(stderr, "profile_made: say PATH [more | history]\n"), 2;
	pfs_made_begin(&box, argv[1], &sizes);
	if (readlink("/proc/self/exe", box.head->program, sizeof(box.head->program) - 1) < 0)
		return 1;
	instrument = pfs_made_instrument(&box, "memory/planted/heap");
	uint32_t account = pfs_made_account(&box, pfs_made_user(&box, "pool"),
					    pfs_made_host(&box, "localhost"));
	thread = pfs_made_thread(&box, "worker", account, 0, 0);
	(void)pfs_made_cell(&box, thread, instrument);
	(void)dl_iterate_phdr(add_module, NULL);
	volatile int leaks = more ? 60 : 20, shrinks = more ? 20 : 100;
	planted_leak(leaks);
	planted_shrinks(shrinks);
	planted_tiny();
	planted_cxx();
	thread = pfs_made_thread(&box, "other", 0, 0, 0);
	planted_leak(5);
	if (has_history)
		plant_moments();
	(void)printf("%.0f %.0f\n", objects, bytes);
	return 0;
}
