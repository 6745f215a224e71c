#include "locks.h"

#include "rings.h"

pthread_mutex_t pfs_locks[PFS_LOCKS] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

/* registry.c's, but slots are freed under its lock by what registry.c calls. */
struct pfs_registry pfs_registry;
