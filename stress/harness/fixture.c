#include "stress/harness/fixture.h"

#include <stdlib.h>
#include <string.h>

void pfs_fixture_prepare(struct pfs_fixture *self, const struct pfs_case *at, uint32_t page_max,
			 uint32_t page_records)
{
	memset(self, 0, sizeof(*self));
	self->at = at;
	pfs_test_source_init(&self->source);
	self->config = pfs_case_config(at);
	self->config.page_max = page_max;
	self->config.page_records = page_records;
	self->config.source = &self->source.source;
}

static uint64_t capacity(const struct pfs_fixture *self)
{
	return (uint64_t)self->config.page_max * self->config.page_records;
}

void pfs_fixture_set_up(struct pfs_fixture *self)
{
	self->records = calloc(capacity(self) + 1, sizeof(self->records[0])); /* never 0 bytes */
	PFS_CHECK(self->records != NULL);
	self->container = pfs_case_create(self->at, &self->config);
	self->thread = pfs_attach_or_fail(self->container);
}

void pfs_fixture_start(struct pfs_fixture *self, const struct pfs_case *at, uint32_t page_max,
		       uint32_t page_records)
{
	pfs_fixture_prepare(self, at, page_max, page_records);
	pfs_fixture_set_up(self);
}

void pfs_fixture_tear_down(struct pfs_fixture *self)
{
	pfs_thread_detach(self->thread);
	pfs_container_destroy(self->container);
	PFS_CHECK_IS(pfs_test_source_out(&self->source), 0);
	free(self->records);
}

void pfs_fixture_fill(struct pfs_fixture *self, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		void *record = pfs_allocate_or_fail(self->thread);
		uint64_t index = pfs_index(self->thread, record);
		PFS_CHECK(index < capacity(self));
		PFS_CHECK(self->records[index] == NULL);
		self->records[index] = record;
	}
}

void pfs_fixture_empty(struct pfs_fixture *self, uint32_t begin, uint32_t end)
{
	for (uint32_t i = begin; i < end; i++) {
		if (self->records[i] != NULL)
			pfs_free(self->thread, self->records[i]);
		self->records[i] = NULL;
	}
}

uint64_t pfs_fixture_pages(struct pfs_fixture *self)
{
	return pfs_counts_of(self->container).pages;
}
