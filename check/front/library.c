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
#include "check/front/places.h"
#include "check/machine/grow.h"
#include "check/machine/snapshot.h"

/* Of the dynamic linker: the address of a thread-local variable, by module and offset. */
extern void *__tls_get_addr(size_t *index);

#define SEGMENTS_MAX 16u
#define TLS_MAX 4u

#ifdef __x86_64__
#define RELOCATION_JUMP R_X86_64_JUMP_SLOT
#define RELOCATION_DATA R_X86_64_GLOB_DAT
#define RELOCATION_WORD R_X86_64_64
#else
#define RELOCATION_JUMP R_AARCH64_JUMP_SLOT
#define RELOCATION_DATA R_AARCH64_GLOB_DAT
#define RELOCATION_WORD R_AARCH64_ABS64
#endif

struct segment {
	char *first;
	size_t bytes;
	void *kept;
};

/* Thread-local variables of one object. */
struct local {
	char *first;
	size_t bytes;
	char *initial; /* of a new thread */
	char *outside; /* as constructors left them */
	char **copies; /* [threads + 1]; the last: outside */
	uint32_t room;
};

static struct {
	struct pfs_elf_file file;
	void *handle; /* of dlopen */
	struct link_map *map;
	struct segment segments[SEGMENTS_MAX];
	uint32_t segment_count;
	struct local locals[TLS_MAX];
	uint32_t local_count;
	const struct pfs_name *names; /* that are replaced */
	bool has_too_many;            /* segments or locals */
	uint32_t threads, current;    /* of the locals: thread, or threads: outside */
} library;

static void *must(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

/* ---- replacing functions ---- */

static void *replacement_of(const char *name)
{
	for (const struct pfs_name *at = library.names; at->name != NULL; at++) {
		if (strcmp(at->name, name) == 0)
			return at->function;
	}
	return NULL;
}

static void replace(const struct link_map *map, const ElfW(Rela) * first, size_t bytes,
		    const ElfW(Sym) * symbols, const char *strings)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < bytes / sizeof(*first); i++) {
		uint64_t type = ELF64_R_TYPE(first[i].r_info);
		const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(first[i].r_info)];
		if ((type != RELOCATION_JUMP && type != RELOCATION_DATA && type != RELOCATION_WORD))
			continue;
		void *function = replacement_of(strings + symbol->st_name);
		if (function == NULL)
			continue;
		void **slot = (void **)(map->l_addr + first[i].r_offset);
		uintptr_t start = (uintptr_t)slot / page * page;
		/* It may be in what is read-only after relocation; it stays writable. */
		(void)mprotect((void *)start, page, PROT_READ | PROT_WRITE);
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

static void add_segment(struct dl_phdr_info *info, const ElfW(Phdr) * load,
			const ElfW(Phdr) * relro)
{
	uintptr_t first = info->dlpi_addr + load->p_vaddr, end = first + load->p_memsz;
	if (relro != NULL && relro->p_vaddr <= load->p_vaddr &&
	    relro->p_vaddr + relro->p_memsz > load->p_vaddr)
		first = info->dlpi_addr + relro->p_vaddr + relro->p_memsz;
	if (first >= end)
		return;
	if (library.segment_count == SEGMENTS_MAX) {
		library.has_too_many = true;
		return;
	}
	library.segments[library.segment_count++] = (struct segment){ (char *)first, end - first,
								      NULL };
}

static void add_local(struct dl_phdr_info *info, const ElfW(Phdr) * tls)
{
	/* They do not exist before they are first accessed. */
	size_t index[2] = { info->dlpi_tls_modid, 0 };
	if (tls->p_memsz == 0)
		return;
	if (library.local_count == TLS_MAX) {
		library.has_too_many = true;
		return;
	}
	struct local *self = &library.locals[library.local_count++];
	*self = (struct local){ .first = __tls_get_addr(index), .bytes = tls->p_memsz };
	self->initial = must(calloc(1, tls->p_memsz));
	memcpy(self->initial, (const char *)(info->dlpi_addr + tls->p_vaddr), tls->p_filesz);
}

static bool is_cxx_runtime(const char *path)
{
	return strstr(path, "libstdc++.so") != NULL || strstr(path, "libc++.so") != NULL;
}

/* The program itself, and the run-time of C++, which calls pthread for it. */
static int look_at(struct dl_phdr_info *info, size_t bytes, void *opaque)
{
	const ElfW(Phdr) *relro = NULL, *tls = NULL;
	bool own = info->dlpi_addr == library.map->l_addr;
	(void)bytes, (void)opaque;
	if (!own && !is_cxx_runtime(info->dlpi_name))
		return 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
			relro = &info->dlpi_phdr[i];
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			tls = &info->dlpi_phdr[i];
	}
	if (tls != NULL)
		add_local(info, tls);
	for (size_t i = 0; own && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0)
			add_segment(info, part, relro);
	}
	return 0;
}

const char *pfs_library_open(const char *path, const struct pfs_name *names)
{
	static char full[4096];
	const char *error = NULL;
	library.names = names;
	if (realpath(path, full) == NULL)
		return strerror(errno);
	error = pfs_elf_read(&library.file, full);
	if (error == NULL)
		error = pfs_elf_refusal(&library.file, names);
	if (error != NULL)
		return error;
	/* libstdc++ counts references without atomics in a process of one thread. */
	__libc_single_threaded = 0;
	/* Constructors run in here, and call libc's functions: they precede all threads. */
	void *handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL)
		return pfs_elf_unloaded(dlerror());
	if (dlinfo(handle, RTLD_DI_LINKMAP, &library.map) != 0)
		return dlerror();
	pfs_places_begin(full, library.map->l_addr);
	library.handle = handle;
	pfs_elf_demangle(&library.file,
			 (pfs_elf_demangler *)(uintptr_t)pfs_library_symbol("__cxa_demangle"));
	pfs_assembly_warn(full, library.map->l_addr);
	for (const struct link_map *at = library.map; at != NULL; at = at->l_next) {
		if (at == library.map || is_cxx_runtime(at->l_name))
			replace_all(at);
	}
	(void)dl_iterate_phdr(look_at, NULL);
	return library.has_too_many ? "it has more writable segments, or thread-local ones, than "
				      "pfs-check supports"
				    : NULL;
}

void *pfs_library_symbol(const char *name)
{
	return dlsym(library.handle, name);
}

bool pfs_library_calls(const char *beginning)
{
	return pfs_elf_calls(&library.file, beginning);
}

bool pfs_library_has_lines(void)
{
	return pfs_elf_has_lines(&library.file);
}

/* ---- between executions ---- */

void pfs_library_keep(void)
{
	for (uint32_t i = 0; i < library.segment_count; i++) {
		struct segment *segment = &library.segments[i];
		segment->kept = memcpy(must(malloc(segment->bytes)), segment->first,
				       segment->bytes);
	}
	for (uint32_t i = 0; i < library.local_count; i++) {
		struct local *local = &library.locals[i];
		local->outside = memcpy(must(malloc(local->bytes)), local->first, local->bytes);
	}
}

void pfs_library_restore(uint32_t threads)
{
	for (uint32_t i = 0; i < library.segment_count; i++)
		memcpy(library.segments[i].first, library.segments[i].kept,
		       library.segments[i].bytes);
	for (uint32_t i = 0; i < library.local_count; i++) {
		struct local *local = &library.locals[i];
		while (local->room < threads + 1) {
			local->copies =
				must(realloc(local->copies, (local->room + 1) * sizeof(char *)));
			local->copies[local->room++] = must(malloc(local->bytes));
		}
		for (uint32_t thread = 0; thread < threads; thread++)
			memcpy(local->copies[thread], local->initial, local->bytes);
		memcpy(local->first, local->outside, local->bytes);
	}
	library.threads = library.current = threads;
}

void pfs_library_put(struct pfs_machine_snapshot *snapshot)
{
	for (uint32_t i = 0; i < library.segment_count; i++)
		pfs_snapshot_put(snapshot, library.segments[i].first, library.segments[i].bytes);
	for (uint32_t i = 0; i < library.local_count; i++) {
		const struct local *local = &library.locals[i];
		pfs_snapshot_put(snapshot, local->first, local->bytes);
		for (uint32_t thread = 0; thread <= library.threads; thread++)
			pfs_snapshot_put(snapshot, local->copies[thread], local->bytes);
	}
	pfs_snapshot_put(snapshot, &library.current, sizeof(library.current));
}

void pfs_library_switch(uint32_t thread)
{
	uint32_t next = thread < library.threads ? thread : library.threads;
	if (next == library.current)
		return;
	for (uint32_t i = 0; i < library.local_count; i++) {
		struct local *local = &library.locals[i];
		memcpy(local->copies[library.current], local->first, local->bytes);
		memcpy(local->first, local->copies[next], local->bytes);
	}
	library.current = next;
}

bool pfs_library_is_thread_local(const void *address)
{
	for (uint32_t i = 0; i < library.local_count; i++) {
		if ((uintptr_t)address - (uintptr_t)library.locals[i].first <
		    library.locals[i].bytes)
			return true;
	}
	return false;
}

bool pfs_library_name(const void *address, char *name, size_t name_bytes)
{
	return pfs_elf_name(&library.file, (uintptr_t)address - library.map->l_addr, name,
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
	for (uint32_t i = 0; i < library.local_count; i++)
		roots[count++] = (struct pfs_check_root){ library.locals[i].first,
							  library.locals[i].bytes };
	return count;
}
