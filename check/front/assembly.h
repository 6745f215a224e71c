/*
 * assembly.h - does a program contain instructions that compilers do not generate with
 * -fsanitize=thread?
 */
#ifndef PFS_CHECK_ASSEMBLY_H
#define PFS_CHECK_ASSEMBLY_H

#include <stdint.h>

/* A source as compiled, by cc -S: look for statements of asm that access memory. */
void pfs_assembly_read(const char *path);

/* Look at the program's instructions, with objdump of the binutils; warn (warn.h) if it has locked
 * ones or fences. The file, and its load bias. */
void pfs_assembly_look(const char *path, uintptr_t bias);

/* Instructions: how many are known, and the first. */
struct pfs_assembly {
	uint32_t count;
	int line;
	char file[512]; /* empty: no line is known */
};
/* Their accesses of memory are not seen. */
const struct pfs_assembly *pfs_assembly_unseen(void);
/* They read what no schedule decides: the processor's clock, or its random numbers. */
const struct pfs_assembly *pfs_assembly_drawn(void);

#endif
