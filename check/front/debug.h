/*
 * debug.h - pfs-check --gdb: the same command in gdb, with the stacks of all threads.
 */
#ifndef PFS_CHECK_DEBUG_H
#define PFS_CHECK_DEBUG_H

/* Replace this process by gdb. Returns if there is none, with the exit status, after a line on
 * stderr. argv: of pfs-check; --gdb is removed. */
int pfs_check_debug(int argc, char **argv);

/* Does nothing: gdb has a breakpoint here, where threads wait for each other and all are parked. */
void pfs_check_stopped(void);

#endif
