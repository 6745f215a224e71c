/*
 * catch.h - the handler of SIGSEGV: reports accesses to guarded blocks that the program may not
 * make. Any other fault, and this one after the report, is the program's own (containers/action.h):
 * its handler is called, or it dies by the signal.
 */
#ifndef PFS_MALLOC_CATCH_H
#define PFS_MALLOC_CATCH_H

/* With the first malloc, and not with the first guarded block: a sandbox that the program enters in
 * between may know none of these calls. */
void pfs_catch_begin(void);

/* In a forked child. */
void pfs_catch_child(void);

#endif
