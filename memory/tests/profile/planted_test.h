/*
 * planted_test.h - a program whose profile is known: each record stands for blocks sampled with the
 * caller's stack.
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
