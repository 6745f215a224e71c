/*
 * tree.c - register owners, and set their limits.
 */
#include <stdlib.h>
#include <string.h>

#include "memory/accounts/books.h"
#include "owner.h"

static bool is_name(const char *name)
{
	return name != NULL && name[0] != '\0' && strlen(name) < PFS_BOX_OWNER_BYTES &&
	       strchr(name, '/') == NULL;
}

static struct pfs_owner *find(const struct pfs_books *books, const struct pfs_owner *parent,
			      const char *name)
{
	struct pfs_owner *owner = books->owners;
	while (owner != NULL && (owner->parent != parent || strcmp(owner->record->name, name) != 0))
		owner = owner->next;
	return owner;
}

static bool write_record(struct pfs_owner *owner, const char *name)
{
	struct pfs_books *books = owner->books;
	struct pfs_thread *handle = books->shelves[PFS_SHELF_OWNERS].handle;
	struct pfs_claim claim = pfs_allocate(handle);
	if (claim.record == NULL) {
		/* relaxed: a count */
		(void)pfs_fetch_add_relaxed(&books->box.head->owners_lost, 1);
		return false;
	}
	uint32_t number = (uint32_t)pfs_index(handle, claim.record);
	struct pfs_box_owner fresh;
	memset((void *)&fresh, 0, sizeof(fresh));
	pfs_store_relaxed(&fresh.limit, PFS_OWNER_NO_LIMIT); /* relaxed: not shared yet */
	fresh.parent = owner->parent != NULL ? owner->parent->reference : 0;
	strncpy(fresh.name, name, sizeof(fresh.name) - 1);
	pfs_bytes_store(claim.record, &fresh, sizeof(fresh));
	pfs_publish(handle, claim);
	owner->record = claim.record;
	owner->reference = number + 1;
	owner->outside = &books->control->owner_limits[number];
	return true;
}

/* Under the desk. */
static struct pfs_owner *make(struct pfs_books *books, struct pfs_owner *parent, const char *name)
{
	struct pfs_owner *owner = calloc(1, sizeof(*owner));
	if (owner == NULL)
		return NULL;
	owner->books = books;
	owner->parent = parent;
	owner->depth = parent != NULL ? parent->depth + 1 : 1;
	if (owner->depth > PFS_BOX_OWNER_DEPTH || !write_record(owner, name)) {
		free(owner);
		return NULL;
	}
	owner->next = books->owners;
	books->owners = owner;
	books->private_bytes += sizeof(*owner);
	return owner;
}

struct pfs_owner *pfs_owner_register(struct pfs_books *books, struct pfs_owner *parent,
				     const char *name)
{
	if (books == NULL || !is_name(name) || pfs_books_are_shut(books))
		return NULL;
	pfs_desk_open(books);
	struct pfs_owner *owner = find(books, parent, name);
	if (owner == NULL)
		owner = make(books, parent, name);
	pfs_desk_close(books);
	return owner;
}

void pfs_owner_limit(struct pfs_owner *owner, uint64_t limit_bytes, enum pfs_owner_action action)
{
	if (owner == NULL)
		return;
	/* relaxed, all: an add or a reader may see the old or the new value. */
	pfs_store_relaxed(&owner->record->action, action);     /* relaxed: as above */
	pfs_store_relaxed(&owner->record->limit, limit_bytes); /* relaxed: as above */
	pfs_store_relaxed(owner->outside, 0);                  /* relaxed: as above */
}

void pfs_owner_on_limit(struct pfs_owner *owner, pfs_owner_caller call, void *context)
{
	if (owner == NULL)
		return;
	owner->call = call;
	owner->context = context;
}

void pfs_owners_forget(struct pfs_books *self)
{
	while (self->owners != NULL) {
		struct pfs_owner *owner = self->owners;
		self->owners = owner->next;
		free(owner);
	}
}
