/*
 * traits.h - what a variant can do, in words, as --list-traits and results say it.
 */
#ifndef PFS_BENCH_TRAITS_H
#define PFS_BENCH_TRAITS_H

#include <stdint.h>

#define PFS_TRAITS_CHARS 80

/* The words of all traits, with a blank between two of them. */
void pfs_traits_text(uint32_t traits, char text[PFS_TRAITS_CHARS]);

#endif
