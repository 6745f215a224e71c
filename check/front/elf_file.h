/*
 * elf_file.h - what the file of a shared object says: what it is linked with, which calls of it are
 * not modelled, and the names of its variables.
 */
#ifndef PFS_CHECK_ELF_FILE_H
#define PFS_CHECK_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pfs_elf_object {
	const char *name;  /* in texts: short, and of no other object */
	const char *whole; /* in full */
	bool was_named;    /* by pfs_elf_name, with the short name */
	uint64_t first, bytes;
};

struct pfs_elf_objects {
	struct pfs_elf_object *at; /* by address */
	size_t count;
};

struct pfs_elf_file {
	const char *path;
	const unsigned char *bytes;
	size_t size;
	struct pfs_elf_objects variables, locals; /* thread-local ones by their offsets */
};

/* Of other objects: functions and variables that it defines, or wants. */
struct pfs_elf_symbols {
	const Elf64_Sym *first;
	size_t count;
	const char *strings;
};
void pfs_elf_symbols(const struct pfs_elf_file *self, struct pfs_elf_symbols *symbols);

/* NULL, or why not. */
const char *pfs_elf_read(struct pfs_elf_file *self, const char *path);

/* Was it compiled with -g? */
bool pfs_elf_has_lines(const struct pfs_elf_file *self);

/* The same of an executable. */
bool pfs_elf_program_has_lines(const char *path);

/* dlerror's text, with how to fix it. */
const char *pfs_elf_unloaded(const char *error);

/* Why it cannot be checked, although these names are replaced; or NULL. */
struct pfs_name;
const char *pfs_elf_refusal(const struct pfs_elf_file *self, const struct pfs_name *names);

/* The names of C++ as its source has them; as __cxa_demangle. */
typedef char *pfs_elf_demangler(const char *name, char *buffer, size_t *bytes, int *status);
void pfs_elf_demangle(struct pfs_elf_file *self, pfs_elf_demangler *demangler);

/* Does it call a function whose name begins so, or is so? */
bool pfs_elf_calls(const struct pfs_elf_file *self, const char *beginning, bool is_whole);

/* No name was used. */
void pfs_elf_forget_names(struct pfs_elf_file *self);

/* Visit the names of pfs_elf_name that are not in full. */
void pfs_elf_short_names(const struct pfs_elf_file *self,
			 void (*visit)(void *context, const char *name, const char *whole),
			 void *context);

/* "ring+8", for an address as linked; false: no variable. */
bool pfs_elf_name(const struct pfs_elf_file *self, uint64_t address, char *name, size_t name_bytes);
/* For a thread-local variable's offset. */
bool pfs_elf_local_name(const struct pfs_elf_file *self, uint64_t offset, char *name,
			size_t name_bytes);

#endif
