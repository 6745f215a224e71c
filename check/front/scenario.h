/*
 * scenario.h - the scenarios that a program has registered, as searches execute them.
 */
#ifndef PFS_CHECK_SCENARIO_H
#define PFS_CHECK_SCENARIO_H

#include "check/search/search.h"

uint32_t pfs_check_scenario_count(void);
const char *pfs_check_scenario_name(uint32_t at);
struct pfs_scenario pfs_check_scenario_of(uint32_t at);

#endif
