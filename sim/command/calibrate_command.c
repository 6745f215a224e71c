#define _GNU_SOURCE
#include "sim/command/calibrate_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int pfs_command_calibrate(int argc, char **argv)
{
	(void)argc;
	static const char name[] = "pfs-calibrate";
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - sizeof(name));
	if (length <= 0) {
		(void)fprintf(stderr, "pfs-sim calibrate: /proc/self/exe: %s; run %s itself\n",
			      strerror(errno), name);
		return 2;
	}
	path[length] = '\0';
	char *end = strrchr(path, '/');
	(void)strcpy(end != NULL ? end + 1 : path, name);
	(void)execv(path, argv);
	(void)fprintf(stderr, "pfs-sim calibrate: %s: %s; build the target %s\n", path,
		      strerror(errno), name);
	return 2;
}
