/*
 * listen.c - listening sockets: Unix sockets of one user, and TCP ports at numeric addresses.
 */
#define _GNU_SOURCE
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory/box/reader.h"

#define WAITING 64 /* connections not yet accepted */

bool pfs_is_of_this_machine(const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
	if (address->sa_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	return address->sa_family == AF_UNIX || IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

bool pfs_peer_is_fine(int socket, uint32_t *user)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
		return false;
	*user = (uint32_t)peer.uid;
	return peer.uid == 0 || peer.uid == geteuid();
}

static bool refuse_system(const struct pfs_listen *self, const char *address, int problem,
			  const char *advice, struct pfs_message *message)
{
	return pfs_refuse(message, "%s '%.150s': %s%s", self->option, address, strerror(problem),
			  problem == EADDRINUSE ? advice : "");
}

/* ---- Unix sockets ---- */

/* Another user who made the folder first could put a socket of its own there. */
static bool is_own_folder(const struct pfs_listen *self, const char *folder,
			  struct pfs_message *message)
{
	struct stat status;
	(void)mkdir(folder, 0700); /* where it fails, lstat says why */
	if (lstat(folder, &status) != 0)
		return pfs_refuse(message, "%s '%.150s': %s", self->option, folder,
				  strerror(errno));
	return (S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
		(status.st_mode & 077) == 0) ||
	       pfs_refuse(message,
			  "%s: '%.150s' must be a folder that only you can enter: chmod it to 700, "
			  "or give the path of a socket",
			  self->option, folder);
}

static bool take_path(const struct pfs_listen *self, struct sockaddr_un *to,
		      struct pfs_message *message)
{
	char path[PFS_READER_PATH_BYTES] = "";
	if (strcmp(self->address, PFS_LISTEN_SOCKET) == 0) {
		pfs_reader_folder(path, sizeof(path) - 16);
		if (!is_own_folder(self, path, message))
			return false;
		(void)strcat(strcat(path, "/"), self->usual);
	} else {
		(void)snprintf(path, sizeof(path), "%s", self->address);
	}
	if (strlen(path) >= sizeof(to->sun_path))
		return pfs_refuse(message,
				  "%s '%.150s': a socket's path may have %zu bytes: give a "
				  "shorter one",
				  self->option, path, sizeof(to->sun_path) - 1);
	to->sun_family = AF_UNIX;
	(void)snprintf(to->sun_path, sizeof(to->sun_path), "%s", path);
	return true;
}

/* Left by a server that was killed: a socket of this user's at which nobody listens. */
static bool is_left_over(const struct sockaddr_un *at)
{
	struct stat status;
	if (lstat(at->sun_path, &status) != 0 || !S_ISSOCK(status.st_mode) ||
	    status.st_uid != geteuid())
		return false;
	int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool is_left = probe >= 0 &&
		       connect(probe, (const struct sockaddr *)at, sizeof(*at)) != 0 &&
		       errno == ECONNREFUSED;
	if (probe >= 0)
		(void)close(probe);
	return is_left;
}

static bool listen_locally(const struct pfs_listen *self, struct pfs_listening *to,
			   struct pfs_message *message)
{
	struct sockaddr_un at = { 0 };
	if (!take_path(self, &at, message))
		return false;
	to->is_local = true;
	to->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (to->socket >= 0 && is_left_over(&at))
		(void)unlink(at.sun_path);
	mode_t before = umask(0177); /* mode 0600 from the first moment on */
	bool fine = to->socket >= 0 &&
		    bind(to->socket, (const struct sockaddr *)&at, sizeof(at)) == 0;
	int problem = errno;
	(void)umask(before);
	if (fine && listen(to->socket, WAITING) == 0) {
		memcpy(&to->bound, &at, sizeof(at));
		memcpy(to->path, at.sun_path, sizeof(to->path));
		(void)snprintf(to->where, sizeof(to->where), "%s", at.sun_path);
		return true;
	}
	problem = fine ? errno : problem;
	if (to->socket >= 0)
		(void)close(to->socket);
	to->socket = -1;
	return refuse_system(self, at.sun_path, problem,
			     ": a server listens there: end it, or give another path", message);
}

/* ---- TCP ports ---- */

/* HOST:PORT. Brackets around a HOST with colons are optional. */
static struct addrinfo *find(const char *text)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
					.ai_socktype = SOCK_STREAM };
	char host[128], port[16];
	struct addrinfo *found = NULL;
	const char *colon = strrchr(text, ':');
	size_t length = colon == NULL ? 0 : (size_t)(colon - text);
	bool has_brackets = length > 1 && text[0] == '[' && text[length - 1] == ']';
	(void)snprintf(host, sizeof(host), "%.*s", (int)length - 2 * has_brackets,
		       text + has_brackets);
	(void)snprintf(port, sizeof(port), "%s", colon == NULL ? "" : colon + 1);
	if (strspn(port, "0123456789") != strlen(port) || atoi(port) > 65535)
		return NULL; /* getaddrinfo takes it modulo 65536 */
	if (host[0] == '\0' || port[0] == '\0' || getaddrinfo(host, port, &hints, &found) != 0)
		return NULL;
	return found;
}

static int bind_to(const struct addrinfo *found, struct sockaddr_storage *bound)
{
	const int yes = 1;
	socklen_t bytes = sizeof(*bound);
	int listener = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0)
		return -1;
	(void)setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listener, found->ai_addr, found->ai_addrlen) == 0 &&
	    listen(listener, WAITING) == 0 &&
	    getsockname(listener, (struct sockaddr *)bound, &bytes) == 0)
		return listener;
	int problem = errno;
	(void)close(listener);
	errno = problem;
	return -1;
}

static void name_port(struct pfs_listening *self)
{
	char host[128], port[16];
	bool has_colons = self->bound.ss_family == AF_INET6;
	(void)getnameinfo((struct sockaddr *)&self->bound, sizeof(self->bound), host, sizeof(host),
			  port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	(void)snprintf(self->where, sizeof(self->where), "%s%s%s:%s", has_colons ? "[" : "", host,
		       has_colons ? "]" : "", port);
}

static bool listen_at_port(const struct pfs_listen *self, struct pfs_listening *to,
			   struct pfs_message *message)
{
	struct addrinfo *found = find(self->address);
	if (found == NULL)
		return pfs_refuse(message,
				  "%s '%.100s': give an address and a port, in numbers, such as "
				  "%s; the path of a socket, with a '/'; or 'socket'",
				  self->option, self->address, self->example);
	bool is_remote = !self->may_be_remote && !pfs_is_of_this_machine(found->ai_addr);
	to->socket = is_remote ? -1 : bind_to(found, &to->bound);
	int problem = errno;
	freeaddrinfo(found);
	if (is_remote)
		return pfs_refuse(message,
				  "%s '%.100s': other machines can reach this address, and what is "
				  "sent is not encrypted: add --allow-remote if this is wanted",
				  self->option, self->address);
	if (to->socket < 0)
		return refuse_system(self, self->address, problem,
				     ": give another port, or 0 for a free one", message);
	name_port(to);
	return true;
}

bool pfs_listen_at(const struct pfs_listen *self, struct pfs_listening *listening,
		   struct pfs_message *message)
{
	*listening = (struct pfs_listening){ .socket = -1 };
	if (strcmp(self->address, PFS_LISTEN_SOCKET) == 0 || strchr(self->address, '/') != NULL)
		return listen_locally(self, listening, message);
	return listen_at_port(self, listening, message);
}

void pfs_listen_end(struct pfs_listening *self)
{
	if (self->socket >= 0)
		(void)close(self->socket);
	if (self->path[0] != '\0')
		(void)unlink(self->path);
	self->socket = -1;
	self->path[0] = '\0';
}
