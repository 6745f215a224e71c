/*
 * pfs_mem.c - pfs-mem: who holds the memory of a program, living or dead, as its box says.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

static const struct pfs_command *const commands[] = {
	&pfs_command_list,   &pfs_command_top,     &pfs_command_show,   &pfs_command_truncate,
	&pfs_command_enable, &pfs_command_disable, &pfs_command_check,  &pfs_command_clean,
	&pfs_command_sql,    &pfs_command_serve,   &pfs_command_report, &pfs_command_profile,
	&pfs_command_pprof,  &pfs_command_flame,   &pfs_command_walk,
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* ---- what commands share ---- */

int pfs_complain(int status, const char *format, ...)
{
	char text[1024];
	va_list list;
	va_start(list, format);
	(void)vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	(void)fprintf(stderr, "pfs-mem: %s\n", pfs_one_line(text));
	return status;
}

int pfs_complain_of(const struct pfs_message *message)
{
	return pfs_complain(PFS_EXIT_REFUSED, "%s", message->text);
}

char *pfs_time_text(uint64_t realtime_ns, char *text, size_t text_bytes)
{
	struct tm parts;
	time_t seconds = (time_t)(realtime_ns / 1000000000u);
	if (realtime_ns == 0 || localtime_r(&seconds, &parts) == NULL ||
	    strftime(text, text_bytes, "%Y-%m-%d %H:%M:%S", &parts) == 0)
		*text = '\0';
	return text;
}

char *pfs_who_text(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint32_t who,
		   char *text, size_t text_bytes)
{
	const struct pfs_seen_account *account;
	switch (table) {
	case PFS_TABLE_THREAD:
		(void)snprintf(text, text_bytes, "%llu %s",
			       (unsigned long long)snapshot->threads[who].thread_id,
			       snapshot->threads[who].name);
		break;
	case PFS_TABLE_ACCOUNT:
		account = &snapshot->accounts[who];
		(void)snprintf(text, text_bytes, "%s@%s",
			       account->has_user ? account->user_name : "NULL",
			       account->has_host ? account->host_name : "NULL");
		break;
	case PFS_TABLE_USER:
		account = &snapshot->users[who];
		(void)snprintf(text, text_bytes, "%s",
			       account->has_user ? account->user_name : "NULL");
		break;
	case PFS_TABLE_HOST:
		account = &snapshot->hosts[who];
		(void)snprintf(text, text_bytes, "%s",
			       account->has_host ? account->host_name : "NULL");
		break;
	default: (void)snprintf(text, text_bytes, "all");
	}
	return text;
}

void pfs_remark(const struct pfs_snapshot *snapshot)
{
	char died[160];
	if (!snapshot->info.is_live)
		(void)pfs_complain(0, "process %u %s", snapshot->info.pid,
				   pfs_box_died(&snapshot->info, died, sizeof(died)));
	if (snapshot->rows_missed != 0)
		(void)pfs_complain(0,
				   "%llu rows changed while they were read, each time: their "
				   "COUNT and SUM columns may be of different moments",
				   (unsigned long long)snapshot->rows_missed);
	if (snapshot->damaged != 0)
		(void)pfs_complain(0, "%llu damaged records were left out; the first: %s",
				   (unsigned long long)snapshot->damaged, snapshot->damage.text);
}

/* ---- arguments ---- */

static enum pfs_status take_format(struct pfs_arguments *arguments, const char *text,
				   struct pfs_message *message)
{
	static const char *const names[] = { "text", "csv", "json", "tab", "table" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			arguments->format = (enum pfs_format)(i % PFS_FORMATS);
			return PFS_OK;
		}
	return pfs_read_choice("format", text, "text (table), csv, json, tab", message);
}

static enum pfs_status take_by(struct pfs_arguments *arguments, const char *text,
			       struct pfs_message *message)
{
	enum pfs_box_table table = pfs_table_find(text);
	arguments->by_instrument = strcmp(text, "instrument") == 0;
	arguments->by = arguments->by_instrument ? PFS_TABLE_GLOBAL : table;
	if (arguments->by_instrument || table < PFS_TABLE_GLOBAL)
		return PFS_OK;
	return pfs_read_choice("by", text, "instrument, thread, account, user, host", message);
}

enum pfs_status pfs_take_option(void *context, const struct pfs_option *option, const char *text,
				struct pfs_message *message)
{
	struct pfs_arguments *arguments = context;
	switch (option->key) {
	case PFS_KEY_FORMAT: return take_format(arguments, text, message);
	case PFS_KEY_BY: return take_by(arguments, text, message);
	case PFS_KEY_COUNT:
		return pfs_read_number(option->name, text, 1, UINT32_MAX, &arguments->count,
				       message);
	case PFS_KEY_ONCE: arguments->once = true; break;
	case PFS_KEY_ALL: arguments->all = true; break;
	case PFS_KEY_MYSQL: arguments->mysql = text; break;
	case PFS_KEY_HTTP: arguments->http = text; break;
	case PFS_KEY_TOKEN: arguments->token_file = text; break;
	case PFS_KEY_PASSWORD: arguments->password_file = text; break;
	case PFS_KEY_OUT: arguments->out = text; break;
	case PFS_KEY_DOCUMENT: arguments->document = text; break;
	case PFS_KEY_BASE: arguments->base = text; break;
	case PFS_KEY_SYMBOLIZED: arguments->symbolized = true; break;
	case PFS_KEY_LIVE: arguments->of_total = false; break;
	case PFS_KEY_TOTAL: arguments->of_total = true; break;
	default: arguments->lg_prof_sample = text; break;
	}
	return PFS_OK;
}

static int run(const struct pfs_command *command, int argc, char **argv)
{
	char name[64], about[256];
	struct pfs_arguments arguments = { .format = command->format,
					   .by = PFS_TABLE_GLOBAL,
					   .by_instrument = true,
					   .count = 20 };
	const char *behind = strchr(command->doc, '\v');
	/* clang-format off */
	struct pfs_command_line line = {
		.program = name, .words = command->words, .about = about,
		.after = behind != NULL ? behind + 1 : NULL, .options = command->options,
		.words_min = command->words_min, .words_max = command->words_max,
		.context = &arguments,
	};
	/* clang-format on */
	int next = 0;
	(void)snprintf(name, sizeof(name), "pfs-mem %s", command->name);
	(void)snprintf(about, sizeof(about), "%.*s", (int)strcspn(command->doc, "\v"),
		       command->doc);
	while (line.options != NULL && line.options[line.option_count].name != NULL)
		line.option_count++;
	int status = pfs_command_line_read(&line, argc, argv, &next);
	if (status != PFS_GO_ON)
		return status;
	while (next < argc)
		arguments.words[arguments.word_count++] = argv[next++];
	return pfs_command_end("pfs-mem", command->run(&arguments));
}

/* ---- the command ---- */

static int help(void)
{
	(void)printf("pfs-mem - who holds the memory of a program, as its box says\n\n");
	for (size_t i = 0; i < COMMANDS; i++) {
		const char *doc = commands[i]->doc;
		char usage[80];
		(void)snprintf(usage, sizeof(usage), "%s %s", commands[i]->name,
			       commands[i]->words);
		(void)printf("%s pfs-mem %-32s %.*s\n", i == 0 ? "usage:" : "      ", usage,
			     (int)strcspn(doc, "\v"), doc);
	}
	(void)printf("       pfs-mem %-32s run a program so that all it allocates is counted\n",
		     "run [OPTION...] COMMAND");
	(void)printf("       pfs-mem COMMAND --help | --help | --version\n\n"
		     "TARGET: a process id; a box file; 'last', the box with the newest start,\n"
		     "living or dead. Boxes are in $PFS_MEM_DIR, else in /dev/shm/pfslab-<uid>/.\n"
		     "TABLE: thread, account, user, host, global, or MySQL's name of it.\n\n"
		     "exit: 0 fine, 1 the input was refused or the system failed, 2 bad usage\n");
	return pfs_command_end("pfs-mem", PFS_EXIT_FINE);
}

/* Only the owner of a box can make it shorter; nothing of it is there to be read then. */
static void on_cut(int signal)
{
	static const char line[] = "pfs-mem: the box was cut while it was read: nothing in it can "
				   "be trusted\n";
	(void)signal;
	ssize_t written = write(STDERR_FILENO, line, sizeof(line) - 1);
	(void)written;
	_exit(PFS_EXIT_REFUSED);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	(void)signal(SIGBUS, on_cut);
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
