/*
 * sites.c - map a caller to an instrument: memory/<module>/heap, or by site
 * memory/<module>/+0x<offset in its file>.
 *
 * The caller is looked up by the loader's lock-free function: the thread may hold the loader's
 * locks (dlopen calls malloc), and others may wait for them.
 *
 * Ordering:  [PL3] module_count: store, release  <->  [PL4] module_count: load, acquire
 *            carries: the modules below the count
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "containers/alone.h"
#include "counter.h"

#define MODULES_MAX 512u
#define SITES_MAX 16384u /* a power of two */

/* From glibc 2.35 on. Without it all callers belong to one module. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

/* A loaded object, possibly unloaded since. Written before module_count includes it. */
struct module {
	const void *map;
	uintptr_t begin, end;
	pfs_memory_key key;
	char name[80];
	char path[176]; /* its end */
};

struct known_site {
	uintptr_t address;
	uint32_t module;
	pfs_memory_key key;
};

static struct module modules[MODULES_MAX] PFS_SELDOM;
static _Atomic(uint32_t) module_count;                   /* release */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* before the desk, not around the
							  * loader */
static struct known_site known[SITES_MAX] PFS_SELDOM;    /* lock */
static uint32_t known_count;                             /* lock */
static pfs_memory_key other_key;                         /* for callers without their own */

static pfs_memory_key register_name(const char *module, const char *what)
{
	char name[PFS_BOX_NAME_BYTES];
	(void)snprintf(name, sizeof(name), "memory/%s/%s", module, what);
	return pfs_memory_register(pfs_program.books, name);
}

/* ---- modules ---- */

/* The file name up to ".so": an instrument's name must not contain a slash. */
void pfs_site_module(char *name, size_t name_bytes, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash != NULL ? slash + 1 : path;
	const char *so = strstr(file, ".so");
	size_t length = so != NULL && so != file ? (size_t)(so - file) : strlen(file);
	if (length >= name_bytes)
		length = name_bytes - 1;
	memcpy(name, file, length);
	name[length] = '\0';
}

static const char *end_of(const char *path)
{
	size_t length = strlen(path), most = sizeof(modules[0].path) - 1;
	return length > most ? path + (length - most) : path;
}

static bool is_module(const struct module *module, const struct dl_find_object *found)
{
	return module->map == found->dlfo_link_map &&
	       module->begin == (uintptr_t)found->dlfo_map_start &&
	       module->end == (uintptr_t)found->dlfo_map_end &&
	       strcmp(module->path, end_of(found->dlfo_link_map->l_name)) == 0;
}

static const struct module *find_module(const struct dl_find_object *found)
{
	/* [PL4] acquire, pairs with [PL3]: the entries below it. */
	uint32_t count = pfs_load_acquire(&module_count);
	for (uint32_t i = 0; i < count; i++)
		if (is_module(&modules[i], found))
			return &modules[i];
	return NULL;
}

/* Under lock. */
static const struct module *add_module(const struct dl_find_object *found)
{
	uint32_t count = pfs_load_relaxed(&module_count); /* relaxed: under lock */
	if (count == MODULES_MAX)
		return NULL;
	struct module *module = &modules[count];
	const char *path = found->dlfo_link_map->l_name;
	module->map = found->dlfo_link_map;
	module->begin = (uintptr_t)found->dlfo_map_start;
	module->end = (uintptr_t)found->dlfo_map_end;
	(void)snprintf(module->path, sizeof(module->path), "%s", end_of(path));
	pfs_site_module(module->name, sizeof(module->name),
			path[0] != '\0' ? path : pfs_program.file);
	module->key = register_name(module->name, "heap");
	if (module->key == 0)
		module->key = other_key;
	pfs_store_release(&module_count, count + 1); /* [PL3] release, pairs with [PL4] */
	return module;
}

static const struct module *module_of(const void *caller, struct dl_find_object *found)
{
	if (_dl_find_object == NULL || _dl_find_object((void *)(uintptr_t)caller, found) != 0)
		return NULL;
	const struct module *module = find_module(found);
	if (module != NULL)
		return module;
	(void)pthread_mutex_lock(&lock);
	module = find_module(found);
	if (module == NULL)
		module = add_module(found);
	(void)pthread_mutex_unlock(&lock);
	return module;
}

/* ---- sites ---- */

/* Under lock: the site's entry, or the empty one for it. */
static struct known_site *place_of(uintptr_t address, uint32_t module)
{
	uint32_t at = (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 40) & (SITES_MAX - 1);
	while (known[at].address != 0 &&
	       (known[at].address != address || known[at].module != module))
		at = (at + 1) & (SITES_MAX - 1);
	return &known[at];
}

static pfs_memory_key site_key(const struct module *module, uintptr_t address,
			       const struct dl_find_object *found)
{
	uint32_t number = (uint32_t)(module - modules);
	pfs_memory_key key = module->key;
	(void)pthread_mutex_lock(&lock);
	struct known_site *site = place_of(address, number);
	if (site->address != 0) {
		key = site->key;
	} else if (known_count < SITES_MAX / 2) {
		char what[32];
		(void)snprintf(what, sizeof(what), "+0x%llx",
			       (unsigned long long)(address - found->dlfo_link_map->l_addr));
		pfs_memory_key own = register_name(module->name, what);
		key = own != 0 ? own : key;
		*site = (struct known_site){ address, number, key };
		known_count++;
	}
	(void)pthread_mutex_unlock(&lock);
	return key;
}

pfs_memory_key pfs_site_key(const void *caller)
{
	struct dl_find_object found;
	const struct module *module = module_of(caller, &found);
	if (module == NULL)
		return other_key;
	return pfs_program.by_site ? site_key(module, (uintptr_t)caller, &found) : module->key;
}

static bool was_alone; /* during a fork */

static void before_fork(void)
{
	if (pfs_is_alone()) {
		was_alone = true;
		return;
	}
	(void)pthread_mutex_lock(&lock);
	was_alone = false;
}

static void after_fork(void)
{
	if (!was_alone)
		(void)pthread_mutex_unlock(&lock);
}

/* "other" is for code without a file, and for callers that find no instrument of their own. */
void pfs_sites_start(void)
{
	other_key = register_name("other", "heap");
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}
