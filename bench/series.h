/*
 * series.h - samples over time, written as one JSON list when the program ends.
 */
#ifndef PFS_BENCH_SERIES_H
#define PFS_BENCH_SERIES_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_series_sample {
	double t_ms;   /* since the window began */
	uint64_t live; /* records */
	uint64_t pages;
	uint64_t ideal; /* pages that live records need, packed */
	uint64_t resident_bytes;
};

struct pfs_series;

/* Open path for writing; NULL if that is impossible. */
struct pfs_series *pfs_series_open(const char *path);
/* A benchmark begins a run: samples that follow belong to it. */
void pfs_series_begin(struct pfs_series *self, const char *benchmark);
void pfs_series_add(struct pfs_series *self, const struct pfs_series_sample *sample);
/* False if something could not be written. NULL is allowed. */
bool pfs_series_close(struct pfs_series *self);
/* As if it was never opened. */
void pfs_series_drop(struct pfs_series *self);

#endif
