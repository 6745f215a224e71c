/*
 * public.h - which functions a shared library exports: those that the public headers declare.
 *
 * The build includes this before every source of libpfslab and libpfsaccounts
 * (cmake/visible.cmake) and hides everything else. So the headers need no marks, and no declared
 * function can be forgotten here. malloc.h, jemalloc.h and memory_walk.h belong to the preloaded
 * libraries, check.h and check_copies.h to the program pfs-check.
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
