/*
 * lines.h - an ELF file, and from an address in it to functions and lines.
 */
#ifndef PFS_MEM_LINES_H
#define PFS_MEM_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_lines;

/* How a file, or a part of it, is mapped. */
struct pfs_mapped {
	uint64_t begin, end, file_offset;
};

/* pfs_lines_open - file is open, and is closed in any case. NULL: it is no ELF file. */
struct pfs_lines *pfs_lines_open(const char *path, int file);
void pfs_lines_close(struct pfs_lines *self);

bool pfs_lines_is_of(struct pfs_lines *self, const uint8_t *build_id, uint32_t bytes);

/* pfs_lines_code - where its code is mapped, of a file that is mapped as a whole: other tools
 * expect the part that can be executed. False: it is a part already. */
bool pfs_lines_code(struct pfs_lines *self, struct pfs_mapped *mapped);

/* pfs_lines_of - the functions that an address is in, the innermost first: mangled names; file
 * NULL: not known. take is called for none, where no name is known. */
void pfs_lines_of(struct pfs_lines *self, const struct pfs_mapped *mapped, uint64_t pc,
		  void (*take)(void *opaque, const char *function, const char *file, uint32_t line),
		  void *opaque);

#endif
