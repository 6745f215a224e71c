/*
 * listen.h - what the servers share: the listening socket, and the secret for it.
 */
#ifndef PFS_MEM_LISTEN_H
#define PFS_MEM_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/socket.h>

#include <pfslab/status.h>

/* A listening socket, as the command line describes it. */
struct pfs_listen {
	const char *option;  /* "--mysql", for messages */
	const char *example; /* "127.0.0.1:3307" */
	const char *address; /* HOST:PORT in numbers; port 0: a free one */
	const char *secret;  /* "--password-file": other machines need it */
	bool has_secret;
};

/* pfs_listen_at - a socket that listens; bound: where, with its port. -1: as message says. */
int pfs_listen_at(const struct pfs_listen *self, struct sockaddr_storage *bound,
		  struct pfs_message *message);

/* pfs_read_secret - the first line of a file. False: there is none, as message says. */
bool pfs_read_secret(const char *option, const char *path, char *secret, size_t secret_bytes,
		     struct pfs_message *message);

/* Is it a loopback address, which other machines cannot reach? */
bool pfs_is_of_this_machine(const struct sockaddr *address);

#endif
