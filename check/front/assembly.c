/*
 * assembly.c - finds accesses that pfs-check cannot see.
 *
 * Compilers mark what asm statements have put into their output. And with -fsanitize=thread each
 * atomic operation and each fence is a call. One that is an instruction was written in assembly, or
 * compiled without the option.
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

static struct pfs_assembly unseen, drawn;

const struct pfs_assembly *pfs_assembly_unseen(void)
{
	return &unseen;
}

const struct pfs_assembly *pfs_assembly_drawn(void)
{
	return &drawn;
}

/* ---- asm of a source ---- */

/* An operand in memory, other than on the stack? */
static bool has_operand(const char *text)
{
	for (const char *at = text; (at = strpbrk(at, "([")) != NULL; at++) {
		bool is_local = at > text && at[-1] >= '0' && at[-1] <= '9' &&
				strchr(text, '-') != NULL && strncmp(at, "(%rbp", 5) == 0;
		if (!is_local && strncmp(at, "(%rsp", 5) != 0 && strncmp(at, "[sp", 3) != 0)
			return true;
	}
	return false;
}

/* Of a line between #APP and #NO_APP. */
static bool accesses(const char *line)
{
	const char *text = line + strspn(line, " \t");
	return text[0] != '.' && text[0] != '#' && text[0] != '/' &&
	       (has_operand(text) || strncmp(text, "syscall", 7) == 0 ||
		strncmp(text, "svc", 3) == 0 || strncmp(text, "rep", 3) == 0);
}

/* .file NUMBER "FOLDER" "NAME", or without the folder. */
static void name_file(FILE *lines, int number)
{
	char line[1024], folder[512], name[512];
	int at;
	rewind(lines);
	while (fgets(line, sizeof(line), lines) != NULL) {
		int found = sscanf(line, " .file %d \"%511[^\"]\" \"%511[^\"]\"", &at, folder,
				   name);
		if (found < 2 || at != number)
			continue;
		(void)snprintf(unseen.file, sizeof(unseen.file), "%s", found == 3 ? name : folder);
	}
}

void pfs_assembly_read(const char *path)
{
	char line[1024];
	int file = -1, first = -1, number, at = 0;
	bool inside = false, is_first = unseen.count == 0;
	FILE *lines = fopen(path, "re");
	if (lines == NULL)
		return;
	while (fgets(line, sizeof(line), lines) != NULL) {
		const char *text = line + strspn(line, " \t");
		if (text[0] == '#' && strncmp(text, "#APP", 4) == 0)
			inside = true;
		else if (text[0] == '#' && strncmp(text, "#NO_APP", 7) == 0)
			inside = false;
		else if (text[0] == '.' && sscanf(text, ".loc %d %d", &number, &at) == 2)
			file = number;
		else if (inside && accesses(text) && unseen.count++ == 0) {
			first = file;
			unseen.line = at;
		}
	}
	if (is_first && unseen.count != 0 && first >= 0)
		name_file(lines, first);
	(void)fclose(lines);
}

/* ---- instructions of a program ---- */

/* x86-64's, and AArch64's. An exchange of a register with memory locks by itself. */
static const char *const fences[] = { "mfence", "lfence", "sfence", "dmb", NULL };
static const char *const locked[] = { "lock ", "ldxr", "ldaxr", "stxr",
				      "stlxr", "ldar", "stlr",  NULL };

/* What they read differs from one execution of a schedule to the next. */
static const char *const drawing[] = { "rdtsc", "rdrand", "rdseed", NULL };

static bool is_one_of(const char *instruction, const char *const *beginnings)
{
	for (; *beginnings != NULL; beginnings++) {
		if (strncmp(instruction, *beginnings, strlen(*beginnings)) == 0)
			return true;
	}
	return false;
}

static bool is_locked(const char *instruction)
{
	return is_one_of(instruction, locked) ||
	       (strncmp(instruction, "xchg", 4) == 0 && strchr(instruction, '(') != NULL);
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

/* Instructions of one kind, and the address of the first. */
struct found {
	uint32_t count;
	uintptr_t first;
	char text[32];
};

static void note(struct found *self, const char *line, const char *instruction)
{
	if (self->count++ != 0)
		return;
	self->first = (uintptr_t)strtoull(line, NULL, 16);
	size_t length = strcspn(instruction, "#<\n");
	while (length > 0 && instruction[length - 1] == ' ')
		length--;
	(void)snprintf(self->text, sizeof(self->text), "%.*s", (int)length, instruction);
}

static const struct pfs_sim_place *place_of(const struct found *self, uintptr_t bias)
{
	bool is_foreign;
	return pfs_places_of((const void *)(bias + self->first + 1), &is_foreign);
}

static void keep(struct pfs_assembly *kept, const struct found *found, uintptr_t bias)
{
	if (found->count == 0 || kept->count != 0)
		return;
	const struct pfs_sim_place *place = place_of(found, bias);
	kept->count = found->count;
	kept->line = place->line;
	(void)snprintf(kept->file, sizeof(kept->file), "%s", place->file);
}

void pfs_assembly_look(const char *path, uintptr_t bias)
{
	char line[512], more[48] = "";
	struct found orders = { .count = 0 }, accesses_memory = orders, draws = orders;
	pid_t child;
	FILE *lines = disassemble(path, &child);
	if (lines == NULL)
		return;
	while (fgets(line, sizeof(line), lines) != NULL) {
		const char *instruction = strstr(line, ":\t");
		if (instruction == NULL)
			continue;
		instruction += 2;
		bool locks = is_locked(instruction);
		if (locks || is_one_of(instruction, fences))
			note(&orders, line, instruction);
		/* clang 14 makes a redundant one of atomics of 16 bytes. */
		if (locks && strstr(instruction, "cmpxchg16b") == NULL)
			note(&accesses_memory, line, instruction);
		if (is_one_of(instruction, drawing))
			note(&draws, line, instruction);
	}
	(void)fclose(lines);
	(void)waitpid(child, NULL, 0);
	keep(&unseen, &accesses_memory, bias);
	keep(&drawn, &draws, bias);
	if (orders.count == 0)
		return;
	const struct pfs_sim_place *place = place_of(&orders, bias);
	if (orders.count > 1)
		(void)snprintf(more, sizeof(more), " and %u like it", orders.count - 1);
	pfs_warn("`%s` at %s (%s:%d)%s: assembly, or compiled without -fsanitize=thread; its "
		 "accesses are not seen",
		 orders.text, place->function, pfs_trace_base_name(place->file), place->line, more);
}
