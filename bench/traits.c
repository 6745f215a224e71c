#include "traits.h"

#include <stddef.h>
#include <stdio.h>

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
