/*
 * traits.h - the traits of a variant in words, as --list-traits and results show them, and those of
 * the workloads.
 */
#ifndef PFS_BENCH_TRAITS_H
#define PFS_BENCH_TRAITS_H

#include <stdint.h>

#define PFS_TRAITS_CHARS 80

/* The words of all traits, separated by blanks. */
void pfs_traits_text(uint32_t traits, char text[PFS_TRAITS_CHARS]);

/* A line for each workload: its name and what tests must know of it, such as "latency", "threads:2"
 * (a multiple of 2), "needs:grow" (a trait of the policy) and "counter:torn". */
void pfs_workload_traits_print(void);

#endif
