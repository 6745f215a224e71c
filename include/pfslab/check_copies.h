/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_copies.h - for programs that pfs-check is to check: copies and fills stay calls.
 *
 * gcc expands a memset of a fixed size, and copies in C++'s headers, into instructions of which
 * -fsanitize=thread reports nothing. pfs-check sees calls. `pfs-check ring.c` and pfs_check_add
 * include this header before all others. By hand:
 *
 *	cc -include pfslab/check_copies.h -fno-builtin-memcpy -fno-builtin-memmove \
 *		-fno-builtin-memset -U_FORTIFY_SOURCE -g -O1 -fsanitize=thread -fPIC -c ring.c
 *
 * and with gcc -fno-ipa-reference-addressable, which keeps writes of static variables.
 */
#ifndef PFSLAB_CHECK_COPIES_H
#define PFSLAB_CHECK_COPIES_H

#pragma GCC system_header /* redefines names of the compiler */

#ifdef __cplusplus
extern "C" {
#endif

void *pfs_check_memcpy(void *to, const void *from, __SIZE_TYPE__ size) __asm__("memcpy");
void *pfs_check_memmove(void *to, const void *from, __SIZE_TYPE__ size) __asm__("memmove");
void *pfs_check_memset(void *to, int value, __SIZE_TYPE__ size) __asm__("memset");

#ifdef __cplusplus
}
#endif

#define __builtin_memcpy pfs_check_memcpy
#define __builtin_memmove pfs_check_memmove
#define __builtin_memset pfs_check_memset

#endif
