/*
 * libc.h - functions of libc that allocate or copy for the checked program, and those whose state
 * in libc cannot be restored between executions: a call of these is refused.
 */
#ifndef PFS_CHECK_LIBC_H
#define PFS_CHECK_LIBC_H

#include <stddef.h>

#include "check/front/names.h"

/* As pfs_names of names.h: replaced, too. */
extern const struct pfs_name pfs_libc_names[];

/* malloc and free of the program, for a call that returns to `code`. */
void *pfs_names_take(size_t align, size_t size, const void *code);
void *pfs_names_retake(void *block, size_t size, const void *code);

#endif
