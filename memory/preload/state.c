/*
 * state.c - the library's shared variables: the program, the counters, the calling thread's state.
 */
#include "counter.h"

struct pfs_program pfs_program;
_Atomic(uint32_t) pfs_program_on;  /* release, when all is there */
static struct pfs_cell nobodys[1]; /* until the books are open */
struct pfs_counting pfs_counting = { .cells = (char *)nobodys };
struct pfs_counter pfs_counter_none = { .reference = PFS_NOBODY };
struct pfs_nobodys pfs_nobodys;
_Thread_local volatile uint8_t pfs_counter_state
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

void pfs_counter_never(void)
{
	pfs_counter_state = PFS_COUNTER_ENDED;
}
