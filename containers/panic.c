/*
 * panic.c - one line on standard error, then abort; each caller names its misuse (pfs_lock.h,
 * variants/exact/occupancy.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "compiler.h"
#include "pfs_lock.h"

static const char *state_text(unsigned word)
{
	static const char *const texts[] = { "FREE", "DIRTY", "ALLOCATED", "damaged" };
	return texts[word & PFS_STATE_MASK];
}

void pfs_panic(const char *what, unsigned found, unsigned expected)
{
	(void)fprintf(stderr,
		      "pfslab: %s: the word is 0x%08x (%s), expected 0x%08x (%s): a bug of the "
		      "caller (a record freed twice, or used by two owners) or of pfslab\n",
		      what, found, state_text(found), expected, state_text(expected));
	PFS_SAY_SEED();
	abort();
}

void pfs_panic_plain(const char *what)
{
	(void)fprintf(stderr, "pfslab: %s: a bug of the caller, or of pfslab\n", what);
	PFS_SAY_SEED();
	abort();
}
