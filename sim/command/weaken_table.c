#include "sim/command/weaken_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"

#define BEGIN "<!-- pfs-sim weaken: begin -->\n"
#define END "<!-- pfs-sim weaken: end -->\n"
#define PAGE_BYTES (1u << 20)

struct pfs_weaken_row *pfs_weaken_table_add(struct pfs_weaken_table *self)
{
	self->count += self->count < PFS_WEAKEN_ROWS_MAX;
	struct pfs_weaken_row *row = &self->rows[self->count - 1];
	memset(row, 0, sizeof(*row));
	return row;
}

static void write_noticed(const struct pfs_weaken_table *self, FILE *file)
{
	(void)fputs("| edge | where | weaker | noticed by | after | as |\n", file);
	(void)fputs("|---|---|---|---|---|---|\n", file);
	for (uint32_t i = 0; i < self->count; i++) {
		const struct pfs_weaken_row *row = &self->rows[i];
		if (row->policy == NULL)
			continue;
		(void)fprintf(file, "| %s | `%s` `%s` | %s | `%s` `%s`%s | %llu | %s |\n",
			      row->label, row->file, row->function, row->operation, row->policy,
			      row->scenario, row->owner_fences ? " `owner_fences`" : "",
			      (unsigned long long)row->after, row->as);
	}
}

static void write_unnoticed(const struct pfs_weaken_table *self, FILE *file)
{
	(void)fputs("| edge | where | weaker | why no search shows it |\n", file);
	(void)fputs("|---|---|---|---|\n", file);
	for (uint32_t i = 0; i < self->count; i++) {
		const struct pfs_weaken_row *row = &self->rows[i];
		if (row->policy == NULL)
			(void)fprintf(file, "| %s | `%s` `%s` | %s | %s |\n", row->label, row->file,
				      row->function, row->operation,
				      row->sentence != NULL ? row->sentence : "not known");
	}
}

static void write_table(const struct pfs_weaken_table *self, FILE *file, uint64_t executions)
{
	uint32_t noticed = 0, unknown = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		noticed += self->rows[i].policy != NULL;
		unknown += self->rows[i].policy == NULL && self->rows[i].sentence == NULL;
	}
	(void)fprintf(file,
		      "Made by `pfs-sim weaken --executions %llu --out "
		      "docs/reference/weaker-orders.md`. Of %u weaker orders\n%u are noticed; the "
		      "second table says why %u are not; %u are unexplained.\n\n",
		      (unsigned long long)executions, self->count, noticed,
		      self->count - noticed - unknown, unknown);
	write_noticed(self, file);
	(void)fputs("\nNot noticed:\n\n", file);
	write_unnoticed(self, file);
}

/* The whole page, or NULL; freed by the caller. */
static char *read_page(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = malloc(PAGE_BYTES);
	size_t length = 0;
	if (file != NULL && text != NULL)
		length = fread(text, 1, PAGE_BYTES - 1, file);
	if (file != NULL)
		(void)fclose(file);
	if (text != NULL)
		text[length] = '\0';
	return text;
}

bool pfs_weaken_table_write(const struct pfs_weaken_table *self, const char *path,
			    uint64_t executions)
{
	char *page = read_page(path);
	char *begin = page != NULL ? strstr(page, BEGIN) : NULL;
	char *end = begin != NULL ? strstr(begin, END) : NULL;
	if (end == NULL) {
		(void)fprintf(stderr,
			      "pfs-sim weaken: --out '%s': must be a page with the lines "
			      "%s and %s",
			      path, "\"<!-- pfs-sim weaken: begin -->\"",
			      "\"<!-- pfs-sim weaken: end -->\"\n");
		free(page);
		return false;
	}
	struct pfs_output output;
	if (!pfs_output_begin(&output, path)) {
		(void)fprintf(stderr,
			      "pfs-sim weaken: --out '%s': %s; name a page that you may "
			      "write\n",
			      path, strerror(errno));
		free(page);
		return false;
	}
	FILE *file = output.file;
	(void)fwrite(page, 1, (size_t)(begin - page) + sizeof(BEGIN) - 1, file);
	write_table(self, file, executions);
	(void)fputs(end, file);
	free(page);
	if (pfs_output_end(&output))
		return true;
	(void)fprintf(stderr, "pfs-sim weaken: --out '%s': %s; free some space\n", path,
		      strerror(errno));
	return false;
}
