/*
 * door.c - checks the Host header.
 *
 * Against DNS rebinding: a page of another site may rebind the site's name to 127.0.0.1 and let a
 * browser ask this server. The browser sends that name as Host, and is refused here.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "http.h"
#include "memory/tool/listen.h"

struct pfs_http_server pfs_http;

/* The host of "host:port", "[host]:port" or "host". False: none of these. */
static bool split(const char *host, char *name, size_t name_bytes)
{
	bool has_brackets = host[0] == '[';
	size_t length = strcspn(host + has_brackets, has_brackets ? "]" : ":");
	const char *rest = host + has_brackets + length;
	if (has_brackets && *rest++ != ']')
		return false;
	if (*rest == ':')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (*rest != '\0' || length == 0 || length >= name_bytes)
		return false;
	memcpy(name, host + has_brackets, length);
	name[length] = '\0';
	return true;
}

/* The family of a numeric address; AF_UNSPEC: not numeric. */
static struct sockaddr_storage address_of(const char *name)
{
	struct sockaddr_storage storage = { .ss_family = AF_UNSPEC };
	struct sockaddr_in *four = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&storage;
	if (inet_pton(AF_INET, name, &four->sin_addr) == 1)
		four->sin_family = AF_INET;
	else if (inet_pton(AF_INET6, name, &six->sin6_addr) == 1)
		six->sin6_family = AF_INET6;
	return storage;
}

static const void *bytes_of(const struct sockaddr_storage *storage, size_t *bytes)
{
	bool is_four = storage->ss_family == AF_INET;
	*bytes = is_four ? sizeof(struct in_addr) : sizeof(struct in6_addr);
	return is_four ? (const void *)&((const struct sockaddr_in *)storage)->sin_addr
		       : (const void *)&((const struct sockaddr_in6 *)storage)->sin6_addr;
}

/* Listening at all addresses: 0.0.0.0, or ::. */
static bool is_any(const struct sockaddr_storage *storage)
{
	static const char zeroes[sizeof(struct in6_addr)];
	size_t bytes;
	const void *address = bytes_of(storage, &bytes);
	return memcmp(address, zeroes, bytes) == 0;
}

bool pfs_http_host_fine(const char *host)
{
	char name[256], own[256];
	size_t bytes, bound_bytes;
	if (pfs_http.bound.ss_family == AF_UNIX)
		return true; /* no page of another site reaches it */
	if (host == NULL || !split(host, name, sizeof(name)))
		return false;
	if (strcasecmp(name, "localhost") == 0)
		return true;
	struct sockaddr_storage said = address_of(name);
	/* A numeric address cannot be rebound. */
	if (said.ss_family != AF_UNSPEC &&
	    (is_any(&pfs_http.bound) || pfs_is_of_this_machine((struct sockaddr *)&said)))
		return true;
	if (said.ss_family == AF_UNSPEC)
		return gethostname(own, sizeof(own)) == 0 && strcasecmp(name, own) == 0;
	const void *one = bytes_of(&said, &bytes);
	const void *other = bytes_of(&pfs_http.bound, &bound_bytes);
	return bytes == bound_bytes && memcmp(one, other, bytes) == 0;
}
