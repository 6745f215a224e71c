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
#define PFS_EXIT_REFUSED 1 /* the input, or the system */
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
	const char *document, *base, *lg_prof_sample;
	bool symbolized, of_total;
	const char *http, *token_file;
};

/* The keys of options; each command takes some. */
enum {
	PFS_KEY_FORMAT = 'f',
	PFS_KEY_BY = 'b',
	PFS_KEY_COUNT = 'n',
	PFS_KEY_ONCE = '1',
	PFS_KEY_ALL = 'a',
	PFS_KEY_MYSQL = 'm',
	PFS_KEY_PASSWORD = 'p',
	PFS_KEY_OUT = 'o',
	PFS_KEY_DOCUMENT = 256 /* long ones only */,
	PFS_KEY_BASE,
	PFS_KEY_SYMBOLIZED,
	PFS_KEY_LIVE,
	PFS_KEY_TOTAL,
	PFS_KEY_LG_PROF_SAMPLE,
	PFS_KEY_HTTP,
	PFS_KEY_TOKEN
};

/* An option that takes a value into the arguments, by its key. */
#define PFS_MEM_OPTION(word, letter, shape, say)                                  \
	{                                                                         \
		.name = (word), .key = (letter), .value = (shape), .help = (say), \
		.kind = PFS_OPTION_READ, .read = pfs_take_option                  \
	}
enum pfs_status pfs_take_option(void *arguments, const struct pfs_option *option, const char *text,
				struct pfs_message *message);

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
	pfs_command_pprof, pfs_command_flame, pfs_command_profile, pfs_command_walk;

/* pfs-mem run: its words; it returns only where there is nothing to run. */
int pfs_run_program(int argc, char **argv);

/* Bytes to a file, "-" for standard output; the exit status. What is cut does not stay. */
int pfs_write_out(const char *command, const char *path, const char *text, size_t bytes);

/* One line on stderr; the exit status. */
__attribute__((format(printf, 2, 3))) int pfs_complain(int status, const char *format, ...);
int pfs_complain_of(const struct pfs_message *message);

/* A number of nanoseconds since 1970, as text of the local time; "" for 0. */
char *pfs_time_text(uint64_t realtime_ns, char *text, size_t text_bytes);

/* Who a row is of: "7 worker", "app@web1". */
char *pfs_who_text(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint32_t who,
		   char *text, size_t text_bytes);

/* Left out records, dead programs: what a reader of the result should know, on stderr. */
void pfs_remark(const struct pfs_snapshot *snapshot);

#endif
