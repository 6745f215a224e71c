/*
 * heap_test.c - the model of a heap profile: files that come and go at one address, sums that
 * survive rounding, names, and boxes with parts missing.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/box/reader.h"
#include "memory/tool/profile/formats.h"
#include "memory/tool/profile/symbols.h"
#include "memory/tool/profile/tree.h"
#include "memory/tests/box/fixture_test.h"
#include "stress/harness/harness.h"

static struct pfs_made_box box;
static char path[128];

static void begin(void)
{
	const struct pfs_made_sizes sizes = { .instruments = 8,
					      .threads = 8,
					      .accounts = 8,
					      .cells = 8,
					      .page_records = 8,
					      .stacks = 16,
					      .contexts = 16,
					      .samples = 64,
					      .profile_lg = 12 };
	(void)snprintf(path, sizeof(path), "/dev/shm/pfslab-heap-%u.box", (unsigned)getpid());
	pfs_made_begin(&box, path, &sizes);
}

static struct pfs_heap *end(void)
{
	struct pfs_message message;
	struct pfs_heap *heap = pfs_heap_open(path, NULL, &message);
	if (heap == NULL)
		(void)fprintf(stderr, "%s\n", message.text);
	PFS_CHECK(heap != NULL);
	pfs_made_leave(&box);
	(void)unlink(path);
	return heap;
}

/* The file of a stack's first frame, found by the samples' size. */
static const char *file_of(const struct pfs_heap *heap, uint64_t block_bytes)
{
	for (uint32_t i = 0; i < heap->entry_count; i++) {
		const struct pfs_heap_entry *entry = &heap->entries[i];
		if (entry->block_bytes != block_bytes)
			continue;
		uint32_t location = heap->frames[heap->stacks[entry->stack].first];
		uint32_t module = heap->locations[location].module;
		return module == PFS_HEAP_NONE ? "" : heap->texts[heap->modules[module].path];
	}
	return "no entry";
}

/* Three files at one place, one after the other, and stacks with the same addresses. */
static void modules_in_time(const struct pfs_case *at)
{
	static const struct {
		uint64_t made, bytes;
		const char *file;
	} cases[] = { { 50, 8, "/a.so" },    { 100, 16, "/a.so" },  { 199, 32, "/a.so" },
		      { 250, 64, "/a.so" },  { 300, 128, "/b.so" }, { 399, 256, "/b.so" },
		      { 400, 512, "/b.so" }, { 500, 1024, "/c.so" } };
	const uint64_t frames[] = { 0x1801, 0x9001 };
	uint32_t reference;
	(void)at;
	begin();
	uint32_t net = pfs_made_instrument(&box, "memory/server/net");
	uint32_t thread = pfs_made_thread(&box, "t", 0, 0, 0);
	(void)pfs_made_cell(&box, thread, net);
	pfs_made_module(&box, 0x1000, 0x2000, 0, "/a.so", 100, 200);
	pfs_made_module(&box, 0x1000, 0x2000, 0, "/b.so", 300, 400);
	pfs_made_module(&box, 0x1800, 0x3000, 0, "/c.so", 500, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t stack = pfs_made_stack(&box, frames, 2);
		struct pfs_box_stack *record = pfs_made_at(&box, PFS_BOX_STACKS, stack);
		record->made_realtime_ns = cases[i].made;
		(void)pfs_made_context(&box, stack, net, thread, &reference);
		(void)pfs_made_block(&box, reference, 1, cases[i].bytes);
	}
	struct pfs_heap *heap = end();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		PFS_CHECK(strcmp(file_of(heap, cases[i].bytes), cases[i].file) == 0);
	/* The same addresses in another file are another stack; in the same file they are the same
	 * stack. */
	PFS_CHECK_IS(heap->stack_count, 4);
	pfs_heap_free(heap);
}

/* Samples without a context and contexts without a stack are kept, without an owner. */
static void without(const struct pfs_case *at)
{
	uint32_t reference;
	char text[64];
	(void)at;
	begin();
	uint32_t net = pfs_made_instrument(&box, "memory/server/net");
	uint32_t thread = pfs_made_thread(&box, "t", 0, 0, 0);
	(void)pfs_made_cell(&box, thread, net);
	(void)pfs_made_block(&box, 0, 1, 100000);
	(void)pfs_made_context(&box, 0, net, thread, &reference);
	(void)pfs_made_block(&box, reference, 1, 200000);
	(void)pfs_made_block(&box, reference, 1, 0);
	struct pfs_heap *heap = end();
	double bytes = pfs_heap_sum(heap, false).live_bytes;
	PFS_CHECK(fabs(bytes - 300000) < 1);
	struct pfs_tree *tree = pfs_tree_make(heap, false);
	PFS_CHECK(tree != NULL && tree->count == 2);
	PFS_CHECK(strcmp(pfs_node_name(tree, &tree->nodes[1], text, sizeof(text)),
			 "[unknown] no stack") == 0);
	PFS_CHECK(fabs(tree->nodes[0].bytes - 300000) < 1);
	pfs_tree_free(tree);
	pfs_heap_free(heap);
}

/* Looking up ends at a bound: the largest stacks come first, and what is left says so. */
static void bounds(const struct pfs_case *at)
{
	struct pfs_symbols_report report;
	struct pfs_heap *heap = pfs_heap_new();
	char text[256], own[200];
	(void)at;
	PFS_CHECK(heap != NULL);
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	PFS_CHECK(length > 0);
	own[length] = '\0';
	struct pfs_heap_module module = { .begin = 0x1000,
					  .end = 0x100000,
					  .path = pfs_heap_text(heap, own) };
	uint32_t of = pfs_heap_add_module(heap, &module);
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t location = pfs_heap_location(heap, 0x2000 + i, of);
		struct pfs_heap_entry like = { .stack = pfs_heap_stack(heap, &location, 1, false) };
		pfs_heap_entry(heap, &like)->now.live_bytes = 100 + i;
	}
	pfs_heap_look_up(heap, true, &(struct pfs_symbols_bounds){ .ns = 1 }, &report);
	PFS_CHECK_IS(report.late, 10);
	(void)pfs_heap_frame_name(heap, 0, 0, text, sizeof(text));
	PFS_CHECK(strncmp(text, "[not looked up] ", 16) == 0);
	size_t before = mallinfo2().uordblks;
	char *some = malloc(1000);
	PFS_CHECK(some != NULL);
	bool is_counted = mallinfo2().uordblks != before; /* not by a sanitizer's malloc */
	free(some);
	pfs_heap_look_up(heap, true, &(struct pfs_symbols_bounds){ .bytes = 1 }, &report);
	if (is_counted) /* the largest stack was looked up */
		PFS_CHECK(report.late == 9 && !heap->locations[9].is_late);
	pfs_heap_look_up(heap, true, NULL, &report);
	PFS_CHECK_IS(report.late, 0);
	pfs_heap_free(heap);
}

/* Each row is a whole number, and together they equal the sum. */
static void rounding(const struct pfs_case *at)
{
	double carry = 0, sum = 0, next = 0.37;
	int64_t whole = 0;
	(void)at;
	for (int i = 0; i < 10000; i++) {
		next = fmod(next * 3.77 + 0.1, 5.0);
		int64_t one = pfs_round(next, &carry);
		PFS_CHECK(one >= 0 && fabs((double)one - next) <= 1);
		whole += one;
		sum += next;
	}
	PFS_CHECK(fabs((double)whole - sum) <= 0.5 + 1e-6);
	carry = 0;
	PFS_CHECK_IS(pfs_round(1e30, &carry), INT64_C(9000000000000000000));
	PFS_CHECK_IS(pfs_round(-1e30, &carry), INT64_C(-9000000000000000000));
}

static void demangled(const struct pfs_case *at)
{
	static const struct {
		const char *name, *text;
	} cases[] = {
		{ "_ZN7rocksdb5Arena15AllocateAlignedEmmPNS_6LoggerE",
		  "rocksdb::Arena::AllocateAligned(unsigned long, unsigned long, "
		  "rocksdb::Logger*)" },
		{ "_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place" },
		{ "_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop"
		  "17h0123456789abcdefE",
		  "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop" },
		{ "_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function" },
		{ "_RNvMCs4fqI2P2rA04_8mycrateINtB2_7ExampleppE3foo", NULL },
		{ "main", NULL },
		{ "_start", NULL },
		{ "_Z", NULL },
	};
	(void)at;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = pfs_demangled(cases[i].name);
		if (cases[i].text != NULL && (text == NULL || strcmp(text, cases[i].text) != 0))
			(void)fprintf(stderr, "%s: %s\n", cases[i].name,
				      text != NULL ? text : "none");
		PFS_CHECK(cases[i].text == NULL ||
			  (text != NULL && strcmp(text, cases[i].text) == 0));
		PFS_CHECK(strncmp(cases[i].name, "_Z", 3) != 0 || text == NULL);
		free(text);
	}
	/* As deep as a name can nest: refused or demangled, without a stack overflow. */
	char *deep = malloc(20001);
	PFS_CHECK(deep != NULL);
	memset(deep, 'P', 20000);
	memcpy(deep, "_Z1f", 4);
	deep[20000] = '\0';
	free(pfs_demangled(deep));
	deep[16000] = '\0';
	free(pfs_demangled(deep));
	free(deep);
}

/* A thousand stacks of forty frames, of fifty threads: all documents are quick. */
static void many(const struct pfs_case *at)
{
	struct pfs_message message;
	struct pfs_heap *heap = pfs_heap_new();
	uint32_t locations[40];
	(void)at;
	PFS_CHECK(heap != NULL);
	for (uint32_t i = 0; i < 1000; i++) {
		for (uint32_t j = 0; j < 40; j++)
			locations[j] = pfs_heap_location(heap, 1 + j + i % (41 - j) * 100,
							 PFS_HEAP_NONE);
		struct pfs_heap_entry like = { .stack = pfs_heap_stack(heap, locations, 40, false),
					       .thread_id = i % 50 };
		pfs_heap_entry(heap, &like)->now.live_bytes += i + 0.25;
		pfs_heap_entry(heap, &like)->now.live_objects += 1;
	}
	PFS_CHECK(pfs_heap_is_whole(heap, &message));
	double sum = pfs_heap_sum(heap, false).live_bytes;
	PFS_CHECK(fabs(sum - (999 * 500 + 250)) < 1e-6);
	for (int kind = 0; kind < PFS_DOCUMENTS; kind++) {
		const struct pfs_document_options options = { .kind = (enum pfs_document)kind,
							      .with_names = true };
		char *text = NULL;
		size_t bytes = 0;
		FILE *out = open_memstream(&text, &bytes);
		PFS_CHECK(pfs_heap_write(heap, &options, out, &message));
		(void)fclose(out);
		PFS_CHECK(bytes > 10000);
		if (kind == PFS_DOCUMENT_TEXT || kind == PFS_DOCUMENT_HEAP_V2) {
			struct pfs_heap *again = pfs_heap_of_dump(text, bytes, "again", &message);
			PFS_CHECK(again != NULL);
			PFS_CHECK(fabs(pfs_heap_sum(again, false).live_bytes - sum) < 2);
			pfs_heap_free(again);
		}
		free(text);
	}
	pfs_heap_free(heap);
}

int main(int argc, char **argv)
{
	static const struct pfs_test tests[] = {
		{ .name = "modules_in_time", .run = modules_in_time },
		{ .name = "without", .run = without },
		{ .name = "bounds", .run = bounds },
		{ .name = "rounding", .run = rounding },
		{ .name = "demangled", .run = demangled },
		{ .name = "many", .run = many },
	};
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
