/*
 * plain.h - plain (non-atomic) accesses of threads, as the machine sees them.
 *
 * The sources that run on virtual threads are compiled with -fsanitize=thread, but linked without
 * its run-time: the calls that the compiler puts before each plain load and store end in plain.c,
 * which passes them to the machine's `plain` hook. Not seen: accesses to the thread's own stack,
 * calls of memcpy and memset, and inline assembly. In sanitizer builds nothing is instrumented, and
 * pfs_plain_is_seen says so.
 */
#ifndef PFS_SIM_PLAIN_H
#define PFS_SIM_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

struct pfs_plain {
	const void *address;
	const void *code; /* return address: where the access is */
	uint32_t size_bytes;
	bool writes;
};

#endif
