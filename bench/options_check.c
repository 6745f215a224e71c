/*
 * options_check.c - pfs_options_check of options.h: flags that do not fit each other.
 */
#include <string.h>

#include "options.h"

/* A flag that no policy can honour is no flag of this run. */
static enum pfs_status check_reclaim(const struct pfs_options *self, struct pfs_message *message)
{
	if (self->reclaim_period_ms == 0 || self->reclaim_period_ms == UINT32_MAX)
		return PFS_OK;
	for (uint32_t i = 0; i < self->policy_count; i++)
		if ((pfs_variant_traits(self->policies[i]) & PFS_TRAIT_RECLAIM) != 0)
			return PFS_OK;
	return pfs_say_why(
		message, PFS_BAD_CONFIG,
		"--reclaim-period-ms %u: no policy of --policies gives pages back; leave it out, "
		"or add one that --list-traits shows with reclaim",
		self->reclaim_period_ms);
}

static enum pfs_status check_peer(const struct pfs_options *self, struct pfs_message *message)
{
	if (self->peer == NULL || self->list_policies || self->list_traits ||
	    (self->policy_count == 1 && strcmp(pfs_variant_name(self->policies[0]), "malloc") == 0))
		return PFS_OK;
	return pfs_say_why(message, PFS_BAD_CONFIG,
			   "--peer '%.60s': it names policy malloc only; add --policies=malloc",
			   self->peer);
}

enum pfs_status pfs_options_check(const struct pfs_options *self, struct pfs_message *message)
{
	enum pfs_status status = check_peer(self, message);
	return status == PFS_OK ? check_reclaim(self, message) : status;
}
