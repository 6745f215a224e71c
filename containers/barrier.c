#include "barrier.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool available;

static void ask(void)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);
	available = commands > 0 &&
		    (commands & MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0 &&
		    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0;
}

bool pfs_barrier_available(void)
{
	(void)pthread_once(&once, ask);
	return available;
}

void pfs_barrier_heavy(void)
{
	long result = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
	PFS_ASSERT(result == 0, "membarrier failed after it was registered");
}
