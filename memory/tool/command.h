/*
 * command.h - what the commands of pfs-mem share: their arguments, and how they end.
 */
#ifndef PFS_MEM_COMMAND_H
#define PFS_MEM_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/command_line.h"
#include "memory/box/reader.h"
#include "memory/tool/sheet.h"

#define PFS_EXIT_FINE 0
#define PFS_EXIT_REFUSED 1 /* the input was refused, or the system failed */
#define PFS_EXIT_USAGE 2

#define PFS_WORDS_MAX 16

struct pfs_arguments {
	const char *words[PFS_WORDS_MAX];
	int word_count;
	enum pfs_format format;
	enum pfs_box_table by;
	bool by_instrument;
	uint64_t count;
	bool once, all;
	const char *mysql, *password_file, *out;
	const char *document, *base, *since, *lg_prof_sample;
	bool symbolized, of_total, at_peak, by_name, history;
	uint64_t older_ns, newer_ns, seconds;
	const char *rules;
	const char *http, *token_file;
	bool allow_changes, allow_remote;
	uint64_t idle_s;
};

/* What the options of the command take. One command runs in a process. */
extern struct pfs_arguments pfs_arguments;

/* Options of commands, into fields of pfs_arguments; letter: the short option, 0: none. */
#define PFS_MEM_TEXT(word, letter, shape, field, say)                             \
	{                                                                         \
		.name = (word), .key = (letter), .value = (shape), .help = (say), \
		.kind = PFS_OPTION_TEXT, .place.text = &pfs_arguments.field       \
	}
#define PFS_MEM_SWITCH(word, letter, field, say)                                           \
	{                                                                                  \
		.name = (word), .key = (letter), .help = (say), .kind = PFS_OPTION_SWITCH, \
		.place.flag = &pfs_arguments.field                                         \
	}
#define PFS_MEM_READ(word, letter, shape, with, say)                              \
	{                                                                         \
		.name = (word), .key = (letter), .value = (shape), .help = (say), \
		.kind = PFS_OPTION_READ, .read = (with)                           \
	}
/* Of tables that show the largest first. */
#define PFS_MEM_COUNT                                                                            \
	{                                                                                        \
		.name = "count", .key = 'n', .value = "N", .help = "at most N rows; default 20", \
		.kind = PFS_OPTION_NUMBER, .place.number = &pfs_arguments.count, .low = 1,       \
		.high = UINT32_MAX                                                               \
	}
pfs_option_read pfs_take_format, pfs_take_by, pfs_take_live;

struct pfs_command {
	const char *name;
	const char *words; /* as the usage names them */
	int words_min, words_max;
	const char *doc;
	const struct pfs_option *options; /* ended by one without a name; NULL: none */
	enum pfs_format format;           /* without --format */
	int (*run)(const struct pfs_arguments *arguments);
};

extern const struct pfs_command pfs_command_list, pfs_command_top, pfs_command_show,
	pfs_command_truncate, pfs_command_enable, pfs_command_disable, pfs_command_check,
	pfs_command_clean, pfs_command_sql, pfs_command_serve, pfs_command_report,
	pfs_command_pprof, pfs_command_flame, pfs_command_profile, pfs_command_walk,
	pfs_command_corruption;

/* pfs-mem profile --history. Returns the exit status. */
int pfs_show_history(const struct pfs_arguments *arguments);

/* pfs-mem run, with its words. Returns only if nothing was run. */
int pfs_run_program(int argc, char **argv);

/* Write bytes to a file, "-": standard output. Returns the exit status; if it failed, no file
 * stays. */
int pfs_write_out(const char *command, const char *path, const char *text, size_t bytes);

/* Print one line on stderr. Returns the exit status. */
__attribute__((format(printf, 2, 3))) int pfs_complain(int status, const char *format, ...);
int pfs_complain_of(const struct pfs_message *message);

/* Nanoseconds since 1970 as local time; 0: "". */
char *pfs_time_text(uint64_t realtime_ns, char *text, size_t text_bytes);

/* The owner of a row: "7 worker", "app@web1". */
char *pfs_who_text(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint32_t who,
		   char *text, size_t text_bytes);

/* Warn on stderr of records that were left out, and of a dead program. */
void pfs_remark(const struct pfs_snapshot *snapshot);
/* The same without the dead program, which was named before. */
void pfs_remark_left_out(const struct pfs_snapshot *snapshot);

#endif
