/*
 * refuse.h - ends pfs-check if it finds, while the program runs, that it cannot check it.
 */
#ifndef PFS_CHECK_REFUSE_H
#define PFS_CHECK_REFUSE_H

/* Its name in messages. */
void pfs_refuse_begin(const char *program);

/* One line: the program, who runs in it, what it does (a format), after which operation, and what
 * to do. Ends this process with the status for bad input. */
__attribute__((noreturn, format(printf, 2, 3))) void pfs_refuse_now(const char *advice,
								    const char *what, ...);

#endif
