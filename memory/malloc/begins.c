/*
 * begins.c - interposes the calls by which a program registers fork handlers or starts threads, so
 * that our fork handlers are registered first, just before. A program with one thread and no fork
 * handlers needs none and gets none: they would cost it two 64 KiB windows of glibc's pages that
 * hardly anything else in a small program touches, 128 KiB. It gets them once it has much free
 * memory (attach.c) or a guarded block.
 *
 * Threads that glibc starts itself (timers, asynchronous I/O) are noticed when they first allocate.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <threads.h>

#include "background.h"
#include "next.h"
#include "start.h"

#define PUBLIC __attribute__((visibility("default")))

const char pfs_start_sees_threads = 1;

typedef void handler(void);
typedef int register_call(handler *, handler *, handler *, void *);
register_call __register_atfork; /* NOLINT: glibc's name, which pthread_atfork calls */

/* The tables by which the loader finds a library's symbols. */
struct symbols {
	const ElfW(Sym) *all;
	const char *names;
	const uint32_t *hash; /* DT_GNU_HASH */
};

static struct symbols symbols_of(const struct link_map *library)
{
	struct symbols found = { 0 };
	for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++) {
		uintptr_t at = entry->d_un.d_ptr; /* relocated, unless the table is read-only */
		if (at < library->l_addr)
			at += library->l_addr;
		const void *table = (const void *)at; /* NOLINT: the loader's number */
		if (entry->d_tag == DT_SYMTAB)
			found.all = table;
		else if (entry->d_tag == DT_STRTAB)
			found.names = table;
		else if (entry->d_tag == DT_GNU_HASH)
			found.hash = table;
	}
	return found;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;
	for (; *name != '\0'; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/*
 * The C library's function of a name; NULL: not found. Not by dlsym, which frees the message that
 * dlerror would return, and may be running: the handlers may be registered inside any free, and
 * inside the malloc that makes the first guarded block.
 */
static void *find_in_libc(const char *name)
{
	struct dl_find_object libc;
	if (_dl_find_object((void *)(uintptr_t)gnu_get_libc_version, &libc) != 0) /* NOLINT: code */
		return NULL;
	struct symbols symbols = symbols_of(libc.dlfo_link_map);
	if (symbols.all == NULL || symbols.names == NULL || symbols.hash == NULL)
		return NULL;
	uint32_t bucket_count = symbols.hash[0], first = symbols.hash[1];
	const uint32_t *buckets = symbols.hash + 4 + symbols.hash[2] * (sizeof(ElfW(Addr)) / 4);
	uint32_t hash = hash_of(name), at = buckets[hash % bucket_count];
	if (at < first)
		return NULL;
	for (const uint32_t *link = buckets + bucket_count + (at - first);; link++, at++) {
		const ElfW(Sym) *symbol = &symbols.all[at];
		if ((*link | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    strcmp(symbols.names + symbol->st_name, name) == 0)
			return (void *)(libc.dlfo_link_map->l_addr + symbol->st_value); /* NOLINT */
		if ((*link & 1) != 0)
			return NULL;
	}
}

PUBLIC int __register_atfork(handler *prepare, handler *parent, handler *child, void *library)
{
	static _Atomic(void *) known;
	if (prepare != pfs_start_prepare)
		pfs_start_handlers();
	register_call *next = (register_call *)find_in_libc("__register_atfork");
	if (next == NULL)
		next = (register_call *)pfs_next("__register_atfork", &known);
	return next != NULL ? next(prepare, parent, child, library) : ENOMEM;
}

int pfs_background_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*body)(void *), void *context)
{
	typedef int call(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	static _Atomic(void *) known;
	pfs_start_handlers();
	call *next = (call *)pfs_next("pthread_create", &known);
	return next != NULL ? next(thread, attributes, body, context) : EAGAIN;
}

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*body)(void *), void *context)
{
	return pfs_background_create(thread, attributes, body, context);
}

PUBLIC int thrd_create(thrd_t *thread, thrd_start_t body, void *context)
{
	typedef int call(thrd_t *, thrd_start_t, void *);
	static _Atomic(void *) known;
	pfs_start_handlers();
	call *next = (call *)pfs_next("thrd_create", &known);
	return next != NULL ? next(thread, body, context) : thrd_error;
}
