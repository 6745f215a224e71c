/*
 * message.h - the one line that a refused set-up call leaves.
 */
#ifndef PFS_MESSAGE_H
#define PFS_MESSAGE_H

#include <pfslab/status.h>

/* Writes the line if message is not NULL; returns status, so that callers return it at once. */
__attribute__((format(printf, 3, 4))) enum pfs_status
pfs_message_set(struct pfs_message *message, enum pfs_status status, const char *format, ...);

#endif
