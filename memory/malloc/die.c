#include "die.h"

#include <stdlib.h>

#include "containers/compiler.h"
#include "corruption.h"
#include "last.h"
#include "text.h"

#define LINE_BYTES 256

/* In the build with random delays the line also names the seed. */
#ifdef PFS_DELAYS
#define ADD_SEED(line) add_seed(line)
#else
#define ADD_SEED(line) ((void)0)
#endif

/* With a place for the newline. */
#define LINE(name)              \
	char bytes[LINE_BYTES]; \
	struct pfs_text name = { bytes, sizeof(bytes) - 1, 0 }

static void put(struct pfs_text *line)
{
	line->most++;
	pfs_text_add(line, "\n");
	pfs_text_put(line);
}

#ifdef PFS_DELAYS
static void add_seed(struct pfs_text *line)
{
	char text[PFS_DELAYS_SEED_BYTES];
	pfs_text_add(line, pfs_delays_seed(text));
}
#endif

void pfs_die(const char *call, const void *pointer, const char *what)
{
	LINE(line);
	pfs_text_add(&line, "pfsmalloc: ");
	pfs_text_add(&line, call);
	pfs_text_add(&line, "(");
	pfs_text_hex(&line, (uintptr_t)pointer);
	pfs_text_add(&line, "): ");
	pfs_text_add(&line, what);
	ADD_SEED(&line);
	put(&line);
	pfs_last_begin();
	pfs_corruption_misused(call, pointer, what);
	abort();
}

void pfs_warn(const char *first, const char *second, const char *third)
{
	LINE(line);
	pfs_text_add(&line, "pfsmalloc: ");
	pfs_text_add(&line, first);
	pfs_text_add(&line, second);
	pfs_text_add(&line, third);
	put(&line);
}
