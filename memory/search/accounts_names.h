/*
 * accounts_names.h - included first by the sources of the accounts when compiled for the machine.
 * Containers are accounts_shelves.c, which only has a lock word for each record. No memory is
 * reused in an execution, because the order that a real malloc adds there is not the accounts' own.
 */
#ifndef PFS_SIM_ACCOUNTS_NAMES_H
#define PFS_SIM_ACCOUNTS_NAMES_H

#include <stdlib.h>

#include <pfslab/container.h>

struct pfs_books;
struct pfs_cell;

extern __typeof(calloc) calloc __asm__("pfs_accounts_calloc");
extern __typeof(free) free __asm__("pfs_accounts_release");
extern __typeof(pfs_allocate) pfs_allocate __asm__("pfs_accounts_allocate");
extern __typeof(pfs_publish) pfs_publish __asm__("pfs_accounts_publish");
extern __typeof(pfs_free) pfs_free __asm__("pfs_accounts_free");
extern __typeof(pfs_index) pfs_index __asm__("pfs_accounts_index");
extern __typeof(pfs_bytes_store) pfs_bytes_store __asm__("pfs_accounts_bytes_store");
extern __typeof(pfs_walk_begin) pfs_walk_begin __asm__("pfs_accounts_walk_begin");
extern __typeof(pfs_walk_next) pfs_walk_next __asm__("pfs_accounts_walk_next");
extern __typeof(pfs_walk_end) pfs_walk_end __asm__("pfs_accounts_walk_end");

#endif
