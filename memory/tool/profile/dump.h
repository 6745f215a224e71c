/*
 * dump.h - shared by the files that read a dump.
 */
#ifndef PFS_MEM_DUMP_H
#define PFS_MEM_DUMP_H

#include "heap.h"

struct dump {
	const char *path;
	const char *begin, *at, *end;
	const char *line, *line_end; /* the one that is read */
	uint64_t number;             /* of it, from 1 */
	struct pfs_message *message;
	struct pfs_heap *heap;
	int algorithm; /* how counts are corrected: 0 not, 1, 2 */
	uint64_t interval;
};

/* A name in front of a profile: texts "outer--inner" where functions were inlined. */
struct pfs_dump_names {
	struct pfs_dump_one_name {
		uint64_t pc;
		const char *text;
		uint32_t length;
	} * names;
	uint32_t count, room;
};

__attribute__((format(printf, 2, 3))) bool pfs_dump_refuse(struct dump *dump, const char *format,
							   ...);
/* The next line, without its end; false: there is none. */
bool pfs_dump_next(struct dump *dump);
bool pfs_dump_begins(const struct dump *dump, const char *with);
void pfs_dump_skip_spaces(const char **at, const char *end);
/* Of base 10, or of 16 with or without 0x; spaces before it are passed over. False: none. */
bool pfs_dump_number(const char **at, const char *end, unsigned base, uint64_t *number);

/* The lines behind MAPPED_LIBRARIES, if there are any. */
bool pfs_dump_modules(struct dump *dump);
/* The current line, "0x12 name" or "binary=path". */
bool pfs_dump_name(struct dump *dump, struct pfs_dump_names *names);
void pfs_dump_names_attach(struct dump *dump, struct pfs_dump_names *names);

#endif
