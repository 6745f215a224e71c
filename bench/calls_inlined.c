/*
 * calls_inlined.c - a policy once more, compiled together with the batches. Built for each line
 * of variants.def, with PFS_POLICY_FILE, the policy's file, and PFS_POLICY_CALLS, what calls.c
 * finds the result by.
 */
#define PFS_POLICY(policy) static const struct pfs_variant policy_table
#include PFS_POLICY_FILE

#include "bench/calls_with.h"

PFS_BATCHES(policy_table)

extern const struct pfs_calls PFS_POLICY_CALLS;
const struct pfs_calls PFS_POLICY_CALLS = { PFS_BATCH_CALLS };
