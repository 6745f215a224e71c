/*
 * planted_test.h - a program whose profile is known: each record is blocks that were sampled with
 * the stack of whoever called.
 */
#ifndef PFS_PLANTED_TEST_H
#define PFS_PLANTED_TEST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void planted_record(uint64_t bytes, int count);
void planted_cxx(void);

#ifdef __cplusplus
}
#endif

#endif
