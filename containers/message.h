/*
 * message.h - the one-line message of a refused set-up call.
 */
#ifndef PFS_MESSAGE_H
#define PFS_MESSAGE_H

#include <pfslab/status.h>

/* Write the line if message is not NULL; return status, so that callers can return it at once. */
__attribute__((format(printf, 3, 4))) enum pfs_status
pfs_message_set(struct pfs_message *message, enum pfs_status status, const char *format, ...);

#endif
