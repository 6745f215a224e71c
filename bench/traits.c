#include "traits.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "workload.h"

void pfs_traits_text(uint32_t traits, char text[PFS_TRAITS_CHARS])
{
	static const char *const words[] = {
		"words", "index", "grow", "reclaim", "strict", "exact", "bounded", "c11", "bare",
	}; /* of enum pfs_trait, by bit */
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t bit = 0; bit < sizeof(words) / sizeof(words[0]); bit++)
		if ((traits & (UINT32_C(1) << bit)) != 0)
			used += (size_t)snprintf(text + used, PFS_TRAITS_CHARS - used, "%s%s",
						 used != 0 ? " " : "", words[bit]);
}

/* Each of the words, separated by blanks, with a prefix. */
static void print_words(const char *prefix, const char *words)
{
	for (size_t size; *words != '\0'; words += size + (words[size] != '\0')) {
		size = strcspn(words, " ");
		printf(" %s:%.*s", prefix, (int)size, words);
	}
}

void pfs_workload_traits_print(void)
{
	const struct pfs_workload *workload;
	char needs[PFS_TRAITS_CHARS];

	for (uint32_t i = 0; (workload = pfs_workload_at(i)) != NULL; i++) {
		printf("%-14s%s%s%s%s%s threads:%u", workload->name,
		       workload->has_policy ? " policy" : "",
		       workload->has_occupancy ? " occupancy" : "",
		       workload->has_records ? " records" : "",
		       workload->has_trace ? " trace" : "",
		       workload->sample != NULL ? " latency" : "", workload->threads_multiple);
		if (workload->threads_max != 0)
			printf(" threads_max:%u", workload->threads_max);
		pfs_traits_text(workload->traits, needs);
		print_words("needs", needs);
		print_words("counter", workload->counters != NULL ? workload->counters : "");
		printf("\n");
	}
}
