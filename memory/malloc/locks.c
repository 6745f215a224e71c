#include "locks.h"

pthread_mutex_t pfs_locks[PFS_LOCKS] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
