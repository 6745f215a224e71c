/*
 * fixture.h - a small container on counted page memory, one thread, and its records by index.
 *
 * prepare fills in the configuration, the test changes what it needs, set_up makes the
 * container; until then nothing is allocated. tear_down also checks that no block of page
 * memory is left out.
 */
#ifndef PFS_STRESS_FIXTURE_H
#define PFS_STRESS_FIXTURE_H

#include "stress/harness/harness.h"
#include "stress/harness/source.h"

struct pfs_fixture {
	const struct pfs_case *at;
	struct pfs_test_source source;
	struct pfs_config config;
	struct pfs_container *container;
	struct pfs_thread *thread;
	void **records; /* [page_max * page_records], by index; NULL: not allocated by fill */
};

/* Nothing is preallocated; not to be moved afterwards, as its source. */
void pfs_fixture_prepare(struct pfs_fixture *self, const struct pfs_case *at, uint32_t page_max,
			 uint32_t page_records);

void pfs_fixture_set_up(struct pfs_fixture *self);
/* Both, for a test that changes nothing. */
void pfs_fixture_start(struct pfs_fixture *self, const struct pfs_case *at, uint32_t page_max,
		       uint32_t page_records);
void pfs_fixture_tear_down(struct pfs_fixture *self);

/* Allocate and publish count records, each at a different index, or the test fails. */
void pfs_fixture_fill(struct pfs_fixture *self, uint32_t count);

/* Free what fill allocated with begin <= index < end. */
void pfs_fixture_empty(struct pfs_fixture *self, uint32_t begin, uint32_t end);

uint64_t pfs_fixture_pages(struct pfs_fixture *self);

#endif
