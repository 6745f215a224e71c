/*
 * listen.c - a listening socket at a numeric address; a secret from a file.
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
#include <unistd.h>

#include "memory/box/reader.h"

#define WAITING 64 /* connections not yet accepted */

bool pfs_is_of_this_machine(const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
	const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
	if (address->sa_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

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

/* False: as message says. */
static bool listen_at(const struct pfs_listen *self, struct sockaddr_storage *bound, int *listener,
		      struct pfs_message *message)
{
	struct addrinfo *found = find(self->address);
	if (found == NULL)
		return pfs_refuse(message,
				  "%s '%.100s': give an address and a port, in numbers, such as %s",
				  self->option, self->address, self->example);
	bool is_open = !self->has_secret && !pfs_is_of_this_machine(found->ai_addr);
	*listener = is_open ? -1 : bind_to(found, bound);
	int problem = errno;
	freeaddrinfo(found);
	if (is_open)
		return pfs_refuse(message,
				  "%s '%.100s': an address that other machines can reach needs %s",
				  self->option, self->address, self->secret);
	return *listener >= 0 ||
	       pfs_refuse(message, "%s '%.100s': %s%s", self->option, self->address,
			  strerror(problem),
			  problem == EADDRINUSE ? ": name another port, or 0 for a free one" : "");
}

int pfs_listen_at(const struct pfs_listen *self, struct sockaddr_storage *bound,
		  struct pfs_message *message)
{
	int listener;
	return listen_at(self, bound, &listener, message) ? listener : -1;
}

bool pfs_read_secret(const char *option, const char *path, char *secret, size_t secret_bytes,
		     struct pfs_message *message)
{
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return pfs_refuse(message, "%s '%.150s': %s", option, path, strerror(errno));
	if (fgets(secret, (int)secret_bytes, file) == NULL)
		secret[0] = '\0';
	secret[strcspn(secret, "\r\n")] = '\0';
	(void)fclose(file);
	return secret[0] != '\0' ||
	       pfs_refuse(message, "%s '%.150s': its first line is empty: write the secret there",
			  option, path);
}
