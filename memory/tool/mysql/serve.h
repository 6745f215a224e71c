/*
 * serve.h - pfs-mem serve --mysql: who may connect, and a process for each who does.
 */
#ifndef PFS_MEM_SERVE_H
#define PFS_MEM_SERVE_H

#include <signal.h>

#include "memory/box/reader.h"
#include "memory/tool/listen.h"

struct pfs_mysql_options {
	const char *path; /* of the box; NULL: the newest one, which each connection looks up */
	struct pfs_listening *listening;
	const struct pfs_secret *password; /* empty: anybody who can connect */
	bool may_change;
	unsigned idle_s; /* a connection without a command ends after so long */
};

/*
 * pfs_mysql_serve - serve a box until one of the signals ends, which the caller has blocked.
 *
 * It forks, so the process has no other thread.
 * Returns   false: it could not be, as message says.
 */
bool pfs_mysql_serve(const struct pfs_mysql_options *options, const sigset_t *ends,
		     struct pfs_message *message);

#endif
