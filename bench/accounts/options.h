/*
 * options.h - command lines of numbers alone, --name=N.
 */
#ifndef PFS_BENCH_ACCOUNTS_OPTIONS_H
#define PFS_BENCH_ACCOUNTS_OPTIONS_H

#include <stdint.h>

struct accounts_option {
	const char *name; /* with its dashes and '=' */
	uint32_t most;    /* 1 .. most */
	uint32_t *value;
};

/* Take them all; anything else ends the process with one line and exit 2. */
void accounts_options(const char *program, int argc, char **argv,
		      const struct accounts_option *options, uint32_t count);

#endif
