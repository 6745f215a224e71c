/*
 * pfs_mem.c - pfs-mem: who holds the memory of a program, living or dead, as its box says.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "command.h"

static const struct pfs_command *const commands[] = {
	&pfs_command_list,   &pfs_command_top,     &pfs_command_show,   &pfs_command_truncate,
	&pfs_command_enable, &pfs_command_disable, &pfs_command_check,  &pfs_command_clean,
	&pfs_command_sql,    &pfs_command_serve,   &pfs_command_report, &pfs_command_profile,
	&pfs_command_pprof,  &pfs_command_flame,   &pfs_command_walk,   &pfs_command_corruption,
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int run(const struct pfs_command *command, int argc, char **argv)
{
	char name[64], about[256];
	const char *behind = strchr(command->doc, '\v');
	/* clang-format off */
	struct pfs_command_line line = {
		.program = name, .words = command->words, .about = about,
		.after = behind != NULL ? behind + 1 : NULL, .options = command->options,
		.words_min = command->words_min, .words_max = command->words_max,
		.context = &pfs_arguments,
	};
	/* clang-format on */
	int next = 0;
	pfs_arguments.format = command->format;
	(void)snprintf(name, sizeof(name), "pfs-mem %s", command->name);
	(void)snprintf(about, sizeof(about), "%.*s", (int)strcspn(command->doc, "\v"),
		       command->doc);
	while (line.options != NULL && line.options[line.option_count].name != NULL)
		line.option_count++;
	int status = pfs_command_line_read(&line, argc, argv, &next);
	if (status != PFS_GO_ON)
		return status;
	while (next < argc)
		pfs_arguments.words[pfs_arguments.word_count++] = argv[next++];
	return pfs_command_end("pfs-mem", command->run(&pfs_arguments));
}

/* ---- the command ---- */

static int help(void)
{
	(void)printf("pfs-mem - shows who holds the memory of a program, from its box\n\n");
	for (size_t i = 0; i < COMMANDS; i++) {
		const char *doc = commands[i]->doc;
		char usage[80];
		(void)snprintf(usage, sizeof(usage), "%s %s", commands[i]->name,
			       commands[i]->words);
		(void)printf("%s pfs-mem %-32s %.*s\n", i == 0 ? "usage:" : "      ", usage,
			     (int)strcspn(doc, "\v"), doc);
	}
	(void)printf("       pfs-mem %-32s run a program and count all its allocations\n",
		     "run [OPTION...] COMMAND");
	(void)printf(
		"       pfs-mem COMMAND --help | --help | --version\n\n"
		"TARGET: a process id; a box file; 'last', the box with the newest start,\n"
		"running or dead. Boxes are in $PFS_MEM_DIR, else in /dev/shm/pfslab-<uid>/.\n"
		"TABLE: thread, account, user, host, global, or MySQL's name of it.\n\n"
		"exit: 0 success, 1 the input was refused or the system failed, 2 bad usage\n");
	return pfs_command_end("pfs-mem", PFS_EXIT_FINE);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const char *names[COMMANDS + 1] = { "run" };
	if (pfs_command_is_help(word))
		return help();
	if (pfs_command_is_version(word))
		return pfs_command_version("pfs-mem");
	if (strcmp(word, "run") == 0)
		return pfs_run_program(argc - 1, argv + 1);
	for (size_t i = 0; i < COMMANDS; i++) {
		names[i + 1] = commands[i]->name;
		if (strcmp(word, commands[i]->name) == 0)
			return run(commands[i], argc - 1, argv + 1);
	}
	return pfs_command_unknown("pfs-mem", word, names, COMMANDS + 1);
}
