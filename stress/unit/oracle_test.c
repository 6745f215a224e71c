/*
 * oracle_test.c - the policy `original` compared with the real container's answers, line by line.
 * See oracle/README.md. PFS_ORACLE_DIR is the directory of the files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stress/harness/harness.h"

struct script {
	uint32_t page_size, page_count, seed, steps, target_live, full_flags;
	int max_size;
};

struct replay {
	struct script script;
	struct pfs_container *container;
	struct pfs_thread *thread;
	void **live;
	uint32_t live_count;
	uint64_t random;
};

static void read_script(FILE *file, struct script *script)
{
	char line[256];
	PFS_CHECK(fgets(line, sizeof(line), file) != NULL);
	PFS_CHECK_IS(sscanf(line,
			    "# scenario=%*s page_size=%u page_count=%u max_size=%d seed=%u "
			    "steps=%u target_live=%u full_flags=%u",
			    &script->page_size, &script->page_count, &script->max_size,
			    &script->seed, &script->steps, &script->target_live,
			    &script->full_flags),
		     7);
	PFS_CHECK(fgets(line, sizeof(line), file) != NULL); /* the columns' names */
}

/* What the last two columns are where nothing counts them. */
static void print_probes(char *text, size_t size, const struct pfs_counts *before,
			 const struct pfs_counts *after)
{
	if (after->counted)
		(void)snprintf(text, size, " %llu %llu",
			       (unsigned long long)(after->probes - before->probes),
			       (unsigned long long)(after->page_probes - before->page_probes));
}

static void print_record(char *text, size_t size, struct replay *self, const void *record)
{
	uint64_t index = pfs_index(self->thread, record);
	(void)snprintf(text, size, "%llu %llu %u",
		       (unsigned long long)(index / self->script.page_size),
		       (unsigned long long)(index % self->script.page_size), pfs_version(record));
}

static void step(struct replay *self, uint32_t number, char *line, size_t size)
{
	uint64_t draw = pfs_random_next(&self->random);
	uint32_t chance = self->live_count < self->script.target_live ? 700 : 300;
	struct pfs_counts before = pfs_counts_of(self->container);
	bool allocates = self->live_count == 0 || (draw >> 32) % 1000 < chance;
	char record_text[64] = "- - -", probes_text[64] = "";
	if (allocates) {
		struct pfs_claim claim = pfs_allocate(self->thread);
		if (claim.record != NULL) {
			pfs_publish(self->thread, claim);
			self->live[self->live_count++] = claim.record;
			print_record(record_text, sizeof(record_text), self, claim.record);
		}
	} else {
		uint32_t position = (uint32_t)((draw & 0xffffffffu) % self->live_count);
		void *record = self->live[position];
		self->live[position] = self->live[--self->live_count];
		print_record(record_text, sizeof(record_text), self, record);
		pfs_free(self->thread, record);
	}
	struct pfs_counts after = pfs_counts_of(self->container);
	print_probes(probes_text, sizeof(probes_text), &before, &after);
	(void)snprintf(line, size, "%u %c %s %llu %llu%s", number, allocates ? 'a' : 'f',
		       record_text, (unsigned long long)after.lost, (unsigned long long)after.pages,
		       probes_text);
}

/* Without its last two columns, where probes are not counted. */
static void cut(char *line, bool counted)
{
	line[strcspn(line, "\n")] = '\0';
	for (int columns = 0; !counted && columns < 2; columns++)
		*strrchr(line, ' ') = '\0';
}

static void prepare(struct replay *self)
{
	struct pfs_case at = { pfs_variant_find("original"), PFS_LAYOUT_IN_RECORD };
	struct pfs_config config = pfs_case_config(&at);
	config.page_records = self->script.page_size;
	config.page_max = self->script.page_count;
	config.record_max = self->script.max_size > 0 ? (uint64_t)self->script.max_size : 0;
	config.full_flags = self->script.full_flags != 0;
	self->container = pfs_case_create(&at, &config);
	self->thread = pfs_attach_or_fail(self->container);
	self->live = calloc(self->script.steps, sizeof(*self->live));
	PFS_CHECK(self->live != NULL);
	self->random = self->script.seed;
}

static void replay(const char *name)
{
	char path[512], expected[256], found[256];
	struct replay self = { .container = NULL };
	(void)snprintf(path, sizeof(path), "%s/%s.txt", PFS_ORACLE_DIR, name);
	FILE *file = fopen(path, "r");
	PFS_CHECK(file != NULL);
	read_script(file, &self.script);
	prepare(&self);
	bool counted = pfs_counts_of(self.container).counted;
	for (uint32_t number = 0; number < self.script.steps; number++) {
		PFS_CHECK(fgets(expected, sizeof(expected), file) != NULL);
		cut(expected, counted);
		step(&self, number, found, sizeof(found));
		if (strcmp(expected, found) != 0)
			(void)fprintf(stderr, "real container: %s\npfslab:         %s\n", expected,
				      found);
		PFS_CHECK(strcmp(expected, found) == 0);
	}
	PFS_CHECK(fgets(expected, sizeof(expected), file) == NULL); /* no line left */
	(void)fclose(file);
	free(self.live);
	pfs_thread_detach(self.thread);
	pfs_container_destroy(self.container);
}

static void small_full_flags(const struct pfs_case *at)
{
	(void)at;
	replay("small_full_flags");
}

static void small_no_flags(const struct pfs_case *at)
{
	(void)at;
	replay("small_no_flags");
}

static void mid_full_flags(const struct pfs_case *at)
{
	(void)at;
	replay("mid_full_flags");
}

static void mid_no_flags(const struct pfs_case *at)
{
	(void)at;
	replay("mid_no_flags");
}

static const struct pfs_test tests[] = {
	{ .name = "oracle: small, full flags", .run = small_full_flags },
	{ .name = "oracle: small, no flags", .run = small_no_flags },
	{ .name = "oracle: mid, full flags", .run = mid_full_flags },
	{ .name = "oracle: mid, no flags", .run = mid_no_flags },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
