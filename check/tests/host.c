/*
 * host.c - the host of the engine's own tests: its memory has no entries.
 */
#include "check/machine/host.h"

const struct pfs_host_entries *const pfs_host_entries;
