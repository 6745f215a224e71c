/*
 * accounts_reader.h - the reader of boxes on the machine: what it reads of cells. It has its own
 * file because the reader and the searches both define a snapshot.
 */
#ifndef PFS_SIM_ACCOUNTS_READER_H
#define PFS_SIM_ACCOUNTS_READER_H

#include "containers/pfs_lock.h"
#include "memory/accounts/cell.h"

struct pfs_accounts_seen {
	uint32_t number, word; /* of the record */
	uint32_t account;      /* reference */
	struct pfs_cell_sums sums;
	uint64_t high_count; /* for the account */
};

/* Reads all cells in use, with one try in each of the reader's rounds. False: one could not be
 * read. */
bool pfs_accounts_see(struct pfs_accounts_seen *seen, uint32_t room, uint32_t *count);

/* The records of cells that it reads. */
uint32_t pfs_accounts_records(void);
void *pfs_accounts_record(uint64_t number, const struct pfs_lock **lock);

#endif
