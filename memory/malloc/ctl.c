#include "ctl.h"

#include <errno.h>
#include <string.h>

int pfs_ctl_read(const struct pfs_ctl *ctl, const void *value, size_t bytes)
{
	if (ctl->old_value == NULL || ctl->old_length == NULL)
		return 0;
	size_t fits = *ctl->old_length < bytes ? *ctl->old_length : bytes;
	bool is_right = *ctl->old_length == bytes;
	memcpy(ctl->old_value, value, fits);
	*ctl->old_length = fits;
	return is_right ? 0 : EINVAL;
}

int pfs_ctl_write(const struct pfs_ctl *ctl, void *value, size_t bytes)
{
	if (ctl->new_value == NULL)
		return 0;
	if (ctl->new_length != bytes)
		return EINVAL;
	memcpy(value, ctl->new_value, bytes);
	return 0;
}

int pfs_ctl_refuse_new(const struct pfs_ctl *ctl)
{
	return ctl->new_value != NULL || ctl->new_length != 0 ? EPERM : 0;
}

int pfs_ctl_refuse_old(const struct pfs_ctl *ctl)
{
	return ctl->old_value != NULL || ctl->old_length != NULL ? EPERM : 0;
}

int pfs_ctl_give(const struct pfs_ctl *ctl, const void *value, size_t bytes)
{
	int error = pfs_ctl_refuse_new(ctl);
	return error != 0 ? error : pfs_ctl_read(ctl, value, bytes);
}
