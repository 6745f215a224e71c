/*
 * runtimes.h - language runtimes that map their objects' memory themselves, past malloc; and what
 * to set so that it is counted or explained.
 */
#ifndef PFS_MEM_RUNTIMES_H
#define PFS_MEM_RUNTIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfslab/status.h>

struct pfs_runtime {
	const char *name;    /* of pfs-mem run --for; NULL: nothing can be set */
	const char *mappers; /* libraries and programs whose mappings are its objects; fnmatch
			      * patterns, each followed by a space */
	const char *variable, *value;
	bool joins;         /* value is added to what the variable has */
	const char *effect; /* what happens then */
	/* For a box whose largest holder is one of the mappers: what it maps, or its blocks. NULL:
	 * none. */
	const char *advice, *of_blocks;
};

/* pfs_runtime_set - set the environment for a runtime. False: not a name of the table, or no
 * memory, as message says. */
bool pfs_runtime_set(const char *name, struct pfs_message *message);

/* The runtime whose objects a mapper's name ("memory/python3.11/mmap") has; NULL: none. */
const struct pfs_runtime *pfs_runtime_of(const char *mapper);

/* All of the table, a line each, for --help. */
extern const char pfs_runtimes_help[];

#endif
