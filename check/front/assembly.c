/*
 * assembly.c - finds atomic instructions that pfs-check cannot see.
 *
 * With -fsanitize=thread each atomic operation and each fence is a call. One that is an instruction
 * was written in assembly, or compiled without the option: its effect is not seen, so a warning is
 * needed.
 */
#define _GNU_SOURCE
#include "check/front/assembly.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/front/places.h"
#include "check/front/warn.h"
#include "check/machine/trace.h"

/* x86-64's, and AArch64's. An exchange of a register with memory locks by itself. */
static const char *const telling[] = { "lock ", "mfence", "lfence", "sfence", "dmb",  "ldxr",
				       "ldaxr", "stxr",   "stlxr",  "ldar",   "stlr", NULL };

static bool tells(const char *instruction)
{
	for (const char *const *at = telling; *at != NULL; at++) {
		if (strncmp(instruction, *at, strlen(*at)) == 0)
			return true;
	}
	return strncmp(instruction, "xchg", 4) == 0 && strchr(instruction, '(') != NULL;
}

static FILE *disassemble(const char *path, pid_t *child)
{
	int ends[2];
	if (pipe(ends) != 0)
		return NULL;
	*child = fork();
	if (*child == 0) {
		(void)dup2(ends[1], 1);
		(void)close(ends[0]);
		execlp("objdump", "objdump", "-d", "-j", ".text", "--no-show-raw-insn", path, NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	if (*child < 0) {
		(void)close(ends[0]);
		return NULL;
	}
	return fdopen(ends[0], "r");
}

void pfs_assembly_warn(const char *path, uintptr_t bias)
{
	char line[512], first[32] = "";
	uintptr_t address = 0;
	unsigned long count = 0;
	pid_t child;
	FILE *lines = disassemble(path, &child);
	if (lines == NULL)
		return;
	while (fgets(line, sizeof(line), lines) != NULL) {
		char *instruction = strstr(line, ":\t");
		if (instruction == NULL || !tells(instruction + 2))
			continue;
		if (count++ != 0)
			continue;
		address = (uintptr_t)strtoull(line, NULL, 16);
		size_t length = strcspn(instruction + 2, "#<\n");
		while (length > 0 && instruction[1 + length] == ' ')
			length--;
		(void)snprintf(first, sizeof(first), "%.*s", (int)length, instruction + 2);
	}
	(void)fclose(lines);
	(void)waitpid(child, NULL, 0);
	if (count == 0)
		return;
	bool is_foreign;
	const struct pfs_sim_place *place = pfs_places_of((const void *)(bias + address + 1),
							  &is_foreign);
	char more[48] = "";
	if (count > 1)
		(void)snprintf(more, sizeof(more), " and %lu like it", count - 1);
	pfs_warn("`%s` at %s (%s:%d)%s: assembly, or compiled without -fsanitize=thread; its "
		 "accesses "
		 "are not seen",
		 first, place->function, pfs_trace_base_name(place->file), place->line, more);
}
