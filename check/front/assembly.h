/*
 * assembly.h - does a program contain instructions that compilers do not generate with
 * -fsanitize=thread?
 */
#ifndef PFS_CHECK_ASSEMBLY_H
#define PFS_CHECK_ASSEMBLY_H

#include <stdint.h>

/* Warn (warn.h) if it does; uses objdump of the binutils. The file, and its load
 * bias. */
void pfs_assembly_warn(const char *path, uintptr_t bias);

#endif
