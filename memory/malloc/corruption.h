/*
 * corruption.h - memory corruption that ends the program: one report on stderr, and in the box of a
 * library that keeps one. Nothing here allocates or takes a lock; a signal handler may call it.
 */
#ifndef PFS_MALLOC_CORRUPTION_H
#define PFS_MALLOC_CORRUPTION_H

#include "containers/compiler.h"
#include "guard.h"

/* The numbers are those of memory/box/layout.h. */
enum pfs_corruption_kind {
	PFS_CORRUPTION_NONE,
	PFS_CORRUPTION_OVERFLOW,
	PFS_CORRUPTION_UNDERFLOW,
	PFS_CORRUPTION_USE_AFTER_FREE,
	PFS_CORRUPTION_DOUBLE_FREE,
	PFS_CORRUPTION_INVALID_POINTER, /* given to free, realloc or another call */
	PFS_CORRUPTION_KINDS
};

enum pfs_corruption_access { PFS_ACCESS_ANY, PFS_ACCESS_READ, PFS_ACCESS_WRITE };

struct pfs_corruption {
	enum pfs_corruption_kind kind;
	enum pfs_corruption_access access;
	const char *call;  /* that got the pointer, or found the damage; NULL: it was an access */
	uintptr_t address; /* accessed, damaged, or given to the call */
	struct pfs_guard_found found; /* of a guarded block; block 0: it is not one */
	struct pfs_trace here;
};

/* pfs_corruption_accessed - a fault. False: it is none of a guarded block. code: the address of the
 * instruction. Where another thread reports, wait until it has. */
bool pfs_corruption_accessed(uintptr_t address, uintptr_t code, enum pfs_corruption_access access);

/* The call found that a byte beside a guarded block was written. */
PFS_COLD PFS_NORETURN void pfs_corruption_written(uintptr_t address, const char *call);

/* The program is ended by pfs_die: add what is known of the block, if it is memory corruption. */
PFS_COLD void pfs_corruption_misused(const char *call, const void *pointer, const char *what);

/* In a library with a box: record it there. Called again when more of the stack is known. */
extern void pfs_corruption_noted(const struct pfs_corruption *corruption)
	__attribute__((weak, visibility("hidden")));

#endif
