/*
 * journal.h - from addresses to dense ids, and into the file.
 *
 * A child of fork must not call it: the file is not mapped there. Memory is fixed: a table of at
 * most PFS_JOURNAL_LIVE_MAX objects, mapped at the beginning. Objects beyond that, and frees of
 * objects that were not seen, are left out completely.
 */
#ifndef PFS_RECORDER_JOURNAL_H
#define PFS_RECORDER_JOURNAL_H

#include <pfslab/trace.h>

#include "mapped_file.h"

#define PFS_JOURNAL_LIVE_MAX (1u << 20)
#define PFS_JOURNAL_TICK_NS 100u

struct pfs_journal_slot {
	uint64_t address; /* 0: empty */
	uint32_t id;
};

struct pfs_journal {
	struct pfs_journal_slot *slots; /* twice PFS_JOURNAL_LIVE_MAX, linear probing */
	uint32_t *free_ids;             /* last in, first out */
	uint32_t free_count;
	uint32_t next_id;   /* never given so far */
	uint64_t event_max; /* 0: no bound */
	bool open;
	struct pfs_mapped_file file;
	struct pfs_trace_writer writer; /* writes through file */
};

/* False with file.error if the file or the memory cannot be had. */
bool pfs_journal_open(struct pfs_journal *self, const char *path, const char *program,
		      uint64_t event_max);

/* False once event_max is reached or the file cannot be written: finish and close it then. */
bool pfs_journal_allocate(struct pfs_journal *self, uint64_t time_ns, uint32_t thread,
			  uint64_t address, uint64_t size);
bool pfs_journal_free(struct pfs_journal *self, uint64_t time_ns, uint32_t thread,
		      uint64_t address);

/* What was recorded so far can be read from now on, however this process ends. */
void pfs_journal_flush(struct pfs_journal *self);

/* The file is a finished trace. False with file.error: then it stays an unfinished one. */
bool pfs_journal_finish(struct pfs_journal *self);

/* After finish: continue. False with file.error; then close it. */
bool pfs_journal_resume(struct pfs_journal *self);

/* After finish. */
void pfs_journal_close(struct pfs_journal *self);

#endif
