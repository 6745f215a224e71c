#define _GNU_SOURCE
#include "check/front/outcomes.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <pfslab/check.h>

#include "check/front/shared.h"

#define TEXT_BYTES 120u
#define ROOM 65536u /* a power of two; half of it is used */

struct outcome {
	uint64_t count; /* 0: free */
	char text[TEXT_BYTES];
};

/* Only the used part becomes memory. */
static struct table {
	uint32_t count;
	uint64_t lost; /* executions for whose text there was no room */
	struct outcome all[ROOM];
} * table;

bool pfs_outcomes_begin(void)
{
	void *memory = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	table = memory;
	pfs_outcomes_reset();
	return true;
}

void pfs_outcomes_reset(void)
{
	for (uint32_t at = 0; table->count != 0 && at < ROOM; at++)
		table->all[at].count = 0;
	table->count = 0;
	table->lost = 0;
}

/* The text's place, or a free one. */
static struct outcome *find(const char *text)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	for (const char *c = text; *c != '\0'; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
	uint32_t at = (uint32_t)(hash >> 32) % ROOM;
	while (table->all[at].count != 0 && strcmp(table->all[at].text, text) != 0)
		at = (at + 1) % ROOM;
	return &table->all[at];
}

void pfs_check_outcome(const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof(text))
		pfs_machine_find(
			PFS_FOUND_UNCHECKED, PFS_NO_SIDES,
			"pfs_check_outcome: a text of %d bytes, the most is %zu: others that "
			"begin like it would be counted as the same",
			length, sizeof(text) - 1);
	pfs_shared_lock();
	struct outcome *outcome = find(text);
	if (outcome->count == 0 && table->count == ROOM / 2) {
		table->lost++;
	} else {
		if (outcome->count == 0) {
			memcpy(outcome->text, text, sizeof(text));
			table->count++;
		}
		outcome->count++;
	}
	pfs_shared_unlock();
}

static int compare(const void *a, const void *b)
{
	const struct outcome *const *one = a, *const *other = b;
	return strcmp((*one)->text, (*other)->text);
}

uint64_t pfs_outcomes_each(void (*visit)(void *context, const char *text, uint64_t executions),
			   void *context)
{
	const struct outcome **sorted = calloc(table->count + 1, sizeof(*sorted));
	uint32_t count = 0;
	if (sorted == NULL)
		return table->count + table->lost;
	for (uint32_t at = 0; table->count != 0 && at < ROOM; at++) {
		if (table->all[at].count != 0)
			sorted[count++] = &table->all[at];
	}
	qsort(sorted, count, sizeof(*sorted), compare);
	for (uint32_t at = 0; at < count; at++)
		visit(context, sorted[at]->text, sorted[at]->count);
	free(sorted);
	return table->lost;
}

static void print(void *context, const char *text, uint64_t executions)
{
	(void)fprintf(context, "  %8llu  %s\n", (unsigned long long)executions, text);
}

void pfs_outcomes_print(FILE *out)
{
	if (table->count != 0)
		(void)fprintf(out, "  %u outcomes, and the executions of each:\n", table->count);
	uint64_t lost = pfs_outcomes_each(print, out);
	if (lost != 0)
		(void)fprintf(out, "  %8llu  others, which the table had no room for\n",
			      (unsigned long long)lost);
}
