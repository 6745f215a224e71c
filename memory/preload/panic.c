/*
 * panic.c - misuse of a record, or a damaged one, ends the program with one line. If the box was
 * truncated, it returns: a call that was in progress found zeroes, and no later one begins.
 */
#include <stdio.h>
#include <stdlib.h>

#include "containers/compiler.h"
#include "memory/box/cut.h"

void pfs_panic(const char *what, unsigned found, unsigned expected)
{
	if (pfs_cut_happened())
		return;
	(void)fprintf(
		stderr,
		"pfslab: %s: the word is 0x%08x, expected 0x%08x: a bug of pfslab, or the box "
		"was damaged\n",
		what, found, expected);
	abort();
}

void pfs_panic_plain(const char *what)
{
	if (pfs_cut_happened())
		return;
	(void)fprintf(stderr, "pfslab: %s: a bug of pfslab, or the box was damaged\n", what);
	abort();
}
