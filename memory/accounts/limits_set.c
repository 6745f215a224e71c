/*
 * limits_set.c - set limits, by calls of memory.h or by text. limits.c enforces them.
 */
#include <string.h>

#include "books.h"
#include "containers/message.h"
#include "memory/box/limit_text.h"

#define FIXED 4u /* limits that always exist */
_Static_assert(PFS_MEMORY_PROGRAM == (int)PFS_SCOPE_PROGRAM &&
		       PFS_MEMORY_USER == (int)PFS_SCOPE_USER && PFS_SCOPE_EACH_USER == FIXED,
	       "scopes");

/* Creates limit `number`; the limits before it exist. It is not set yet. */
static void make(struct pfs_books *self, uint32_t number, const struct pfs_limit_text *like)
{
	struct pfs_box_limit *limit = &self->limits[number];
	pfs_store_relaxed(&limit->bytes, PFS_BOX_NO_LIMIT); /* relaxed: no limit yet */
	limit->has_user = like->has_user;
	limit->has_host = like->has_host;
	memcpy(limit->user_name, like->user, sizeof(limit->user_name));
	memcpy(limit->host_name, like->host, sizeof(limit->host_name));
	/* relaxed: for the program's threads the lock brings the names; a reader may show them
	 * empty. */
	pfs_store_relaxed(&limit->scope, like->scope);
}

bool pfs_limits_open(struct pfs_books *self)
{
	struct pfs_box_region *region = pfs_box_region_of(&self->box, PFS_BOX_LIMITS);
	/* All of it: a fork reads it, and a hole on a full file system raises SIGBUS. */
	if (!pfs_box_populate(&self->box, region->offset, region->bytes))
		return false;
	/* NOLINTNEXTLINE: a region of the box */
	self->limits = (struct pfs_box_limit *)(void *)(self->box.base + region->offset);
	for (uint32_t i = 0; i < FIXED; i++) {
		struct pfs_limit_text each = { .scope = PFS_SCOPE_PROGRAM + i };
		make(self, i, &each);
	}
	return true;
}

void pfs_limits_child(struct pfs_books *self)
{
	self->global->room.pending = 0;
	for (uint32_t kind = 0; kind < PFS_PARTY_KINDS; kind++)
		for (struct pfs_party *at = self->lists[kind]; at != NULL; at = at->next)
			at->room.pending = 0;
}

static bool is_same(const struct pfs_box_limit *limit, const struct pfs_limit_text *like)
{
	return pfs_load_relaxed(&limit->scope) == (uint32_t)like->scope && /* relaxed: locked */
	       limit->has_user == like->has_user && limit->has_host == like->has_host &&
	       strcmp(limit->user_name, like->user) == 0 &&
	       strcmp(limit->host_name, like->host) == 0;
}

/* The limit's number; created if missing. PFS_BOX_LIMITS_MAX: no room. Under the lock. */
static uint32_t find_or_make(struct pfs_books *self, const struct pfs_limit_text *like)
{
	uint32_t i = 0;
	/* relaxed: written under the lock. */
	while (i < PFS_BOX_LIMITS_MAX && pfs_load_relaxed(&self->limits[i].scope) != 0 &&
	       !is_same(&self->limits[i], like))
		i++;
	if (i < PFS_BOX_LIMITS_MAX &&
	    pfs_load_relaxed(&self->limits[i].scope) == 0) /* relaxed: as above */
		make(self, i, like);
	return i;
}

static enum pfs_status set(struct pfs_books *self, const struct pfs_limit_text *limit,
			   struct pfs_message *message)
{
	if (self->rule != &pfs_rule_exact)
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "limits need the rule exact, but the rule is %s",
				       self->rule->name);
	pfs_mutex_lock(&self->limits_lock);
	uint32_t number = find_or_make(self, limit);
	if (number < PFS_BOX_LIMITS_MAX) {
		/* Nothing is in use before the first life. relaxed: under the lock. */
		if (self->last_thread_id == 0 && limit->bytes < UINT64_MAX - 1)
			pfs_store_relaxed(&self->limits[number].held, limit->bytes + 1);
		/* relaxed, twice: switches; the announcement makes all owners look. */
		pfs_store_relaxed(&self->limits[number].bytes, limit->bytes);
		pfs_store_relaxed(&self->control->limits[number], 0); /* relaxed: as above */
	}
	pfs_mutex_unlock(&self->limits_lock);
	if (number == PFS_BOX_LIMITS_MAX)
		return pfs_message_set(
			message, PFS_NO_MEMORY,
			"no room for another limit: at most %u accounts and users can have one",
			PFS_BOX_LIMITS_MAX - FIXED);
	pfs_box_announce(self->control);
	return PFS_OK;
}

static bool take_name(char *to, size_t to_bytes, bool *has, const char *name)
{
	*has = name != NULL;
	if (name == NULL)
		return true;
	size_t length = strlen(name);
	if (length >= to_bytes)
		return false;
	memcpy(to, name, length + 1);
	return true;
}

enum pfs_status pfs_memory_limit(struct pfs_books *memory, enum pfs_memory_scope scope,
				 const char *user, const char *host, uint64_t limit_bytes,
				 struct pfs_message *message)
{
	struct pfs_limit_text limit = { .scope = (enum pfs_box_scope)scope, .bytes = limit_bytes };
	bool has_names = user != NULL || host != NULL;
	if (scope < PFS_MEMORY_PROGRAM || scope > PFS_MEMORY_USER ||
	    (has_names && scope < PFS_MEMORY_ACCOUNT) || (host != NULL && scope == PFS_MEMORY_USER))
		return pfs_message_set(
			message, PFS_BAD_CONFIG,
			"scope %u of a limit: is unknown, or does not take this user and host",
			(unsigned)scope);
	if (!take_name(limit.user, sizeof(limit.user), &limit.has_user, user) ||
	    !take_name(limit.host, sizeof(limit.host), &limit.has_host, host))
		return pfs_message_set(message, PFS_BAD_CONFIG,
				       "user or host of a limit: must be at most %u and %u bytes",
				       PFS_BOX_USER_BYTES - 1, PFS_BOX_HOST_BYTES - 1);
	return set(memory, &limit, message);
}

enum pfs_status pfs_memory_limit_text(struct pfs_books *memory, const char *text,
				      struct pfs_message *message)
{
	struct pfs_limit_text limit;
	while (*text != '\0') {
		if (!pfs_limit_text_next(&text, &limit))
			return pfs_message_set(message, PFS_BAD_CONFIG,
					       "'%.100s' is not a limit: write program=2G, "
					       "thread=64M, account:USER@HOST=1G",
					       text);
		enum pfs_status status = set(memory, &limit, message);
		if (status != PFS_OK)
			return status;
	}
	return PFS_OK;
}
