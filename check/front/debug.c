#define _GNU_SOURCE
#include "check/front/debug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/front/arguments.h"
#include "check/front/elf_file.h"

#define PATH_BYTES 4096

/* gdb.py, where it is installed, or in the sources. */
static const char *commands(const char *self)
{
	static char path[PATH_BYTES + 64];
	const char *slash = strrchr(self, '/');
	(void)snprintf(path, sizeof(path), "%.*s/../share/pfslab/gdb.py",
		       (int)(slash != NULL ? slash - self : 0), self);
	return access(path, R_OK) == 0 ? path : PFS_CHECK_GDB;
}

int pfs_check_debug(int argc, char **argv)
{
	static char self[PATH_BYTES];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *head[] = { "gdb",    "-q",
			       "-x",     commands(self),
			       "-iex",   "set debuginfod enabled off",
			       "-ex",    "set pagination off",
			       "-ex",    "handle SIGSEGV SIGVTALRM nostop noprint",
			       "-ex",    "break pfs_machine_failed",
			       "-ex",    "break pfs_check_stopped",
			       "-ex",    "run",
			       "-ex",    "pfs-threads",
			       "--args", self };
	size_t count = sizeof(head) / sizeof(head[0]);
	char **words = calloc(count + (size_t)argc + 1, sizeof(*words));
	if (words == NULL || length <= 0)
		return pfs_check_refuse("--gdb", "cannot find this program: mount /proc");
	if (!pfs_elf_program_has_lines(self))
		return pfs_check_refuse("--gdb", "this pfs-check is stripped, so gdb finds no "
						 "threads in it: use one that you built");
	for (size_t i = 0; i < count; i++)
		words[i] = strdup(head[i]);
	bool flags = false; /* after -- they are the compiler's */
	for (int i = 1; i < argc; i++) {
		flags |= strcmp(argv[i], "--") == 0;
		if (flags || strcmp(argv[i], "--gdb") != 0)
			words[count++] = argv[i];
	}
	(void)execvp(words[0], words);
	return pfs_check_refuse("--gdb", "gdb is not in the PATH; install it");
}

__attribute__((noinline)) void pfs_check_stopped(void)
{
	__asm__ volatile("");
}
