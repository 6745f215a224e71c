/*
 * listen.h - what the servers share: where they listen, who may connect, and secrets.
 *
 * A Unix socket has mode 0600, and its peers must be this user or root (SO_PEERCRED). A TCP port
 * has a secret: one that the user gives, or one drawn at the start.
 * docs/explanation/memory-threats.md has the threat model.
 */
#ifndef PFS_MEM_LISTEN_H
#define PFS_MEM_LISTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/socket.h>
#include <sys/un.h>

#include <pfslab/status.h>

#define PFS_LISTEN_SOCKET "socket" /* an address: the usual path in the folder of boxes */
#define PFS_SECRET_BYTES 256u

/* A listening socket, as the command line describes it. */
struct pfs_listen {
	const char *option;  /* "--mysql", for messages */
	const char *example; /* "127.0.0.1:3307" */
	const char *usual;   /* the file name of the usual socket, "mysql.sock" */
	const char *address; /* PATH with a '/', HOST:PORT in numbers (port 0: a free one), or
				PFS_LISTEN_SOCKET */
	bool may_be_remote;  /* other addresses than loopback */
};

struct pfs_listening {
	int socket;
	bool is_local;                 /* a Unix socket */
	struct sockaddr_storage bound; /* with its port */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char where[192]; /* for people: the path, or host:port with brackets where needed */
};

/* pfs_listen_at - a socket that listens. False: as message says. */
bool pfs_listen_at(const struct pfs_listen *self, struct pfs_listening *listening,
		   struct pfs_message *message);
/* Closes it and removes its path. */
void pfs_listen_end(struct pfs_listening *self);

/* Is the process at the other end of a Unix socket this user's, or root's? *user: whose it is. */
bool pfs_peer_is_fine(int socket, uint32_t *user);

/* ---- secrets ---- */

struct pfs_secret {
	char text[PFS_SECRET_BYTES]; /* empty: none is needed; 0 up to the end */
	bool is_drawn;               /* here, so the user has to be told */
};

/* How a secret is given: never as an argument, which every user can read in /proc. */
struct pfs_secret_source {
	const char *option;   /* "--token-file" */
	const char *file;     /* its first line; NULL: not given */
	const char *variable; /* of the environment, if there is no file */
	size_t length_min;
	const char *letters; /* NULL: all */
	const char *shape;   /* of letters and length, for messages */
};

/* pfs_secret_take - the secret of file or environment; else, if needed, a drawn one. False: as
 * message says. */
bool pfs_secret_take(const struct pfs_secret_source *from, bool is_needed, struct pfs_secret *self,
		     struct pfs_message *message);
/* The same? In a time that says nothing of where they differ. said NULL: no. */
bool pfs_secret_is(const struct pfs_secret *self, const char *said);

/* Is it a loopback address, which other machines cannot reach? */
bool pfs_is_of_this_machine(const struct sockaddr *address);

#endif
