/*
 * names.h - which functions of the checked program are replaced, and by which.
 */
#ifndef PFS_CHECK_NAMES_H
#define PFS_CHECK_NAMES_H

struct pfs_name {
	const char *name;
	void *function;
};

/* Ends with a name NULL. */
extern const struct pfs_name pfs_names[];

/* The program is loaded. */
void pfs_names_begin(void);

#endif
