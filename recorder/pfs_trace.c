/*
 * pfs_trace.c - pfs-trace: show trace files, cut a window out of one.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "cut.h"

static const char program[] = "pfs-trace";
static const char exit_text[] = "exit 0: success. 1: the output could not be written. 2: wrong "
				"input, or a damaged trace.\n";

/* The parsed command line. */
struct request {
	char **files;
	uint32_t file_count;
	struct pfs_cut cut;
};

static int say(const struct pfs_message *message)
{
	return pfs_command_refuse(program, PFS_EXIT_WRONG_USE, "%s", message->text);
}

static bool take_number(const char *text, char stop, const char **rest, uint64_t *value)
{
	char *end = NULL;

	errno = 0;
	*value = strtoull(text, &end, 10);
	*rest = end;
	return text[0] >= '0' && text[0] <= '9' && errno == 0 && *end == stop;
}

static enum pfs_status read_sizes(void *context, const struct pfs_option *option, const char *text,
				  struct pfs_message *message)
{
	struct request *request = context;
	const char *rest = NULL;

	if (take_number(text, '-', &rest, &request->cut.size_min) &&
	    take_number(rest + 1, '\0', &rest, &request->cut.size_max) &&
	    request->cut.size_max >= request->cut.size_min)
		return PFS_OK;
	snprintf(message->text, sizeof(message->text),
		 "--%s '%.80s': give two whole numbers, "
		 "as in --sizes=16-256",
		 option->name, text);
	return PFS_BAD_CONFIG;
}

static enum pfs_status dump_event(void *context, const struct pfs_trace_info *info,
				  const struct pfs_trace_event *event)
{
	uint64_t *left = context;

	if (*left == 0)
		return PFS_FULL;
	--*left;
	printf("%llu ns thread %u %s %u", (unsigned long long)(event->time * info->ns_per_tick),
	       event->thread, event->kind == PFS_TRACE_FREE ? "free" : "allocate", event->id);
	if (event->kind == PFS_TRACE_ALLOCATE)
		printf(" size %llu", (unsigned long long)event->size);
	putchar('\n');
	return ferror(stdout) != 0 ? PFS_FULL : PFS_OK;
}

static enum pfs_status pass(void *context, const struct pfs_trace_info *info,
			    const struct pfs_trace_event *event)
{
	(void)context, (void)info, (void)event;
	return PFS_OK;
}

static int dump(const struct request *request)
{
	struct pfs_message message;
	uint64_t left = request->cut.events;

	if (pfs_trace_each(request->files[0], dump_event, &left, &message) != PFS_OK)
		return say(&message);
	return 0;
}

/* What is there is correct; does it reach to the end? */
static int say_how_far(const char *path)
{
	struct pfs_message message;
	struct pfs_trace_reader *reader = NULL;

	if (pfs_trace_reader_open(path, &reader, &message) != PFS_OK)
		return say(&message);
	const struct pfs_trace_info *info = pfs_trace_reader_info(reader);
	if (info->finished)
		printf("%s: whole\n", path);
	else
		printf("%s: unfinished: complete up to event %llu, later ones are missing\n", path,
		       (unsigned long long)info->events);
	pfs_trace_reader_close(reader);
	return 0;
}

static int check(const struct request *request)
{
	struct pfs_message message;
	int status = 0;

	for (uint32_t i = 0; i < request->file_count; i++) {
		const char *path = request->files[i];
		int found = pfs_trace_each(path, pass, NULL, &message) != PFS_OK
				    ? say(&message)
				    : say_how_far(path);
		status = found != 0 ? found : status;
	}
	return status;
}

static int info(const struct request *request)
{
	struct pfs_message message;

	for (uint32_t i = 0; i < request->file_count; i++) {
		if (i != 0)
			putchar('\n');
		if (pfs_trace_print_info(request->files[i], &message) != PFS_OK)
			return say(&message);
	}
	return 0;
}

static int cut(const struct request *request)
{
	struct pfs_message message;

	if (pfs_trace_cut(request->files[0], request->files[1], &request->cut, &message) != PFS_OK)
		return say(&message);
	return 0;
}

struct command {
	const char *name, *full, *words, *about;
	int words_min, words_max;
	size_t option_count; /* of those in run_command */
	int (*run)(const struct request *request);
};

/* clang-format off */
static const struct command commands[] = {
	{"info", "pfs-trace info", "FILE...", "print a summary", 1, INT_MAX, 0, info},
	{"dump", "pfs-trace dump", "FILE", "print one line per event", 1, 1, 1, dump},
	{"check", "pfs-trace check", "FILE...", "check that it is complete, or up to which "
						"event", 1, INT_MAX, 0,
	 check},
	{"cut", "pfs-trace cut", "IN OUT", "write a window of a trace as a new trace; objects that "
					   "are alive at its start come first, as the "
					   "prelude", 2, 2, 4, cut},
};
/* clang-format on */
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int run_command(const struct command *command, int argc, char **argv)
{
	struct request request = {
		.cut = { .events = UINT64_MAX, .bytes = UINT64_MAX, .size_max = UINT64_MAX },
	};
	const struct pfs_option options[] = {
		PFS_NUMBER_OPTION("events", "N", &request.cut.events, 0, UINT64_MAX,
				  "at most N events"),
		PFS_NUMBER_OPTION("from", "N", &request.cut.from, 0, UINT64_MAX,
				  "start at this event"),
		PFS_NUMBER_OPTION("bytes", "N", &request.cut.bytes, 0, UINT64_MAX,
				  "maximum size of the new trace"),
		PFS_READ_OPTION("sizes", "MIN-MAX", read_sizes, "only objects of MIN to MAX bytes"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = command->full, .words = command->words, .about = command->about,
		.after = exit_text, .options = options, .option_count = command->option_count,
		.words_min = command->words_min, .words_max = command->words_max,
		.context = &request,
	};
	/* clang-format on */
	int next = 0, status = pfs_command_line_read(&line, argc, argv, &next);

	if (status != PFS_GO_ON)
		return status;
	request.files = argv + next;
	request.file_count = (uint32_t)(argc - next);
	return pfs_command_end(program, command->run(&request));
}

static int help(void)
{
	printf("usage: pfs-trace COMMAND [OPTION...] FILE...; see pfs-trace COMMAND --help\n"
	       "reads trace files (format: docs/reference/trace-format.md)\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-7s %-9s %.*s\n", commands[i].name, commands[i].words,
		       (int)strcspn(commands[i].about, ";"), commands[i].about);
	printf("\n  -h, --help        this text\n  -V, --version     the version\n\n%s", exit_text);
	return pfs_command_end(program, 0);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "", *names[COMMANDS];

	if (pfs_command_is_help(word))
		return help();
	if (pfs_command_is_version(word))
		return pfs_command_version(program);
	for (size_t i = 0; i < COMMANDS; i++) {
		names[i] = commands[i].name;
		if (strcmp(word, names[i]) == 0)
			return run_command(&commands[i], argc - 1, argv + 1);
	}
	return pfs_command_unknown(program, word, names, COMMANDS);
}
