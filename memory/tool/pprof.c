/*
 * pprof.c - pfs-mem pprof: a heap profile as other tools read it; pfs-mem flame: as a flame graph.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "profile/flame.h"
#include "profile/formats.h"
#include "taken.h"

/* Runs a writer on the profile, then writes its whole output to --out or standard output. */
static int put(const char *command, const struct pfs_arguments *arguments, bool with_names,
	       bool is_scaled,
	       bool (*write_to)(const struct pfs_heap *heap, const void *options, FILE *out,
				struct pfs_message *message),
	       const void *options)
{
	struct pfs_message message = { "no memory for the output" };
	char *text = NULL;
	size_t bytes = 0;
	int usage = pfs_choice_check(arguments);
	if (usage != PFS_EXIT_FINE)
		return usage;
	struct pfs_heap *heap = pfs_heap_taken(arguments, with_names, is_scaled);
	if (heap == NULL)
		return PFS_EXIT_REFUSED;
	FILE *out = open_memstream(&text, &bytes);
	bool fine = out != NULL && write_to(heap, options, out, &message);
	if (out != NULL && fclose(out) != 0)
		fine = false;
	const char *path = arguments->out != NULL ? arguments->out : "-";
	int status = fine ? pfs_write_out(command, path, text, bytes) : pfs_complain_of(&message);
	free(text);
	pfs_heap_free(heap);
	return status;
}

/* ---- pprof ---- */

static bool write_document(const struct pfs_heap *heap, const void *options, FILE *out,
			   struct pfs_message *message)
{
	return pfs_heap_write(heap, options, out, message);
}

static int run_pprof(const struct pfs_arguments *arguments)
{
	struct pfs_document_options options = { .with_names = arguments->symbolized,
						.of_total = arguments->of_total };
	while (arguments->document != NULL && options.kind < PFS_DOCUMENTS &&
	       strcmp(arguments->document, pfs_document_names[options.kind]) != 0)
		options.kind++;
	if (options.kind == PFS_DOCUMENTS)
		return pfs_complain(PFS_EXIT_USAGE,
				    "--format '%.100s': choose text, heap_v2, proto, or collapsed",
				    arguments->document);
	if (options.kind == PFS_DOCUMENT_PROTO && isatty(STDOUT_FILENO) && arguments->out == NULL)
		return pfs_complain(PFS_EXIT_USAGE, "pprof: proto is binary: give --out FILE");
	bool with_names = options.with_names || options.kind == PFS_DOCUMENT_COLLAPSED;
	return put("pprof", arguments, with_names, false, write_document, &options);
}

static const struct pfs_option pprof_options[] = {
	PFS_MEM_TEXT("format", 0, "FORMAT", document,
		     "text (default), heap_v2, proto, or collapsed"),
	PFS_MEM_SWITCH("symbolized", 0, symbolized,
		       "with all symbols, so that readers do not need the program's files"),
	PFS_MEM_TEXT("base", 0, "TARGET", base,
		     "subtract this box or dump; for proto and collapsed"),
	PFS_MEM_CHOICE,
	PFS_MEM_READ("live", 0, NULL, pfs_take_live, "show memory in use first; the default"),
	PFS_MEM_SWITCH("total", 0, of_total, "show all allocations since the start first"),
	PFS_MEM_TEXT("out", 'o', "FILE", out, "write to FILE; default standard output"),
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_pprof = {
	.name = "pprof", .words = "TARGET", .words_min = 1, .words_max = 1, .run = run_pprof,
	.options = pprof_options,
	.doc = "write the heap profile for jeprof, pprof, and others\vTARGET may also be a dump: "
	       "heap_v2 of jemalloc, or gperftools' text. jeprof, "
	       "google-pprof and go tool pprof read text, jeprof heap_v2 with --thread, go tool "
	       "pprof proto, which names the owner of a block; flamegraph.pl and speedscope "
	       "collapsed.",
};
/* clang-format on */

/* ---- flame ---- */

/* With the rules that the option names, or those for the program. */
static bool write_flame(const struct pfs_heap *heap, const void *arguments, FILE *out,
			struct pfs_message *message)
{
	const struct pfs_arguments *of = arguments;
	const char *end = of->out != NULL ? strrchr(of->out, '.') : NULL;
	struct pfs_rules *rules = pfs_rules_open(of->rules, heap, message);
	const struct pfs_flame_options options = {
		.as_page = end != NULL && (strcmp(end, ".html") == 0 || strcmp(end, ".htm") == 0),
		.of_total = of->of_total,
		.rules = rules,
	};
	bool fine = rules != NULL && pfs_flame_write(heap, &options, out, message);
	pfs_rules_close(rules);
	return fine;
}

static int run_flame(const struct pfs_arguments *arguments)
{
	return put("flame", arguments, true, true, write_flame, arguments);
}

static const struct pfs_option flame_options[] = {
	PFS_MEM_TEXT("out", 'o', "FILE", out,
		     "FILE.svg, or FILE.html for a page with a table; else SVG to standard output"),
	PFS_MEM_TEXT("base", 0, "TARGET", base, "show what grew and shrank since this box or dump"),
	PFS_MEM_SINCE,
	PFS_MEM_CHOICE,
	PFS_MEM_RULES,
	PFS_MEM_READ("live", 0, NULL, pfs_take_live, "memory in use; the default"),
	PFS_MEM_SWITCH("total", 0, of_total, "all allocations since the start"),
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_flame = {
	.name = "flame", .words = "TARGET", .words_min = 1, .words_max = 1, .run = run_flame,
	.options = flame_options,
	.doc = "write the heap profile as a flame graph in one file\vTARGET may also be a dump: "
	       "heap_v2 of jemalloc, or gperftools' text. A click or Enter zooms into a frame, "
	       "Escape out; arrows move between frames, / searches.",
};
/* clang-format on */
