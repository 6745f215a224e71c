/*
 * instruments.c - register instruments: names for what memory is used for.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "books.h"

struct pfs_named {
	uint32_t reference;
	char name[PFS_BOX_NAME_BYTES];
};

static int compare(const void *one, const void *other)
{
	const struct pfs_named *a = one, *b = other;
	return strcmp(a->name, b->name);
}

/* memory/<module>/<what>, both nonempty; <what> may contain slashes. */
static bool is_name(const char *name)
{
	static const char prefix[] = "memory/";
	if (name == NULL || strlen(name) >= PFS_BOX_NAME_BYTES ||
	    strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	const char *module = name + sizeof(prefix) - 1;
	const char *slash = strchr(module, '/');
	return slash != NULL && slash != module && slash[1] != '\0';
}

static bool write_record(struct pfs_books *self, struct pfs_named *named)
{
	struct pfs_claim claim = pfs_shelf_take(self, PFS_SHELF_INSTRUMENTS, PFS_LOST_INSTRUMENTS,
						&named->reference);
	if (claim.record == NULL)
		return false;
	struct pfs_box_instrument fresh;
	memset(&fresh, 0, sizeof(fresh));
	memcpy(fresh.name, named->name, sizeof(fresh.name));
	/* relaxed: no thread has its key yet. */
	pfs_store_relaxed(&self->control->enabled[named->reference - 1], 1);
	pfs_bytes_store(claim.record, &fresh, sizeof(fresh));
	pfs_shelf_publish(self, PFS_SHELF_INSTRUMENTS, claim);
	return true;
}

static uint32_t find_or_make(struct pfs_books *self, const struct pfs_named *key)
{
	struct pfs_named *const *found = tfind(key, &self->instruments, compare);
	if (found != NULL)
		return (*found)->reference;
	struct pfs_named *named = malloc(sizeof(*named));
	if (named == NULL)
		return 0;
	*named = *key;
	if (!write_record(self, named) || tsearch(named, &self->instruments, compare) == NULL) {
		free(named);
		return 0;
	}
	return named->reference;
}

pfs_memory_key pfs_memory_register(struct pfs_books *memory, const char *name)
{
	struct pfs_named key = { 0, "" };
	if (memory == NULL || !is_name(name) || pfs_books_are_shut(memory))
		return 0;
	strncpy(key.name, name, sizeof(key.name) - 1);
	pfs_desk_open(memory);
	uint32_t reference = find_or_make(memory, &key);
	pfs_desk_close(memory);
	return reference;
}

void pfs_memory_enable(struct pfs_books *memory, pfs_memory_key key, bool enabled)
{
	if (key == 0 || key > memory->instruments_max)
		return;
	/* relaxed: a switch; the announcement makes all owners look. */
	pfs_store_relaxed(&memory->control->enabled[key - 1], enabled ? 1 : 0);
	pfs_box_announce(memory->control);
}
