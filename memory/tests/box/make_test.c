/*
 * make_test.c - create the sample box for tests of pfs-mem.
 *
 * usage: box_make PATH dead | live
 * live: prints "ready", and keeps the box locked until standard input ends.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture_test.h"

int main(int argc, char **argv)
{
	struct pfs_made_box box;
	char byte;
	if (argc != 3 || (strcmp(argv[2], "dead") != 0 && strcmp(argv[2], "live") != 0))
		return fprintf(stderr, "box_make: say PATH dead, or PATH live\n"), 2;
	pfs_made_sample(&box, argv[1]);
	if (strcmp(argv[2], "live") == 0) {
		(void)puts("ready");
		(void)fflush(stdout);
		while (read(STDIN_FILENO, &byte, 1) > 0)
			;
	}
	return 0;
}
