#define _GNU_SOURCE
#include "check/front/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "check/front/assembly.h"
#include "check/front/elf_file.h"
#include "check/front/names.h"
#include "check/front/pages.h"
#include "check/front/places.h"
#include "check/front/thread_local.h"
#include "check/front/unseen.h"
#include "check/machine/snapshot.h"

#define SEGMENTS_MAX 16u

#ifdef __x86_64__
#define RELOCATION_JUMP R_X86_64_JUMP_SLOT
#define RELOCATION_DATA R_X86_64_GLOB_DAT
#define RELOCATION_WORD R_X86_64_64
#define RELOCATION_DESCRIPTOR R_X86_64_TLSDESC
#define RELOCATION_FIXED R_X86_64_TPOFF64
#else
#define RELOCATION_JUMP R_AARCH64_JUMP_SLOT
#define RELOCATION_DATA R_AARCH64_GLOB_DAT
#define RELOCATION_WORD R_AARCH64_ABS64
#define RELOCATION_DESCRIPTOR R_AARCH64_TLSDESC
#define RELOCATION_FIXED R_AARCH64_TLS_TPREL
#endif

struct segment {
	char *first;
	size_t bytes;
	void *kept;
};

static struct {
	struct pfs_elf_file file;
	void *handle;                          /* of dlopen */
	struct link_map *last;                 /* that was loaded before the program */
	struct link_map *map;                  /* of the program; NULL: not bound yet */
	struct segment segments[SEGMENTS_MAX]; /* of the program */
	uint32_t segment_count;
	const struct pfs_name *const *lists;
	struct pfs_name *names; /* that are replaced */
	const char *error;
} library;

static void *must(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

/* ---- replacing functions ---- */

/* The program's own function of this name, or NULL. */
static void *defined(const struct pfs_elf_symbols *symbols, const char *name)
{
	for (size_t i = 1; i < symbols->count; i++) {
		if (symbols->first[i].st_shndx != SHN_UNDEF &&
		    strcmp(symbols->strings + symbols->first[i].st_name, name) == 0)
			return (void *)(library.map->l_addr + symbols->first[i].st_value);
	}
	return NULL;
}

/* Names that the language reserves: a program that has them was linked with a C++ run-time. */
static bool is_reserved(const char *name)
{
	return strncmp(name, "__", 2) == 0 || strncmp(name, "_ZNSt", 5) == 0;
}

/* A function that the program defines is its own, whatever its name, and its libraries call it,
 * such as its own operator new. */
static void choose_names(void)
{
	struct pfs_elf_symbols symbols;
	size_t count = 0;
	pfs_elf_symbols(&library.file, &symbols);
	for (const struct pfs_name *const *list = library.lists; *list != NULL; list++) {
		for (const struct pfs_name *at = *list; at->name != NULL; at++)
			count++;
	}
	struct pfs_name *to = library.names = must(calloc(count + 1, sizeof(*to)));
	for (const struct pfs_name *const *list = library.lists; *list != NULL; list++) {
		for (const struct pfs_name *at = *list; at->name != NULL; at++, to++) {
			void *own = is_reserved(at->name) ? NULL : defined(&symbols, at->name);
			*to = (struct pfs_name){ at->name, own != NULL ? own : at->function };
		}
	}
}

static void *replacement_of(const char *name)
{
	for (const struct pfs_name *at = library.names; at->name != NULL; at++) {
		if (at->name[0] == name[0] && strcmp(at->name, name) == 0)
			return at->function;
	}
	return NULL;
}

/* Of the program, under a name that others have, too: the dynamic linker prefers theirs. */
static void *own_of(const struct link_map *map, const ElfW(Sym) * symbol, int64_t addend)
{
	int type = ELF64_ST_TYPE(symbol->st_info);
	if (map != library.map || symbol->st_shndx == SHN_UNDEF || type == STT_GNU_IFUNC ||
	    type == STT_TLS || ELF64_ST_BIND(symbol->st_info) == STB_GNU_UNIQUE)
		return NULL;
	return (void *)(map->l_addr + symbol->st_value + (uint64_t)addend);
}

/* It may be in what is read-only after relocation; it stays writable. */
static void unlock(const void *slot)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)slot / page * page;
	size_t bytes = (uintptr_t)slot + 2 * sizeof(void *) > start + page ? 2 * page : page;
	(void)mprotect((void *)start, bytes, PROT_READ | PROT_WRITE);
}

static void replace(const struct link_map *map, const ElfW(Rela) * first, size_t bytes,
		    const ElfW(Sym) * symbols, const char *strings)
{
	for (size_t i = 0; i < bytes / sizeof(*first); i++) {
		uint64_t type = ELF64_R_TYPE(first[i].r_info);
		const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(first[i].r_info)];
		void **slot = (void **)(map->l_addr + first[i].r_offset);
		bool is_own = symbol == symbols || symbol->st_shndx != SHN_UNDEF;
		if (type == RELOCATION_FIXED && is_own) /* libm uses libc's errno so */
			library.error = "it, or a library of it, has thread-local variables of the "
					"model initial-exec: compile without -ftls-model";
		if (type == RELOCATION_DESCRIPTOR) {
			unlock(slot);
			pfs_tls_describe(slot);
		}
		if ((type != RELOCATION_JUMP && type != RELOCATION_DATA && type != RELOCATION_WORD))
			continue;
		void *function = replacement_of(strings + symbol->st_name);
		if (function == NULL)
			function = own_of(map, symbol, first[i].r_addend);
		if (function == NULL && map == library.map && symbol->st_shndx == SHN_UNDEF)
			function = pfs_unseen_entry(strings + symbol->st_name, *slot,
						    type == RELOCATION_JUMP);
		if (function == NULL || *slot == function)
			continue;
		unlock(slot);
		*slot = function;
	}
}

static void replace_all(const struct link_map *map)
{
	const ElfW(Sym) *symbols = NULL;
	const ElfW(Rela) *jumps = NULL, *others = NULL;
	const char *strings = NULL;
	size_t jump_bytes = 0, other_bytes = 0;
	for (const ElfW(Dyn) *at = map->l_ld; at->d_tag != DT_NULL; at++) {
		switch (at->d_tag) {
		case DT_SYMTAB: symbols = (const void *)at->d_un.d_ptr; break;
		case DT_STRTAB: strings = (const void *)at->d_un.d_ptr; break;
		case DT_JMPREL: jumps = (const void *)at->d_un.d_ptr; break;
		case DT_PLTRELSZ: jump_bytes = at->d_un.d_val; break;
		case DT_RELA: others = (const void *)at->d_un.d_ptr; break;
		case DT_RELASZ: other_bytes = at->d_un.d_val; break;
		default: break;
		}
	}
	if (jumps != NULL)
		replace(map, jumps, jump_bytes, symbols, strings);
	if (others != NULL)
		replace(map, others, other_bytes, symbols, strings);
}

/* ---- its variables ---- */

/* The program's are always restored. Its libraries have many, and change few (pages.h). */
static void add_segment(struct dl_phdr_info *info, const ElfW(Phdr) * load,
			const ElfW(Phdr) * relro)
{
	uintptr_t first = info->dlpi_addr + load->p_vaddr, end = first + load->p_memsz;
	if (relro != NULL && relro->p_vaddr <= load->p_vaddr &&
	    relro->p_vaddr + relro->p_memsz > load->p_vaddr)
		first = info->dlpi_addr + relro->p_vaddr + relro->p_memsz;
	if (first >= end)
		return;
	if (info->dlpi_addr != library.map->l_addr)
		pfs_pages_add((void *)first, end - first);
	else if (library.segment_count == SEGMENTS_MAX)
		library.error = "it has more writable segments than pfs-check supports";
	else
		library.segments[library.segment_count++] = (struct segment){ (char *)first,
									      end - first, NULL };
}

/* Loaded with the program: itself, and libraries that pfs-check does not use. */
static bool is_loaded(const struct dl_phdr_info *info)
{
	for (const struct link_map *at = library.last->l_next; at != NULL; at = at->l_next) {
		if (at->l_addr == info->dlpi_addr)
			return true;
	}
	return false;
}

static int add_locals(struct dl_phdr_info *info, size_t bytes, void *opaque)
{
	const bool *own = opaque;
	(void)bytes;
	if (!is_loaded(info) || (info->dlpi_addr == library.map->l_addr) != *own)
		return 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		if (part->p_type != PT_TLS || part->p_memsz == 0)
			continue;
		const char *error = pfs_tls_add(info->dlpi_tls_modid,
						(const char *)(info->dlpi_addr + part->p_vaddr),
						part->p_filesz, part->p_memsz, part->p_align);
		library.error = error != NULL ? error : library.error;
	}
	return 0;
}

static int add_segments(struct dl_phdr_info *info, size_t bytes, void *opaque)
{
	const ElfW(Phdr) *relro = NULL;
	(void)bytes, (void)opaque;
	if (!is_loaded(info))
		return 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
			relro = &info->dlpi_phdr[i];
	}
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0)
			add_segment(info, part, relro);
	}
	return 0;
}

/* It locks a mutex of its own for each exception, which is no step and orders nothing. */
static bool is_unwinder(const struct link_map *map)
{
	return strstr(map->l_name, "/libgcc_s.so") != NULL;
}

/* Bind the program and its libraries to our functions. */
static void bind_all(void)
{
	struct link_map *map = library.last->l_next;
	bool own = true, others = false;
	while (map != NULL && strcmp(map->l_name, library.file.path) != 0)
		map = map->l_next;
	library.map = map;
	if (map == NULL) {
		library.error = "the dynamic linker does not list it";
		return;
	}
	pfs_places_begin(library.file.path, map->l_addr);
	choose_names();
	(void)dl_iterate_phdr(add_locals, &own); /* its own first */
	(void)dl_iterate_phdr(add_locals, &others);
	for (map = library.last->l_next; map != NULL; map = map->l_next) {
		if (!is_unwinder(map))
			replace_all(map);
	}
	if (pfs_unseen_is_full())
		library.error = "it calls more functions of its libraries than pfs-check supports";
}

/* Each instrumented object calls it, before all of the program's constructors. */
const char *pfs_library_starts(void)
{
	if (library.last == NULL || library.map != NULL || library.error != NULL)
		return NULL;
	bind_all();
	return library.error;
}

const char *pfs_library_open(const char *path, const struct pfs_name *const *lists)
{
	static char full[4096];
	const char *error = NULL;
	if (realpath(path, full) == NULL)
		return strerror(errno);
	error = pfs_elf_read(&library.file, full);
	if (error == NULL)
		error = pfs_elf_refusal(&library.file, lists[0]);
	if (error != NULL)
		return error;
	library.lists = lists;
	for (library.last = _r_debug.r_map; library.last->l_next != NULL;)
		library.last = library.last->l_next;
	/* libstdc++ counts references without atomics in a process of one thread. */
	__libc_single_threaded = 0;
	/* Constructors run in here: they precede all threads. */
	library.handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
	if (library.handle == NULL)
		return pfs_elf_unloaded(dlerror());
	if (library.map == NULL) /* it has no constructors */
		bind_all();
	pfs_elf_demangle(&library.file,
			 (pfs_elf_demangler *)(uintptr_t)pfs_library_symbol("__cxa_demangle"));
	if (library.error == NULL)
		pfs_assembly_look(full, library.map->l_addr);
	return library.error;
}

void *pfs_library_symbol(const char *name)
{
	return dlsym(library.handle, name);
}

bool pfs_library_calls(const char *beginning)
{
	return pfs_elf_calls(&library.file, beginning, false);
}

bool pfs_library_calls_whole(const char *name)
{
	return pfs_elf_calls(&library.file, name, true);
}

bool pfs_library_has_lines(void)
{
	return pfs_elf_has_lines(&library.file);
}

/* ---- between executions ---- */

const char *pfs_library_keep(void)
{
	(void)dl_iterate_phdr(add_segments, NULL);
	for (uint32_t i = 0; i < library.segment_count; i++) {
		struct segment *segment = &library.segments[i];
		segment->kept = memcpy(must(malloc(segment->bytes)), segment->first,
				       segment->bytes);
	}
	pfs_tls_keep();
	pfs_check_heap_keep();
	return library.error;
}

void pfs_library_restore(void)
{
	pfs_pages_restore();
	for (uint32_t i = 0; i < library.segment_count; i++)
		memcpy(library.segments[i].first, library.segments[i].kept,
		       library.segments[i].bytes);
	pfs_tls_restore();
}

void pfs_library_put(struct pfs_machine_snapshot *snapshot)
{
	for (uint32_t i = 0; i < library.segment_count; i++)
		pfs_snapshot_put(snapshot, library.segments[i].first, library.segments[i].bytes);
	pfs_tls_put(snapshot);
	pfs_pages_put(snapshot);
}

static bool local_name(const void *address, char *name, size_t name_bytes)
{
	struct pfs_tls_place place;
	char own[64], whose[32] = " of the set-up";
	if (!pfs_tls_find(address, &place))
		return false;
	if (!place.is_first || !pfs_elf_local_name(&library.file, place.offset, own, sizeof(own)))
		(void)snprintf(own, sizeof(own), "a thread-local variable");
	if (place.thread != PFS_TLS_OUTSIDE)
		(void)snprintf(whose, sizeof(whose), " of T%u", place.thread);
	(void)snprintf(name, name_bytes, "%s%s", own, whose);
	return true;
}

bool pfs_library_name(const void *address, char *name, size_t name_bytes)
{
	return local_name(address, name, name_bytes) ||
	       pfs_elf_name(&library.file, (uintptr_t)address - library.map->l_addr, name,
			    name_bytes);
}

void pfs_library_forget_names(void)
{
	pfs_elf_forget_names(&library.file);
}

void pfs_library_short_names(void (*visit)(void *context, const char *name, const char *whole),
			     void *context)
{
	pfs_elf_short_names(&library.file, visit, context);
}

size_t pfs_library_roots(struct pfs_check_root *roots)
{
	size_t count = 0;
	for (uint32_t i = 0; i < library.segment_count; i++)
		roots[count++] = (struct pfs_check_root){ library.segments[i].first,
							  library.segments[i].bytes };
	for (uint32_t i = 0; pfs_tls_block(i, &roots[count].first, &roots[count].bytes); i++)
		count++;
	return count;
}
