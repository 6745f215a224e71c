/*
 * names.h - what takes the place of what in the checked program.
 */
#ifndef PFS_CHECK_NAMES_H
#define PFS_CHECK_NAMES_H

struct pfs_name {
	const char *name;
	void *function;
};

/* Ends with a name NULL. */
extern const struct pfs_name pfs_names[];

#endif
