/*
 * warn.h - warnings on stderr, which the JSON result contains, too.
 */
#ifndef PFS_CHECK_WARN_H
#define PFS_CHECK_WARN_H

#include <stdint.h>

/* "pfs-check: ...". */
__attribute__((format(printf, 1, 2))) void pfs_warn(const char *format, ...);

/* The lines so far, without the program's name; NULL: there are not so many. */
const char *pfs_warning(uint32_t at);

#endif
