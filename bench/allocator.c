/*
 * allocator.c - see allocator.h. Asked is the dynamic linker, in this very process: the
 * environment may name a library that could not be loaded, and the linker goes on without it.
 */
#define _GNU_SOURCE 1 /* dladdr */
#include "allocator.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *file_of(const char *symbol)
{
	void *address = dlsym(RTLD_DEFAULT, symbol);
	Dl_info info;

	if (address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL)
		return "";
	const char *base = strrchr(info.dli_fname, '/');
	return base != NULL ? base + 1 : info.dli_fname;
}

static const char *allocator_file(void)
{
	const char *file = file_of("malloc");

	return strcmp(file, file_of("free")) == 0 ? file : "";
}

void pfs_allocator_describe(char *text, size_t size)
{
	int (*mallctl)(const char *name, void *old, size_t *old_size, void *now, size_t now_size);
	int (*mi_version)(void);
	const char *version = NULL;
	size_t version_size = sizeof(version);
	const char *file = allocator_file();

	*(void **)&mallctl = dlsym(RTLD_DEFAULT, "mallctl");
	*(void **)&mi_version = dlsym(RTLD_DEFAULT, "mi_version");
	snprintf(text, size, "%s", file);
	if (strstr(file, "jemalloc") != NULL && mallctl != NULL &&
	    mallctl("version", &version, &version_size, NULL, 0) == 0)
		snprintf(text, size, "%s %s", file, version);
	else if (strstr(file, "mimalloc") != NULL && mi_version != NULL) /* 209 is 2.0.9 */
		snprintf(text, size, "%s %d.%d.%d", file, mi_version() / 100,
			 mi_version() / 10 % 10, mi_version() % 10);
}

enum pfs_status pfs_allocator_check(const char *peer, struct pfs_message *message)
{
	char wanted[48];
	const char *file = allocator_file();

	snprintf(wanted, sizeof(wanted), "lib%.40s.so", peer);
	if (strncmp(file, wanted, strlen(wanted)) == 0)
		return PFS_OK;
	snprintf(message->text, sizeof(message->text),
		 "--peer '%.40s': malloc comes from '%.40s'; install %.40s and start with "
		 "LD_PRELOAD=%.48s.N",
		 peer, file, peer, wanted);
	return PFS_BAD_CONFIG;
}
