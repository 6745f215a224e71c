/*
 * symbols.c - a file of the program is opened once, when its first address is looked up: at
 * addresses of its own, so two that lay at the same place one after the other do not meet.
 */
#define _GNU_SOURCE
#include "symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "lines.h"

struct naming {
	struct pfs_heap *heap;
	struct pfs_symbols_report *report;
	struct pfs_lines **files; /* of each module; NULL: none, or not yet */
	bool *tried;
};

/* ---- which file ---- */

static void complain(struct naming *naming, const char *path, const char *why)
{
	if (naming->report->files_refused++ == 0)
		(void)snprintf(naming->report->why.text, sizeof(naming->report->why.text),
			       "'%.150s' %s", path, why);
}

static int open_file(const char *path)
{
	struct stat status;
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))) {
		(void)close(file);
		errno = EINVAL;
		return -1;
	}
	return file;
}

/* Was an open file put there after the program loaded the one that it ran? */
static bool is_newer(const struct pfs_heap_module *module, int file)
{
	struct stat status;
	return module->loaded_ns != 0 && fstat(file, &status) == 0 &&
	       (uint64_t)status.st_ctim.tv_sec * UINT64_C(1000000000) +
			       (uint64_t)status.st_ctim.tv_nsec >
		       module->loaded_ns;
}

/* The file, if it is the one that the program ran. Its build id tells; without one, a file that
 * changed since then is another one. *why_not: what is wrong with it; or unchanged. */
static struct pfs_lines *try_file(const struct pfs_heap_module *module, const char *path,
				  const char **why_not)
{
	int file = open_file(path);
	bool newer = file >= 0 && is_newer(module, file);
	struct pfs_lines *lines = file >= 0 ? pfs_lines_open(path, file) : NULL;
	const char *why = NULL;
	if (lines == NULL)
		return NULL;
	if (module->build_id_bytes == 0 && newer)
		why = "has no build id, and changed after the program loaded it: ignored";
	else if (module->build_id_bytes != 0 &&
		 !pfs_lines_is_of(lines, module->build_id, module->build_id_bytes))
		why = "is not the file that the program ran (its build id differs): ignored";
	if (why != NULL) {
		*why_not = why;
		pfs_lines_close(lines);
		return NULL;
	}
	return lines;
}

/* What was stripped from it, which has its names, too. */
static struct pfs_lines *try_debug_file(const struct pfs_heap_module *module)
{
	char path[160] = "/usr/lib/debug/.build-id/";
	const char *why_not;
	size_t length = strlen(path);
	if (module->build_id_bytes < 2)
		return NULL;
	for (uint32_t i = 0; i < module->build_id_bytes && length + 12 < sizeof(path); i++)
		length += (size_t)snprintf(path + length, sizeof(path) - length, "%02x%s",
					   module->build_id[i], i == 0 ? "/" : "");
	(void)snprintf(path + length, sizeof(path) - length, ".debug");
	return try_file(module, path, &why_not);
}

static struct pfs_lines *find_file(struct naming *naming, const struct pfs_heap_module *module)
{
	static const char deleted[] = " (deleted)";
	const char *name = naming->heap->texts[module->path];
	size_t length = strlen(name);
	char path[600];
	const char *why_not = "is missing, or is not an ELF file: its addresses have no symbols";
	if (name[0] != '/')
		return NULL; /* [vdso] and the like: there is no file */
	if (length > strlen(deleted) && strcmp(name + length - strlen(deleted), deleted) == 0)
		length -= strlen(deleted);
	(void)snprintf(path, sizeof(path), "%.*s", (int)(length < 512 ? length : 512), name);
	struct pfs_lines *lines = try_file(module, path, &why_not);
	if (lines == NULL && naming->heap->live_pid != 0) {
		/* As seen by the program, which may run in a container. */
		(void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/root%.*s",
			       naming->heap->live_pid, (int)(length < 512 ? length : 512), name);
		lines = try_file(module, path, &why_not);
	}
	if (lines == NULL && naming->heap->live_pid != 0) {
		(void)snprintf(path, sizeof(path),
			       "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
			       naming->heap->live_pid, module->begin, module->end);
		lines = try_file(module, path, &why_not);
	}
	if (lines == NULL)
		lines = try_debug_file(module);
	if (lines == NULL)
		complain(naming, name, why_not);
	return lines;
}

static struct pfs_lines *file_of(struct naming *naming, uint32_t module)
{
	if (!naming->tried[module]) {
		naming->tried[module] = true;
		/* Another mapping of it may have it open. */
		for (uint32_t i = 0; i < naming->heap->module_count; i++) {
			const struct pfs_heap_module *one = &naming->heap->modules[i];
			const struct pfs_heap_module *this = &naming->heap->modules[module];
			if (i == module || !naming->tried[i] || one->path != this->path ||
			    one->build_id_bytes != this->build_id_bytes ||
			    memcmp(one->build_id, this->build_id, sizeof(one->build_id)) != 0)
				continue;
			naming->files[module] = naming->files[i];
			return naming->files[module];
		}
		naming->files[module] = find_file(naming, &naming->heap->modules[module]);
	}
	return naming->files[module];
}

/* ---- names ---- */

struct taking {
	struct pfs_heap *heap;
	uint32_t location;
};

static void take_line(void *opaque, const char *function, const char *file, uint32_t line)
{
	struct taking *taking = opaque;
	char *name = pfs_demangled(function);
	pfs_heap_add_line(taking->heap, taking->location, name != NULL ? name : function, file,
			  line);
	free(name);
}

static void name_location(struct naming *naming, uint32_t location)
{
	const struct pfs_heap_location *of = &naming->heap->locations[location];
	struct taking taking = { naming->heap, location };
	if (of->line_count != 0 || of->module == PFS_HEAP_NONE)
		return;
	struct pfs_lines *lines = file_of(naming, of->module);
	const struct pfs_heap_module *module = &naming->heap->modules[of->module];
	if (lines != NULL)
		pfs_lines_of(
			lines,
			&(struct pfs_mapped){ module->begin, module->end, module->file_offset },
			of->pc, take_line, &taking);
}

static bool *used_modules(const struct pfs_heap *heap)
{
	bool *used = calloc(heap->module_count + 1, sizeof(*used));
	for (uint32_t i = 0; used != NULL && i < heap->location_count; i++)
		if (heap->locations[i].module != PFS_HEAP_NONE)
			used[heap->locations[i].module] = true;
	return used;
}

static void fit_modules(struct naming *naming)
{
	bool *used = used_modules(naming->heap);
	for (uint32_t i = 0; used != NULL && i < naming->heap->module_count; i++) {
		struct pfs_heap_module *module = &naming->heap->modules[i];
		struct pfs_mapped mapped = { module->begin, module->end, module->file_offset };
		struct pfs_lines *lines = used[i] && module->file_offset == 0 ? file_of(naming, i)
									      : NULL;
		if (lines == NULL || !pfs_lines_code(lines, &mapped))
			continue;
		module->begin = mapped.begin;
		module->end = mapped.end;
		module->file_offset = mapped.file_offset;
	}
	free(used);
}

static void close_files(struct naming *naming)
{
	uint32_t count = naming->heap->module_count;
	for (uint32_t i = 0; naming->files != NULL && i < count; i++) {
		for (uint32_t j = i + 1; j < count; j++)
			if (naming->files[j] == naming->files[i])
				naming->files[j] = NULL; /* the same one */
		pfs_lines_close(naming->files[i]);
	}
	free(naming->files);
	free(naming->tried);
}

/* ---- all of them, within bounds ---- */

struct weighed {
	double bytes;
	uint32_t stack;
};

static int heaviest_first(const void *one, const void *other)
{
	const struct weighed *a = one, *b = other;
	return a->bytes > b->bytes   ? -1
	       : a->bytes < b->bytes ? 1
	       : a->stack < b->stack ? -1
				     : a->stack > b->stack;
}

/* The stacks, those with the most bytes in use first. NULL: no memory. */
static struct weighed *weigh(const struct pfs_heap *heap)
{
	struct weighed *stacks = calloc(heap->stack_count + 1, sizeof(*stacks));
	for (uint32_t i = 0; stacks != NULL && i < heap->stack_count; i++)
		stacks[i].stack = i;
	for (uint32_t i = 0; stacks != NULL && i < heap->entry_count; i++)
		stacks[heap->entries[i].stack].bytes += heap->entries[i].now.live_bytes;
	if (stacks != NULL)
		qsort(stacks, heap->stack_count, sizeof(*stacks), heaviest_first);
	return stacks;
}

static uint64_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();
	return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
}

struct spending {
	uint64_t end_ns, most_bytes; /* 0: no bound */
	bool is_over;
};

static bool is_over(struct spending *self)
{
	self->is_over |= (self->end_ns != 0 && pfs_now_ns(CLOCK_MONOTONIC) >= self->end_ns) ||
			 (self->most_bytes != 0 && allocated() >= self->most_bytes);
	return self->is_over;
}

static void name_once(struct naming *naming, uint32_t location, bool *seen,
		      struct spending *spending)
{
	struct pfs_heap_location *of = &naming->heap->locations[location];
	if (seen[location])
		return;
	seen[location] = true;
	of->is_late = is_over(spending);
	if (of->is_late)
		naming->report->late++;
	else
		name_location(naming, location);
}

static void name_all(struct naming *naming, const struct pfs_symbols_bounds *bounds)
{
	struct pfs_heap *heap = naming->heap;
	struct spending spending = { 0 };
	struct weighed *stacks = weigh(heap);
	bool *seen = calloc(heap->location_count + 1, sizeof(*seen));
	if (stacks == NULL || seen == NULL)
		heap->failed = true;
	if (bounds != NULL && bounds->ns != 0)
		spending.end_ns = pfs_now_ns(CLOCK_MONOTONIC) + bounds->ns;
	if (bounds != NULL && bounds->bytes != 0)
		spending.most_bytes = allocated() + bounds->bytes;
	for (uint32_t i = 0; !heap->failed && i < heap->stack_count; i++) {
		const struct pfs_heap_stack *stack = &heap->stacks[stacks[i].stack];
		for (uint32_t j = 0; j < stack->depth; j++)
			name_once(naming, heap->frames[stack->first + j], seen, &spending);
	}
	for (uint32_t i = 0; !heap->failed && i < heap->location_count; i++)
		name_once(naming, i, seen, &spending); /* of no stack */
	free(stacks);
	free(seen);
}

void pfs_heap_look_up(struct pfs_heap *heap, bool with_names,
		      const struct pfs_symbols_bounds *bounds, struct pfs_symbols_report *report)
{
	uint32_t count = heap->module_count;
	struct naming naming = { .heap = heap,
				 .report = report,
				 .files = calloc(count + 1, sizeof(struct pfs_lines *)),
				 .tried = calloc(count + 1, sizeof(bool)) };
	memset(report, 0, sizeof(*report));
	if (naming.files == NULL || naming.tried == NULL)
		heap->failed = true;
	if (with_names && !heap->failed)
		name_all(&naming, bounds);
	if (!heap->failed && report->late == 0)
		fit_modules(&naming);
	close_files(&naming);
	heap->is_named |= with_names;
}
