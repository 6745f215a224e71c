/*
 * assembly.h - does a program contain instructions that compilers do not generate with
 * -fsanitize=thread?
 */
#ifndef PFS_CHECK_ASSEMBLY_H
#define PFS_CHECK_ASSEMBLY_H

#include <stdint.h>

/* A source as compiled, by cc -S: look for statements of asm that access memory. */
void pfs_assembly_read(const char *path);

/* Warn (warn.h) if the program has locked instructions or fences; uses objdump of the binutils. The
 * file, and its load bias. */
void pfs_assembly_warn(const char *path, uintptr_t bias);

/* Instructions whose accesses of memory are not seen: how many are known, and the first. */
struct pfs_assembly {
	uint32_t count;
	int line;
	char file[512]; /* empty: no line is known */
};
const struct pfs_assembly *pfs_assembly_unseen(void);

#endif
