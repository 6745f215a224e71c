/*
 * lines.c - functions and lines by elfutils: libdwfl finds symbols and debug information, libdw the
 * functions that are inlined at an address.
 *
 * Where a compiler wrote no .debug_aranges (clang does not) the units' own ranges are sorted once.
 */
#define _GNU_SOURCE
#include "lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct range {
	Dwarf_Addr begin, end;
	Dwarf_Off unit;
};

/* A symbol of code, and what it covers. */
struct function {
	GElf_Addr begin, end;
	const char *name;
	uint8_t binding;
};

struct pfs_lines {
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias;       /* from the file's addresses to libdwfl's */
	uint64_t low, high;   /* the file's addresses, of whole pages */
	struct range *ranges; /* of units, sorted; when they are needed */
	uint32_t range_count, range_room;
	struct function *functions; /* sorted; when they are needed */
	uint32_t function_count;
	bool has_ranges, has_functions;
};

/* ---- a file ---- */

static bool read_segments(struct pfs_lines *self)
{
	Elf *elf = dwfl_module_getelf(self->module, &self->bias);
	size_t count = 0;
	if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
		return false;
	self->low = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (gelf_getphdr(elf, (int)i, &segment) == NULL || segment.p_type != PT_LOAD)
			continue;
		uint64_t begin = segment.p_vaddr & ~UINT64_C(4095);
		uint64_t end = (segment.p_vaddr + segment.p_memsz + 4095) & ~UINT64_C(4095);
		self->low = begin < self->low ? begin : self->low;
		self->high = end > self->high ? end : self->high;
	}
	return self->low < self->high;
}

struct pfs_lines *pfs_lines_open(const char *path, int file)
{
	static char *debug_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	struct pfs_lines *self = calloc(1, sizeof(*self));
	if (self == NULL || (self->dwfl = dwfl_begin(&callbacks)) == NULL) {
		(void)close(file);
		free(self);
		return NULL;
	}
	dwfl_report_begin(self->dwfl);
	self->module = dwfl_report_offline(self->dwfl, path, path, file);
	if (self->module == NULL)
		(void)close(file);
	if (dwfl_report_end(self->dwfl, NULL, NULL) != 0 || self->module == NULL ||
	    !read_segments(self)) {
		pfs_lines_close(self);
		return NULL;
	}
	return self;
}

void pfs_lines_close(struct pfs_lines *self)
{
	if (self == NULL)
		return;
	dwfl_end(self->dwfl);
	free(self->ranges);
	free(self->functions);
	free(self);
}

bool pfs_lines_is_of(struct pfs_lines *self, const uint8_t *build_id, uint32_t bytes)
{
	const unsigned char *bits;
	GElf_Addr address;
	int count = dwfl_module_build_id(self->module, &bits, &address);
	return count == (int)bytes && memcmp(bits, build_id, bytes) == 0;
}

/* ---- addresses ---- */

/* A mapping is of the whole file as the loader lays it out, or of a piece from an offset on. */
static bool is_whole(const struct pfs_lines *self, const struct pfs_mapped *mapped)
{
	uint64_t bytes = (mapped->end - mapped->begin + 4095) & ~UINT64_C(4095);
	return mapped->file_offset == 0 && bytes >= self->high - self->low;
}

/* The next segment of code, from *at on. */
static bool next_code(struct pfs_lines *self, size_t *at, GElf_Phdr *segment)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(self->module, &bias);
	size_t count = 0;
	if (elf == NULL || elf_getphdrnum(elf, &count) != 0)
		return false;
	while (*at < count)
		if (gelf_getphdr(elf, (int)(*at)++, segment) != NULL &&
		    segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0)
			return true;
	return false;
}

bool pfs_lines_code(struct pfs_lines *self, struct pfs_mapped *mapped)
{
	const uint64_t page = 4095;
	GElf_Phdr segment;
	size_t at = 0;
	if (!is_whole(self, mapped) || !next_code(self, &at, &segment))
		return false;
	uint64_t begin = mapped->begin + segment.p_vaddr - self->low;
	*mapped = (struct pfs_mapped){ begin & ~page, (begin + segment.p_memsz + page) & ~page,
				       segment.p_offset & ~page };
	return true;
}

/* The file's own address; false: no part of it is there. */
static bool own_address(struct pfs_lines *self, const struct pfs_mapped *mapped, uint64_t pc,
			uint64_t *address)
{
	GElf_Phdr segment;
	uint64_t offset = pc - mapped->begin + mapped->file_offset;
	if (is_whole(self, mapped)) {
		*address = pc - mapped->begin + self->low;
		return true;
	}
	for (size_t at = 0; next_code(self, &at, &segment);) {
		if (segment.p_filesz == 0) {
			/* A stripped segment has no offsets: code is one piece. */
			*address = pc - mapped->begin + (segment.p_vaddr & ~UINT64_C(4095));
			return true;
		}
		if (offset < segment.p_offset || offset - segment.p_offset >= segment.p_memsz)
			continue;
		*address = offset - segment.p_offset + segment.p_vaddr;
		return true;
	}
	return false;
}

/* ---- units ---- */

static void add_ranges(struct pfs_lines *self, Dwarf_Die *unit)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	while ((at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0) {
		if (self->range_count == self->range_room) {
			uint32_t room = self->range_room == 0 ? 256 : self->range_room * 2;
			struct range *more = realloc(self->ranges, room * sizeof(*more));
			if (more == NULL)
				return;
			self->ranges = more;
			self->range_room = room;
		}
		self->ranges[self->range_count++] = (struct range){ begin, end,
								    dwarf_dieoffset(unit) };
	}
}

static int by_begin(const void *one, const void *other)
{
	const struct range *a = one, *b = other;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static void read_ranges(struct pfs_lines *self, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	self->has_ranges = true;
	while (dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &split) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_ranges(self, &die);
	if (self->range_count != 0)
		qsort(self->ranges, self->range_count, sizeof(*self->ranges), by_begin);
}

/* Units of one file do not overlap, but for empty ranges and damage. */
static bool find_unit(struct pfs_lines *self, Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *unit)
{
	uint32_t low = 0;
	if (dwarf_addrdie(dwarf, address, unit) != NULL)
		return true;
	if (!self->has_ranges)
		read_ranges(self, dwarf);
	for (uint32_t high = self->range_count; low < high;) {
		uint32_t middle = low + (high - low) / 2;
		if (self->ranges[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = low; i > 0 && low - i < 8; i--)
		if (address < self->ranges[i - 1].end)
			return dwarf_offdie(dwarf, self->ranges[i - 1].unit, unit) != NULL;
	return false;
}

/* ---- functions ---- */

struct giving {
	void (*take)(void *opaque, const char *function, const char *file, uint32_t line);
	void *opaque;
	uint32_t given;
};

static const char *text_of(Dwarf_Die *die, unsigned what)
{
	Dwarf_Attribute attribute;
	return dwarf_formstring(dwarf_attr_integrate(die, what, &attribute));
}

static const char *linkage_name_of(Dwarf_Die *die)
{
	const char *name = text_of(die, DW_AT_linkage_name);
	return name != NULL ? name : text_of(die, DW_AT_MIPS_linkage_name);
}

/* Where it is declared: in its class, in its namespace. */
static void find_declaration(Dwarf_Die *die)
{
	static const unsigned ways[] = { DW_AT_abstract_origin, DW_AT_specification };
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		Dwarf_Attribute attribute;
		Dwarf_Die other;
		if (dwarf_formref_die(dwarf_attr(die, ways[i], &attribute), &other) != NULL)
			*die = other;
	}
}

/* Types in a name's arguments as gcc spells them, and as clang and a demangled name have them. */
static void put_spelled(const char *name, char *to, size_t to_bytes)
{
	static const char *const words[][2] = { { "long long unsigned int", "unsigned long long" },
						{ "long long int", "long long" },
						{ "long unsigned int", "unsigned long" },
						{ "long int", "long" },
						{ "short unsigned int", "unsigned short" },
						{ "short int", "short" } };
	size_t length = 0;
	const bool has_arguments = strchr(name, '<') != NULL;
	while (*name != '\0' && length + 1 < to_bytes) {
		const char *put = NULL;
		for (size_t i = 0; has_arguments && i < sizeof(words) / sizeof(words[0]); i++)
			if (strncmp(name, words[i][0], strlen(words[i][0])) == 0) {
				put = words[i][1];
				name += strlen(words[i][0]);
				break;
			}
		if (put == NULL)
			to[length++] = *name++;
		else
			length += (size_t)snprintf(to + length, to_bytes - length, "%s", put);
	}
	to[length < to_bytes ? length : to_bytes - 1] = '\0';
}

/* "namespace::Class::function", where no compiler wrote it as one name. */
static void put_qualified(Dwarf_Die *die, const char *name, char *to, size_t to_bytes)
{
	Dwarf_Die declaration = *die, *scopes = NULL;
	size_t length = 0;
	find_declaration(&declaration);
	int count = dwarf_getscopes_die(&declaration, &scopes);
	for (int i = count - 1; i > 0; i--) {
		int tag = dwarf_tag(&scopes[i]);
		const char *part = dwarf_diename(&scopes[i]);
		if ((tag != DW_TAG_namespace && tag != DW_TAG_class_type &&
		     tag != DW_TAG_structure_type) ||
		    length >= to_bytes)
			continue;
		if (part == NULL)
			part = tag == DW_TAG_namespace ? "(anonymous namespace)" : "(anonymous)";
		int put = snprintf(to + length, to_bytes - length, "%s::", part);
		length += put > 0 ? (size_t)put : 0;
	}
	free(scopes);
	if (length < to_bytes)
		put_spelled(name, to + length, to_bytes - length);
}

/* What lies in a namespace without a name gets a name for the linker by clang, and none by gcc:
 * so that of both it is not used. */
static bool is_nobodys(const char *linkage_name)
{
	return strstr(linkage_name, "_GLOBAL__N_1") != NULL;
}

static uint32_t number_of(Dwarf_Die *die, unsigned what)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;
	return dwarf_formudata(dwarf_attr(die, what, &attribute), &value) == 0 ? (uint32_t)value
									       : 0;
}

static void give(struct giving *giving, Dwarf_Die *scope, const char *file, int line)
{
	char text[2048] = "";
	const char *name = linkage_name_of(scope);
	const char *plain = name == NULL || is_nobodys(name) ? dwarf_diename(scope) : NULL;
	if (plain != NULL) {
		name = plain;
		put_qualified(scope, name, text, sizeof(text));
		name = text;
	}
	if (name == NULL)
		return;
	giving->take(giving->opaque, name, file, (uint32_t)line);
	giving->given++;
}

#define NAMESPACES_MAX 16u /* one in the other */

/* The innermost scope of an address, first. libdw looks into nothing that says no addresses, and a
 * namespace says none: clang puts functions into it, gcc only their declarations. */
static int scopes_at(Dwarf_Die *around, Dwarf_Addr address, unsigned depth, Dwarf_Die **scopes)
{
	Dwarf_Die child;
	int count = dwarf_getscopes(around, address, scopes);
	if (count > 0 || depth == NAMESPACES_MAX || dwarf_child(around, &child) != 0)
		return count;
	do {
		if (dwarf_tag(&child) == DW_TAG_namespace)
			count = scopes_at(&child, address, depth + 1, scopes);
	} while (count <= 0 && dwarf_siblingof(&child, &child) == 0);
	return count;
}

/* The functions around an address, from the innermost to the one that is not inlined. */
static void give_functions(struct giving *giving, Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Die *inner = NULL, *scopes = NULL;
	Dwarf_Files *files = NULL;
	size_t file_count = 0;
	int line = 0, count = scopes_at(unit, address, 0, &inner);
	Dwarf_Line *at = dwarf_getsrc_die(unit, address);
	const char *file = at != NULL ? dwarf_linesrc(at, NULL, NULL) : NULL;
	if (at == NULL || dwarf_lineno(at, &line) != 0)
		line = 0;
	(void)dwarf_getsrcfiles(unit, &files, &file_count);
	count = count > 0 ? dwarf_getscopes_die(&inner[0], &scopes) : 0;
	for (int i = 0; i < count; i++) {
		int tag = dwarf_tag(&scopes[i]);
		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram &&
		    tag != DW_TAG_entry_point)
			continue;
		give(giving, &scopes[i], file, line);
		if (tag != DW_TAG_inlined_subroutine)
			break;
		uint32_t number = number_of(&scopes[i], DW_AT_call_file);
		file = files != NULL && number < file_count
			       ? dwarf_filesrc(files, number, NULL, NULL)
			       : NULL;
		line = (int)number_of(&scopes[i], DW_AT_call_line);
	}
	free(scopes);
	free(inner);
}

/* ---- symbols, where there is no debug information ---- */

#define SIZELESS_MAX 4096u /* the most that a symbol without a size covers */
#define NESTED_MAX 16u     /* symbols that begin behind the one that an address is of */

static uint8_t rank_of(const struct function *function)
{
	return function->binding == STB_GLOBAL ? 2 : function->binding == STB_WEAK ? 1 : 0;
}

/* Of symbols with one beginning the narrowest, best known one is last: a search meets it first. */
static int by_place(const void *one, const void *other)
{
	const struct function *a = one, *b = other;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	if (rank_of(a) != rank_of(b))
		return rank_of(a) < rank_of(b) ? -1 : 1;
	return strcmp(b->name, a->name);
}

static bool is_code(const struct pfs_lines *self, int i, struct function *function)
{
	GElf_Sym symbol;
	GElf_Word section;
	function->name = dwfl_module_getsym_info(self->module, i, &symbol, &function->begin,
						 &section, NULL, NULL);
	int type = GELF_ST_TYPE(symbol.st_info);
	function->end = function->begin + symbol.st_size;
	function->binding = GELF_ST_BIND(symbol.st_info);
	return function->name != NULL && function->name[0] != '\0' && section != SHN_UNDEF &&
	       section != SHN_ABS &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* Cached, because libdwfl scans all symbols for each address. */
static void read_functions(struct pfs_lines *self)
{
	int count = dwfl_module_getsymtab(self->module);
	self->has_functions = true;
	if (count <= 0)
		return;
	self->functions = calloc((size_t)count, sizeof(*self->functions));
	for (int i = 1; self->functions != NULL && i < count; i++)
		if (is_code(self, i, &self->functions[self->function_count]))
			self->function_count++;
	if (self->function_count == 0)
		return;
	qsort(self->functions, self->function_count, sizeof(*self->functions), by_place);
	/* Without a size: up to what comes next. */
	for (uint32_t i = self->function_count; i-- > 0;) {
		struct function *at = &self->functions[i];
		GElf_Addr next = i + 1 < self->function_count ? at[1].begin
							      : at->begin + SIZELESS_MAX;
		if (at->end == at->begin)
			at->end = next - at->begin < SIZELESS_MAX ? next : at->begin + SIZELESS_MAX;
	}
}

/* NULL: none. */
static const char *symbol_at(struct pfs_lines *self, GElf_Addr address)
{
	if (!self->has_functions)
		read_functions(self);
	uint32_t low = 0, high = self->function_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->functions[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t tried = 0; tried < NESTED_MAX && low > 0; tried++)
		if (address < self->functions[--low].end)
			return self->functions[low].name;
	return NULL;
}

void pfs_lines_of(struct pfs_lines *self, const struct pfs_mapped *mapped, uint64_t pc,
		  void (*take)(void *opaque, const char *function, const char *file, uint32_t line),
		  void *opaque)
{
	struct giving giving = { take, opaque, 0 };
	uint64_t address;
	Dwarf_Addr bias;
	Dwarf_Die unit;
	if (!own_address(self, mapped, pc, &address))
		return;
	address += self->bias;
	Dwarf *dwarf = dwfl_module_getdwarf(self->module, &bias);
	if (dwarf != NULL && find_unit(self, dwarf, address - bias, &unit))
		give_functions(&giving, &unit, address - bias);
	if (giving.given != 0)
		return;
	const char *name = symbol_at(self, address);
	if (name != NULL)
		take(opaque, name, NULL, 0);
}
