/*
 * dump_names.c - of a dump: which files were mapped, and the names in front.
 */
#include <stdlib.h>
#include <string.h>

#include "dump.h"

/* ---- MAPPED_LIBRARIES ---- */

static const char *find_modules(const struct dump *dump)
{
	static const char *const heads[] = { "MAPPED_LIBRARIES:", "--- Memory map:" };
	for (const char *at = dump->begin; at != NULL && at < dump->end;) {
		for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
			if ((size_t)(dump->end - at) > strlen(heads[i]) &&
			    memcmp(at, heads[i], strlen(heads[i])) == 0)
				return at;
		at = memchr(at, '\n', (size_t)(dump->end - at));
		at += at != NULL;
	}
	return NULL;
}

/* "begin-end perms offset device inode path", as in /proc/PID/maps. What is none is passed over:
 * others write other things there. */
static void take_module(struct dump *dump, const char *at, const char *end)
{
	struct pfs_heap_module module = { 0 };
	uint64_t inode;
	if (!pfs_dump_number(&at, end, 16, &module.begin) || at == end || *at++ != '-' ||
	    !pfs_dump_number(&at, end, 16, &module.end) || end - at < 6 || at[0] != ' ' ||
	    at[3] != 'x')
		return;
	at += 5;
	if (!pfs_dump_number(&at, end, 16, &module.file_offset))
		return;
	while (at < end && *at == ' ')
		at++;
	while (at < end && *at != ' ')
		at++; /* the device */
	if (!pfs_dump_number(&at, end, 10, &inode) || module.begin >= module.end)
		return;
	while (at < end && *at == ' ')
		at++;
	while (end > at && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	if (at == end)
		return; /* of no file */
	module.path = pfs_heap_text_of(dump->heap, at, (size_t)(end - at));
	(void)pfs_heap_add_module(dump->heap, &module);
}

bool pfs_dump_modules(struct dump *dump)
{
	const char *at = find_modules(dump);
	if (at == NULL)
		return true;
	for (at = memchr(at, '\n', (size_t)(dump->end - at)); at != NULL && at + 1 < dump->end;) {
		const char *line = at + 1;
		at = memchr(line, '\n', (size_t)(dump->end - line));
		take_module(dump, line, at != NULL ? at : dump->end);
	}
	return true;
}

/* ---- names ---- */

bool pfs_dump_name(struct dump *dump, struct pfs_dump_names *names)
{
	const char *at = dump->line, *end = dump->line_end;
	struct pfs_dump_one_name name;
	static const char binary[] = "binary=";
	if (at == end || (*at != '0' && memchr(at, '=', (size_t)(end - at)) != NULL)) {
		if ((size_t)(end - at) > strlen(binary) && memcmp(at, binary, strlen(binary)) == 0)
			dump->heap->binary = pfs_heap_text_of(dump->heap, at + strlen(binary),
							      (size_t)(end - at) - strlen(binary));
		return true;
	}
	if (!pfs_dump_number(&at, end, 16, &name.pc) || at == end || (*at != ' ' && *at != '\t'))
		return pfs_dump_refuse(dump, "no '0xADDRESS NAME'");
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (names->count == names->room) {
		uint32_t room = names->room == 0 ? 256 : names->room * 2;
		struct pfs_dump_one_name *more = realloc(names->names, room * sizeof(*more));
		if (more == NULL)
			return pfs_dump_refuse(dump, "no memory for its names");
		names->names = more;
		names->room = room;
	}
	name.text = at;
	name.length = (uint32_t)(end - at < 65536 ? end - at : 65536);
	names->names[names->count++] = name;
	return true;
}

static int by_pc(const void *one, const void *other)
{
	const struct pfs_dump_one_name *a = one, *b = other;
	return a->pc < b->pc ? -1 : a->pc > b->pc;
}

static const struct pfs_dump_one_name *find(const struct pfs_dump_names *names, uint64_t pc)
{
	const struct pfs_dump_one_name like = { .pc = pc };
	return bsearch(&like, names->names, names->count, sizeof(like), by_pc);
}

/* "outer--inner": the innermost is first here. Nobody's name is a bare address. */
static void attach(struct pfs_heap *heap, uint32_t location, const struct pfs_dump_one_name *name)
{
	const char *begin = name->text, *end = begin + name->length;
	if (name->length > 1 && memcmp(begin, "0x", 2) == 0)
		return;
	while (end > begin) {
		const char *from = end;
		while (from > begin && !(from - begin >= 2 && from[-1] == '-' && from[-2] == '-'))
			from--;
		uint32_t text = pfs_heap_text_of(heap, from, (size_t)(end - from));
		if (from < end)
			pfs_heap_add_line(heap, location, heap->texts[text], NULL, 0);
		end = from - begin >= 2 ? from - 2 : begin;
	}
}

void pfs_dump_names_attach(struct dump *dump, struct pfs_dump_names *names)
{
	struct pfs_heap *heap = dump->heap;
	if (names->count == 0)
		return;
	qsort(names->names, names->count, sizeof(*names->names), by_pc);
	for (uint32_t i = 0; i < heap->location_count; i++) {
		const struct pfs_dump_one_name *name = find(names, heap->locations[i].pc);
		/* gperftools' are where calls return to. */
		if (name == NULL)
			name = find(names, heap->locations[i].pc + 1);
		if (name != NULL)
			attach(heap, i, name);
	}
	heap->is_named = true;
}
