/*
 * accounts_reader.h - the reader of boxes, on the machine: what it says of cells. A file of its
 * own, for the reader and searches both have something that they call a snapshot.
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

/* All cells that are in use, one try each round of the reader's. False: one was not to be had. */
bool pfs_accounts_see(struct pfs_accounts_seen *seen, uint32_t room, uint32_t *count);

/* What it reads: records of cells. */
uint32_t pfs_accounts_records(void);
void *pfs_accounts_record(uint64_t number, const struct pfs_lock **lock);

#endif
