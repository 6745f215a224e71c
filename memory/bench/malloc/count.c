/*
 * count.c - pfs-malloc-count: counts the instructions and locked instructions of malloc and free
 * exactly, by single stepping.
 *
 * usage: pfs-malloc-count [--preload=LIBRARY] CASE...
 * Prints a line for each case: its name, calls, instructions, locked instructions. Each case is a
 * process of its own, this program again with the library preloaded, which marks the counted part
 * by two int3. The loop and the PLT count, too: 8 instructions for each pair. An instruction with a
 * rep prefix counts once. Instructions of the kernel and of other threads do not count. Exit 0:
 * counted. 1: it could not be. 2: bad usage.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/command_line.h"
#include "count_cases.h"

#define KINDS 65536u /* a cache of instructions by address; a power of 2 */

enum kind { UNKNOWN, PLAIN, LOCKED, REPEATED, MARK };

struct tally {
	uint64_t instructions, locked;
};

struct known {
	uint64_t address;
	enum kind kind;
};

static struct known known[KINDS];

static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = { 0x26, 0x2E, 0x36, 0x3E, 0x64, 0x65,
					    0x66, 0x67, 0xF0, 0xF2, 0xF3 };

	return memchr(prefixes, byte, sizeof(prefixes)) != NULL;
}

/* Decode an instruction's first bytes: prefixes, REX, opcode, and the operand of xchg. */
static enum kind decode(const uint8_t *bytes, size_t size)
{
	bool locked = false, repeats = false;
	size_t at = 0;

	if (bytes[0] == 0xCC)
		return MARK;
	for (; at < size - 2 && is_prefix(bytes[at]); at++) {
		locked = locked || bytes[at] == 0xF0;
		repeats = repeats || bytes[at] == 0xF2 || bytes[at] == 0xF3;
	}
	if (at < size - 2 && (bytes[at] & 0xF0) == 0x40)
		at++;
	if (bytes[at] == 0x86 || bytes[at] == 0x87) /* xchg with memory is always locked */
		locked = locked || bytes[at + 1] < 0xC0;
	bool is_string = bytes[at] >= 0xA4 && bytes[at] <= 0xAF && (bytes[at] & 0xFE) != 0xA8;
	if (locked)
		return LOCKED;
	return repeats && is_string ? REPEATED : PLAIN;
}

static enum kind kind_at(pid_t child, uint64_t address)
{
	struct known *entry = &known[(address ^ address >> 16) % KINDS];

	if (entry->kind == UNKNOWN || entry->address != address) {
		long word = ptrace(PTRACE_PEEKTEXT, child, (void *)address, NULL);
		uint8_t bytes[sizeof(word)];
		memcpy(bytes, &word, sizeof(word));
		*entry = (struct known){ address, decode(bytes, sizeof(bytes)) };
	}
	return entry->kind;
}

static uint64_t address_of(pid_t child)
{
	return (uint64_t)ptrace(PTRACE_PEEKUSER, child, (void *)offsetof(struct user, regs.rip),
				NULL);
}

/* Continue by one step, or up to a mark; false: the child ended. */
static bool resume(pid_t child, bool step)
{
	int status = 0, signal = 0;

	do {
		if (ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL,
			   (void *)(intptr_t)signal) != 0 ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			return false;
		signal = WSTOPSIG(status);
	} while (signal != SIGTRAP);
	return true;
}

/* The child has just passed its first mark. */
static bool count(pid_t child, struct tally *tally)
{
	uint64_t last = 0;

	for (;;) {
		uint64_t address = address_of(child);
		enum kind kind = kind_at(child, address);
		if (kind == MARK)
			return true;
		if (kind != REPEATED || address != last)
			tally->instructions++;
		tally->locked += kind == LOCKED;
		last = address;
		if (!resume(child, true))
			return false;
	}
}

static void become_child(const char *library, const char *name)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
		fprintf(stderr, "pfs-malloc-count: no tracing here: %s\n", strerror(errno));
		_exit(1);
	}
	if (library != NULL)
		setenv("LD_PRELOAD", library, 1);
	execl("/proc/self/exe", "pfs-malloc-count", "--child", name, (char *)NULL);
	_exit(1);
}

/* A step switches twice between processes, which is four times as slow across two CPUs. */
static void stay_here(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET((unsigned)sched_getcpu(), &here);
	(void)sched_setaffinity(0, sizeof(here), &here);
}

static bool count_case(const char *library, const struct pfs_count_case *wanted)
{
	struct tally tally = { 0, 0 };
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		become_child(library, wanted->name);
	memset(known, 0, sizeof(known)); /* valid only for one process */
	bool good = child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
		    resume(child, false) && count(child, &tally) &&
		    ptrace(PTRACE_CONT, child, NULL, NULL) == 0;
	if (good) /* the second mark traps, and the child runs to its end */
		good = waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
		       ptrace(PTRACE_CONT, child, NULL, NULL) == 0 &&
		       waitpid(child, &status, 0) == child && WIFEXITED(status) &&
		       WEXITSTATUS(status) == 0;
	if (!good) {
		fprintf(stderr, "pfs-malloc-count: %s could not be counted\n", wanted->name);
		return false;
	}
	printf("%s %u %llu %llu\n", wanted->name, wanted->calls,
	       (unsigned long long)tally.instructions, (unsigned long long)tally.locked);
	return fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
	const char *library = NULL;
	int first = 1;

	if (argc == 3 && strcmp(argv[1], "--child") == 0)
		return pfs_count_case_run(pfs_count_case_find(argv[2]));
	const struct pfs_option options[] = {
		PFS_TEXT_OPTION("preload", "LIBRARY", &library, "the allocator; default: glibc's"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-malloc-count", .words = "CASE...", .words_min = 1,
		.words_max = INT_MAX, .options = options, .option_count = 1,
		.about = "instructions and locked instructions of malloc and free, by single steps",
		.after = "cases: " PFS_COUNT_CASES "\n",
	};
	/* clang-format on */
	int status = pfs_command_line_read(&line, argc, argv, &first);
	if (status != PFS_GO_ON)
		return status;
	for (int i = first; i < argc; i++)
		if (pfs_count_case_find(argv[i]) == NULL)
			return pfs_command_refuse(line.program, PFS_EXIT_WRONG_USE,
						  "unknown case "
						  "'%.80s'; there are " PFS_COUNT_CASES,
						  argv[i]);
	stay_here();
	for (int i = first; i < argc; i++)
		if (!count_case(library, pfs_count_case_find(argv[i])))
			return 1;
	return pfs_command_end(line.program, 0);
}
