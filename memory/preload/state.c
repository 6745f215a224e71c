/*
 * state.c - what the parts of the library share: the program, what threads count with, and whether
 * the calling thread counts.
 */
#include "counter.h"

struct pfs_program pfs_program;
static struct pfs_cell nobodys[1]; /* before the books are there */
struct pfs_counting pfs_counting = { .cells = (char *)nobodys };
struct pfs_counter pfs_counter_none = { .reference = PFS_NOBODY };
_Thread_local volatile uint8_t pfs_counter_state
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

void pfs_counter_never(void)
{
	pfs_counter_state = PFS_COUNTER_ENDED;
}
