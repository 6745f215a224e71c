/*
 * serve.h - pfs-mem serve --mysql: who may connect, and a thread for each who does.
 */
#ifndef PFS_MEM_SERVE_H
#define PFS_MEM_SERVE_H

#include <signal.h>

#include "memory/box/reader.h"

/*
 * pfs_mysql_serve - serve a box until one of the signals ends, which the caller has blocked.
 *
 * address: HOST:PORT in numbers; port 0: a free one, as a line on stderr says. password_file: its
 * first line; NULL: anybody, which is for addresses of this machine alone.
 * Returns   false: it could not be, as message says.
 */
bool pfs_mysql_serve(const char *target, const char *address, const char *password_file,
		     const sigset_t *ends, struct pfs_message *message);

#endif
