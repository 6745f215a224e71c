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
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

static const struct pfs_command *const commands[] = {
	&pfs_command_list,   &pfs_command_top,     &pfs_command_show,  &pfs_command_truncate,
	&pfs_command_enable, &pfs_command_disable, &pfs_command_check, &pfs_command_clean,
	&pfs_command_sql,    &pfs_command_serve,   &pfs_command_report,
	&pfs_command_profile, &pfs_command_pprof,   &pfs_command_flame,
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
	default:
		(void)snprintf(text, text_bytes, "all");
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
		(void)pfs_complain(0, "%llu rows changed while they were read, each time: their "
				   "COUNT and SUM columns may be of different moments",
				   (unsigned long long)snapshot->rows_missed);
	if (snapshot->damaged != 0)
		(void)pfs_complain(0, "%llu damaged records were left out; the first: %s",
				   (unsigned long long)snapshot->damaged, snapshot->damage.text);
}

/* ---- arguments ---- */

struct parse {
	const struct pfs_command *command;
	struct pfs_arguments *arguments;
};

static error_t refuse_value(const char *option, const char *value, const char *mend)
{
	exit(pfs_complain(PFS_EXIT_USAGE, "%s '%.100s': %s", option, value, mend));
}

static void take_format(const char *text, struct pfs_arguments *arguments)
{
	static const char *const names[] = { "text", "csv", "json", "tab", "table" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			arguments->format = (enum pfs_format)(i % PFS_FORMATS);
			return;
		}
	(void)refuse_value("--format", text, "choose text (table), csv, json, or tab");
}

static void take_by(const char *text, struct pfs_arguments *arguments)
{
	enum pfs_box_table table = pfs_table_find(text);
	arguments->by_instrument = strcmp(text, "instrument") == 0;
	arguments->by = arguments->by_instrument ? PFS_TABLE_GLOBAL : table;
	if (!arguments->by_instrument && table >= PFS_TABLE_GLOBAL)
		(void)refuse_value("--by", text,
				   "choose instrument, thread, account, user, or host");
}

static void take_count(const char *text, struct pfs_arguments *arguments)
{
	char *end;
	errno = 0;
	arguments->count = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' ||
	    arguments->count == 0 || arguments->count > UINT32_MAX)
		(void)refuse_value("--count", text, "give a whole number from 1 on");
}

static error_t take(int key, char *text, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct pfs_arguments *arguments = parse->arguments;
	switch (key) {
	case PFS_KEY_FORMAT: take_format(text, arguments); return 0;
	case PFS_KEY_BY: take_by(text, arguments); return 0;
	case PFS_KEY_COUNT: take_count(text, arguments); return 0;
	case PFS_KEY_ONCE: arguments->once = true; return 0;
	case PFS_KEY_ALL: arguments->all = true; return 0;
	case PFS_KEY_MYSQL: arguments->mysql = text; return 0;
	case PFS_KEY_HTTP: arguments->http = text; return 0;
	case PFS_KEY_TOKEN: arguments->token_file = text; return 0;
	case PFS_KEY_PASSWORD: arguments->password_file = text; return 0;
	case PFS_KEY_OUT: arguments->out = text; return 0;
	case PFS_KEY_DOCUMENT: arguments->document = text; return 0;
	case PFS_KEY_BASE: arguments->base = text; return 0;
	case PFS_KEY_SYMBOLIZED: arguments->symbolized = true; return 0;
	case PFS_KEY_LIVE: arguments->of_total = false; return 0;
	case PFS_KEY_TOTAL: arguments->of_total = true; return 0;
	case PFS_KEY_LG_PROF_SAMPLE: arguments->lg_prof_sample = text; return 0;
	case ARGP_KEY_ARG:
		if (arguments->word_count >= parse->command->words_max)
			exit(pfs_complain(PFS_EXIT_USAGE, "%s: '%.100s' is one too many: "
					  "pfs-mem %s %s", parse->command->name, text,
					  parse->command->name, parse->command->words));
		arguments->words[arguments->word_count++] = text;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool is_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "--usage") == 0 ||
	       strcmp(word, "-?") == 0 || strcmp(word, "-h") == 0;
}

static bool is_version(const char *word)
{
	return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0;
}

static int finish(void)
{
	return fflush(stdout) == 0 && ferror(stdout) == 0 ? PFS_EXIT_FINE : PFS_EXIT_REFUSED;
}

int pfs_say_version(void)
{
	(void)puts("pfs-mem 0.1.0"); /* the project's, as memory.mem.described checks */
	return finish();
}

static int run(const struct pfs_command *command, int argc, char **argv)
{
	char name[64];
	struct pfs_arguments arguments = { .format = command->format, .by = PFS_TABLE_GLOBAL,
					   .by_instrument = true, .count = 20 };
	struct parse parse = { command, &arguments };
	const struct argp argp = { command->options, take, command->words, command->doc,
				   NULL, NULL, NULL };
	int next = 0;
	(void)snprintf(name, sizeof(name), "pfs-mem %s", command->name);
	argv[0] = name;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (is_version(argv[i]))
			return pfs_say_version();
		if (is_help(argv[i])) {
			argp_help(&argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, name);
			return finish();
		}
	}
	/* argp says more than one line, so it says nothing: it stopped behind what it refuses. */
	const char *const last = argc > 1 ? argv[argc - 1] : name;
	if (argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, &next, &parse) != 0)
		return pfs_complain(PFS_EXIT_USAGE,
				    "%s: option '%.100s' is unknown, or its value is: try --help",
				    command->name,
				    next > 1 && next <= argc ? argv[next - 1] : last);
	if (arguments.word_count < command->words_min)
		return pfs_complain(PFS_EXIT_USAGE, "%s: say more: pfs-mem %s %s", command->name,
				    command->name, command->words);
	return command->run(&arguments);
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
	return finish();
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
	if (is_help(word))
		return help();
	if (is_version(word))
		return pfs_say_version();
	if (strcmp(word, "run") == 0)
		return pfs_run_program(argc - 1, argv + 1);
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(word, commands[i]->name) == 0)
			return run(commands[i], argc - 1, argv + 1);
	if (argc < 2)
		return pfs_complain(PFS_EXIT_USAGE, "say what to do: pfs-mem --help names it");
	return pfs_complain(PFS_EXIT_USAGE, "command '%.100s' is unknown: pfs-mem --help names "
			    "them", word);
}
