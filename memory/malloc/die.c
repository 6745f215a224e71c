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

#ifdef PFS_DELAYS
static void add_seed(struct pfs_text *line)
{
	char text[PFS_DELAYS_SEED_BYTES];
	pfs_text_add(line, pfs_delays_seed(text));
}
#endif

void pfs_die(const char *call, const void *pointer, const char *what)
{
	char bytes[LINE_BYTES];
	struct pfs_text line = { bytes, sizeof(bytes), 0 };
	pfs_text_add(&line, "pfsmalloc: ");
	pfs_text_add(&line, call);
	pfs_text_add(&line, "(");
	pfs_text_hex(&line, (uintptr_t)pointer);
	pfs_text_add(&line, "): ");
	pfs_text_add(&line, what);
	ADD_SEED(&line);
	pfs_text_put_line(&line);
	pfs_last_begin();
	pfs_corruption_misused(call, pointer, what);
	abort();
}
