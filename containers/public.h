/*
 * public.h - which functions a shared library shows: those that the public headers declare.
 *
 * The build puts this before every source of libpfslab and libpfsaccounts (cmake/visible.cmake),
 * and makes all the rest hidden. So the headers need no marks, and what they declare cannot be
 * forgotten here.
 * malloc.h, jemalloc.h and memory_walk.h are of the libraries that are preloaded, check.h is of the
 * program pfs-check.
 */
#ifndef PFS_PUBLIC_H
#define PFS_PUBLIC_H

#pragma GCC visibility push(default)
#include <pfslab/calls.h>
#include <pfslab/config.h>
#include <pfslab/container.h>
#include <pfslab/memory.h>
#include <pfslab/memory_trace.h>
#include <pfslab/partitioned.h>
#include <pfslab/status.h>
#include <pfslab/trace.h>
#include <pfslab/variant.h>
#pragma GCC visibility pop

#endif
