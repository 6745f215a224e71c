/*
 * stats_print.c - malloc_stats_print: all that mallctl tells, as text or as JSON.
 *
 * It does not use base/json.h: the output goes to a callback, and a stream would allocate. One walk
 * prints both formats, and no name or value here needs an escape.
 */
#include <errno.h>
#include <pfslab/jemalloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "classes.h"
#include "ctl.h"

#define PUBLIC __attribute__((visibility("default")))
#define PIECE_BYTES 256

PUBLIC void (*malloc_message)(void *context, const char *text);

struct printer {
	void (*write)(void *context, const char *text);
	void *context;
	bool json, one_by_one, merged, bins, options;
	bool is_first; /* in its object of JSON */
	unsigned depth;
};

static void to_stderr(void *context, const char *text)
{
	(void)context;
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* nobody is there to be told */
}

static void put(struct printer *self, const char *text)
{
	self->write(self->context, text);
}

/* What stands in front of anything: of JSON the comma, else how deep it is. */
static void begin_item(struct printer *self)
{
	static const char deep[] = "            ";
	if (self->json)
		put(self, self->is_first ? "" : ",");
	else
		put(self, deep + (self->depth > 6 ? 0 : 12 - 2 * self->depth));
	self->is_first = false;
}

static void open_object(struct printer *self, const char *name)
{
	char piece[PIECE_BYTES];
	begin_item(self);
	(void)snprintf(piece, sizeof(piece), self->json ? "\"%s\":{" : "%s:\n", name);
	put(self, piece);
	self->is_first = true;
	self->depth++;
}

static void close_object(struct printer *self)
{
	if (self->json)
		put(self, "}");
	self->is_first = false;
	self->depth--;
}

static void number(struct printer *self, const char *name, int64_t value)
{
	char piece[PIECE_BYTES];
	begin_item(self);
	(void)snprintf(piece, sizeof(piece), self->json ? "\"%s\":%lld" : "%-24s %20lld\n", name,
		       (long long)value);
	put(self, piece);
}

static void text(struct printer *self, const char *name, const char *value)
{
	char piece[PIECE_BYTES];
	begin_item(self);
	(void)snprintf(piece, sizeof(piece), self->json ? "\"%s\":\"%s\"" : "%-24s %20s\n", name,
		       value);
	put(self, piece);
}

/* Any length of a number. */
static bool read_number(const char *name, int64_t *value)
{
	size_t length = sizeof(*value);
	*value = 0;
	int error = mallctl(name, value, &length, NULL, 0);
	return error == 0 || (error == EINVAL && length != 0);
}

/* By its whole name, under its last part. */
static void print_value(struct printer *self, const char *name, const char *shown)
{
	int64_t value;
	if (read_number(name, &value))
		number(self, shown, value);
}

static void print_options(struct printer *self)
{
	open_object(self, "opt");
	for (uint32_t i = 0; i < pfs_ctl_row_count; i++) {
		const struct pfs_ctl_row *row = &pfs_ctl_rows[i];
		if (strncmp(row->name, "opt.", 4) != 0)
			continue;
		const char *value = NULL;
		size_t length = sizeof(value);
		if (row->group != PFS_CTL_TEXT)
			print_value(self, row->name, row->name + 4);
		else if (mallctl(row->name, &value, &length, NULL, 0) == 0)
			text(self, row->name + 4, value);
	}
	close_object(self);
}

static void print_sums(struct printer *self)
{
	open_object(self, "stats");
	for (uint32_t i = 0; i < pfs_ctl_row_count; i++)
		if (pfs_ctl_rows[i].group == PFS_CTL_STAT)
			print_value(self, pfs_ctl_rows[i].name, pfs_ctl_rows[i].name + 6);
	close_object(self);
}

static void print_bin(struct printer *self, size_t arena, size_t bin)
{
	static const char *const names[] = { "curregs", "curslabs", "nmalloc", "ndalloc",
					     "nfills" };
	char name[PIECE_BYTES];
	int64_t slabs_made;
	(void)snprintf(name, sizeof(name), "stats.arenas.%zu.bins.%zu.nslabs", arena, bin);
	if (!read_number(name, &slabs_made) || slabs_made == 0)
		return;
	(void)snprintf(name, sizeof(name), "%u", pfs_classes[bin].size_bytes);
	open_object(self, name);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(name, sizeof(name), "stats.arenas.%zu.bins.%zu.%s", arena, bin,
			       names[i]);
		print_value(self, name, names[i]);
	}
	close_object(self);
}

static void print_arena(struct printer *self, size_t arena, const char *shown)
{
	static const char pattern[] = "stats.arenas.#.";
	char name[PIECE_BYTES];
	open_object(self, shown);
	for (uint32_t i = 0; i < pfs_ctl_row_count; i++) {
		const char *last = pfs_ctl_rows[i].name + sizeof(pattern) - 1;
		if (pfs_ctl_rows[i].group != PFS_CTL_STAT_ARENA)
			continue;
		(void)snprintf(name, sizeof(name), "stats.arenas.%zu.%s", arena, last);
		print_value(self, name, last);
	}
	if (self->bins) {
		open_object(self, "bins");
		for (size_t bin = 0; bin < PFS_SMALL_COUNT; bin++)
			print_bin(self, arena, bin);
		close_object(self);
	}
	close_object(self);
}

static void print_arenas(struct printer *self)
{
	unsigned count = 0;
	size_t length = sizeof(count);
	(void)mallctl("arenas.narenas", &count, &length, NULL, 0);
	open_object(self, "stats.arenas");
	if (self->merged)
		print_arena(self, MALLCTL_ARENAS_ALL, "merged");
	for (unsigned arena = 0; self->one_by_one && arena < count; arena++) {
		char name[PIECE_BYTES];
		int64_t threads;
		(void)snprintf(name, sizeof(name), "stats.arenas.%u.nthreads", arena);
		if (!read_number(name, &threads))
			continue;
		(void)snprintf(name, sizeof(name), "%u", arena);
		print_arena(self, arena, name);
	}
	close_object(self);
}

PUBLIC void malloc_stats_print(void (*write)(void *context, const char *text), void *context,
			       const char *options)
{
	const char *letters = options != NULL ? options : "";
	uint64_t epoch = 1;
	const char *version = "";
	size_t length = sizeof(version);
	struct printer self = { .write = write,
				.context = context,
				.json = strchr(letters, 'J') != NULL,
				.one_by_one = strchr(letters, 'a') == NULL,
				.merged = strchr(letters, 'm') == NULL,
				.bins = strchr(letters, 'b') == NULL,
				.options = strchr(letters, 'g') == NULL,
				.is_first = true };
	if (self.write == NULL)
		self.write = malloc_message != NULL ? malloc_message : to_stderr;
	(void)mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch));
	(void)mallctl("version", &version, &length, NULL, 0);
	put(&self, self.json ? "{" : "___ Begin jemalloc statistics ___\n");
	open_object(&self, "jemalloc");
	text(&self, "version", version);
	if (self.options)
		print_options(&self);
	print_sums(&self);
	print_arenas(&self);
	close_object(&self);
	put(&self, self.json ? "}\n" : "--- End jemalloc statistics ---\n");
}
