/*
 * assembly.h - does a program have instructions that compilers do not make with
 * -fsanitize=thread?
 */
#ifndef PFS_CHECK_ASSEMBLY_H
#define PFS_CHECK_ASSEMBLY_H

#include <stdint.h>

/* One line on stderr if it has, by the binutils' objdump. The file, and how far it was moved. */
void pfs_assembly_warn(const char *path, uintptr_t bias);

#endif
