/*
 * traits.h - the traits of a variant in words, as --list-traits and results show them.
 */
#ifndef PFS_BENCH_TRAITS_H
#define PFS_BENCH_TRAITS_H

#include <stdint.h>

#define PFS_TRAITS_CHARS 80

/* The words of all traits, separated by blanks. */
void pfs_traits_text(uint32_t traits, char text[PFS_TRAITS_CHARS]);

#endif
