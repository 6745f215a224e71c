/*
 * command_line.h - the command line of every program here: one table of options, read by
 * getopt_long.
 *
 * docs/reference/commands.md has the dialect; --help, --version and refusals are made here.
 */
#ifndef PFS_COMMAND_LINE_H
#define PFS_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfslab/status.h>

#define PFS_GO_ON (-1)    /* no exit status: the command line was read */
#define PFS_EXIT_OUTPUT 1 /* the output could not be written */
#define PFS_EXIT_WRONG_USE 2
#define PFS_OPTIONS_MOST 64 /* of one command */

struct pfs_option;

/* A value that is more than text or a number: PFS_OK, or another status with a line in *message,
 * which names the option, the value and how to fix it. */
typedef enum pfs_status pfs_option_read(void *context, const struct pfs_option *option,
					const char *text, struct pfs_message *message);

enum pfs_option_kind {
	PFS_OPTION_SWITCH, /* has no value */
	PFS_OPTION_ON_OFF,
	PFS_OPTION_TEXT,
	PFS_OPTION_NUMBER,
	PFS_OPTION_REAL,
	PFS_OPTION_READ
};

struct pfs_option {
	const char *name;  /* with dashes; underscores are accepted too */
	const char *value; /* its shape, for --help; NULL: it has none */
	const char *help;  /* NULL: another spelling, which --help does not list */
	enum pfs_option_kind kind;
	int key; /* a letter is the short option; others are for the reader */
	union {
		bool *flag;
		const char **text;
		uint64_t *number;
		double *real;
	} place;
	/* Not 0: the place is a field of this size in the context, at this offset. Numbers have 4
	 * or 8 bytes. */
	size_t field_bytes, field_offset;
	uint64_t low, high; /* of numbers */
	double least, most; /* of reals */
	pfs_option_read *read;
};

#define PFS_SWITCH_OPTION(word, at, say)                                                     \
	{                                                                                    \
		.name = (word), .help = (say), .kind = PFS_OPTION_SWITCH, .place.flag = (at) \
	}
#define PFS_ON_OFF_OPTION(word, at, say)                                                     \
	{                                                                                    \
		.name = (word), .value = "on|off", .help = (say), .kind = PFS_OPTION_ON_OFF, \
		.place.flag = (at)                                                           \
	}
#define PFS_TEXT_OPTION(word, shape, at, say)                                             \
	{                                                                                 \
		.name = (word), .value = (shape), .help = (say), .kind = PFS_OPTION_TEXT, \
		.place.text = (at)                                                        \
	}
#define PFS_NUMBER_OPTION(word, shape, at, from, to, say)                                   \
	{                                                                                   \
		.name = (word), .value = (shape), .help = (say), .kind = PFS_OPTION_NUMBER, \
		.place.number = (at), .low = (from), .high = (to)                           \
	}
#define PFS_REAL_OPTION(word, shape, at, from, to, say)                                   \
	{                                                                                 \
		.name = (word), .value = (shape), .help = (say), .kind = PFS_OPTION_REAL, \
		.place.real = (at), .least = (from), .most = (to)                         \
	}
#define PFS_READ_OPTION(word, shape, with, say)                                           \
	{                                                                                 \
		.name = (word), .value = (shape), .help = (say), .kind = PFS_OPTION_READ, \
		.read = (with)                                                            \
	}

struct pfs_command_line {
	const char *program; /* and its command, such as "pfs-sim run" */
	const char *words;   /* the other words, for usage; "": none */
	const char *about;   /* for --help, above the options */
	const char *after;   /* for --help, below them, in lines or as one text */
	const struct pfs_option *options;
	size_t option_count;
	int words_min, words_max;
	bool stops;    /* at the first word: the rest belongs to another program */
	void *context; /* of readers */
};

/* PFS_GO_ON, with the words in argv[*next .. argc - 1]; or the exit status: 0 after --help and
 * --version, 2 after one line on stderr. Reorders argv, changes no text in it. */
int pfs_command_line_read(const struct pfs_command_line *self, int argc, char **argv, int *next);

/* Write a line to *message, if that is not NULL; returns status. */
__attribute__((format(printf, 3, 4))) enum pfs_status
pfs_say_why(struct pfs_message *message, enum pfs_status status, const char *format, ...);

/* The rules of a value for code that reads it elsewhere: PFS_OK, or PFS_BAD_CONFIG and a line that
 * names the option without its dashes. */
enum pfs_status pfs_read_number(const char *name, const char *text, uint64_t low, uint64_t high,
				uint64_t *number, struct pfs_message *message);
/* PFS_BAD_CONFIG: the value is none of the choices. */
enum pfs_status pfs_read_choice(const char *name, const char *text, const char *choices,
				struct pfs_message *message);
enum pfs_status pfs_read_on_off(const char *name, const char *text, bool *flag,
				struct pfs_message *message);

/* One line on stderr, "PROGRAM: ..."; returns status. */
__attribute__((format(printf, 3, 4))) int pfs_command_refuse(const char *program, int status,
							     const char *format, ...);

/* For programs with commands: there is no such command. 2 after one line on stderr. */
int pfs_command_unknown(const char *program, const char *word, const char *const *commands,
			size_t count);

bool pfs_command_is_help(const char *word);
bool pfs_command_is_version(const char *word);
/* Print "PROGRAM 0.1.0"; the exit status of a program that prints nothing else. */
int pfs_command_version(const char *program);
const char *pfs_command_version_text(void);

/* The end of a program: status, or 1 with a line if standard output could not be written. */
int pfs_command_end(const char *program, int status);

#endif
