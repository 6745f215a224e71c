/*
 * pfs_trace.c - pfs-trace: look at trace files, cut a window out of one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"

#define EXIT_FAILED 1
#define EXIT_WRONG_INPUT 2
#define VERSION "0.1.0"

static const char usage[] =
	"pfs-trace - look at trace files, see docs/trace-format.md\n\n"
	"usage: pfs-trace info FILE...        what is in it\n"
	"       pfs-trace dump FILE [--events=N]\n"
	"                                     one line for each event, the first N\n"
	"       pfs-trace check FILE...       is it whole, or up to where?\n"
	"       pfs-trace cut IN OUT [--from=N] [--events=N] [--bytes=N] [--sizes=MIN-MAX]\n"
	"                                     N events from event N on, no more than so many\n"
	"                                     bytes, only objects of so many bytes; objects that\n"
	"                                     live when the window begins come first, as prelude\n"
	"       pfs-trace --help | --version\n\n"
	"exit: 0 fine, 1 the output could not be written, 2 wrong input or a damaged trace\n";

/* What the command line says. */
struct request {
	const char *files[64];
	uint32_t file_count;
	struct pfs_cut cut;
};

static int refuse(const char *what, const char *value, const char *mend)
{
	char quoted[161];

	snprintf(quoted, sizeof(quoted), "%s", value);
	fprintf(stderr, "pfs-trace: %s '%s': %s\n", what, pfs_one_line(quoted), mend);
	return EXIT_WRONG_INPUT;
}

static int say(const struct pfs_message *message)
{
	fprintf(stderr, "pfs-trace: %s\n", message->text);
	return EXIT_WRONG_INPUT;
}

static bool take_number(const char *text, char stop, const char **rest, uint64_t *value)
{
	char *end = NULL;

	errno = 0;
	*value = strtoull(text, &end, 10);
	*rest = end;
	return text[0] >= '0' && text[0] <= '9' && errno == 0 && *end == stop;
}

/* 0, or the exit code after a refusal. */
static int take_flag(struct request *request, const char *flag)
{
	static const struct { const char *name; size_t offset; } numbers[] = {
		{"--from=", offsetof(struct pfs_cut, from)},
		{"--events=", offsetof(struct pfs_cut, events)},
		{"--bytes=", offsetof(struct pfs_cut, bytes)},
	};
	const char *rest = NULL;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		size_t size = strlen(numbers[i].name);
		uint64_t *value = (uint64_t *)(void *)((char *)&request->cut + numbers[i].offset);
		if (strncmp(flag, numbers[i].name, size) != 0)
			continue;
		return take_number(flag + size, '\0', &rest, value)
			       ? 0 : refuse("flag", flag, "give a whole number");
	}
	if (strncmp(flag, "--sizes=", 8) != 0)
		return refuse("unknown flag", flag, "--help lists them");
	if (!take_number(flag + 8, '-', &rest, &request->cut.size_min) ||
	    !take_number(rest + 1, '\0', &rest, &request->cut.size_max) ||
	    request->cut.size_max < request->cut.size_min)
		return refuse("flag", flag, "give two whole numbers, as in --sizes=16-256");
	return 0;
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

	if (request->file_count != 1)
		return refuse("dump", "", "name one file");
	if (pfs_trace_each(request->files[0], dump_event, &left, &message) != PFS_OK)
		return say(&message);
	return 0;
}

/* What is there of it is whole; is it there to its end? */
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
		printf("%s: unfinished: whole up to event %llu, what came behind it is missing\n",
		       path, (unsigned long long)info->events);
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
				    ? say(&message) : say_how_far(path);
		status = found != 0 ? found : status;
	}
	return request->file_count != 0 ? status : refuse("check", "", "name a file");
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
	return request->file_count != 0 ? 0 : refuse("info", "", "name a file");
}

static int cut(const struct request *request)
{
	struct pfs_message message;

	if (request->file_count != 2)
		return refuse("cut", "", "name two files, the trace and the one to write");
	if (pfs_trace_cut(request->files[0], request->files[1], &request->cut, &message) != PFS_OK)
		return say(&message);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const struct request *request);
	} commands[] = {{"info", info}, {"dump", dump}, {"check", check}, {"cut", cut}};
	struct request request = {
		.cut = {.events = UINT64_MAX, .bytes = UINT64_MAX, .size_max = UINT64_MAX},
	};

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return fputs(usage, stdout) < 0;
		if (strcmp(argv[i], "--version") == 0)
			return puts("pfs-trace " VERSION) < 0;
	}
	for (int i = 2; i < argc; i++) {
		if (strncmp(argv[i], "--", 2) == 0) {
			int status = take_flag(&request, argv[i]);
			if (status != 0)
				return status;
		} else if (request.file_count == sizeof(request.files) / sizeof(request.files[0])) {
			return refuse("too many files from", argv[i], "give 64 at most");
		} else {
			request.files[request.file_count++] = argv[i];
		}
	}
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		int status = commands[i].run(&request);
		if (fflush(stdout) == 0 && ferror(stdout) == 0)
			return status;
		fprintf(stderr, "pfs-trace: standard output: cannot be written\n");
		return EXIT_FAILED;
	}
	return refuse("command", argc > 1 ? argv[1] : "", "choose from info, dump, check, cut");
}
