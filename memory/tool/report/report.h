/*
 * report.h - a box as a page of HTML that needs nothing outside itself: who holds what, over time,
 * adding up to what is resident.
 *
 * Three steps, so that a page that stays open can take them one by one: take asks all questions of
 * one moment; write_json is the answers as data; write_page the page, with the same data in it. All
 * text of a box is escaped, wherever it stands.
 */
#ifndef PFS_MEM_REPORT_H
#define PFS_MEM_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/amount.h"
#include "memory/tool/markup.h"
#include "memory/tool/sql/sql.h"

/* ---- questions, and their answers ---- */

enum pfs_question_id {
	PFS_ASK_HEAD,
	PFS_ASK_INSTRUMENTS,
	PFS_ASK_ACCOUNTS,
	PFS_ASK_PAIRS,
	PFS_ASK_USERS,
	PFS_ASK_THREADS,
	PFS_ASK_HISTORY_INSTRUMENTS,
	PFS_ASK_HISTORY_POOLS,
	PFS_ASK_OS,
	PFS_ASK_ARENAS,
	PFS_ASK_HISTORY_RESIDENT,
	PFS_ASK_HISTORY_STATES,
	PFS_ASK_BESIDE,
	PFS_ASK_HISTORY_ARENAS,
	PFS_ASK_OWNERS,
	PFS_QUESTIONS
};

struct pfs_question {
	const char *name; /* of the figure: its id in the page, its key in JSON */
	const char *title;
	const char *query;  /* %llu: every so many ticks */
	const char *note;   /* below the figure; NULL: none */
	const char *none;   /* said in the place of no rows; NULL: there are always some */
	const char *whole;  /* over time: what the sum is; NULL: the question is of one moment */
	const char *others; /* over time: what is not among the named ones */
};
extern const struct pfs_question pfs_questions[PFS_QUESTIONS];

struct pfs_value {
	char *text; /* NULL: a number, or NULL */
	int64_t number;
	bool is_null;
};

struct pfs_answer {
	char *query; /* as it was asked */
	char **columns;
	size_t column_count, row_count, room;
	struct pfs_value *values; /* row by row */
};

struct pfs_report {
	char box[PFS_READER_PATH_BYTES]; /* the file name: what commands name as their target */
	struct pfs_answer answers[PFS_QUESTIONS];
};

/* All answers, of one moment. target as pfs_reader_open has it. NULL: as message says. */
struct pfs_report *pfs_report_take(const char *target, struct pfs_message *message);
void pfs_report_free(struct pfs_report *self);

/* A connection to a box, as SQL: all its statements see one moment. For sqlite3_close. NULL: as
 * message says. */
sqlite3 *pfs_tables_open(const char *target, struct pfs_message *message);
/* An answer of its own, to be dropped in any case: query is for sqlite3_free, and becomes the
 * answer's; NULL: no memory. False: as message says. */
bool pfs_answer_ask(sqlite3 *db, char *query, struct pfs_answer *answer,
		    struct pfs_message *message);
void pfs_answer_drop(struct pfs_answer *self);

const struct pfs_value *pfs_answer_at(const struct pfs_answer *self, size_t row, size_t column);
/* "" and 0 where there is none. */
const char *pfs_text_at(const struct pfs_answer *self, size_t row, size_t column);
int64_t pfs_number_at(const struct pfs_answer *self, size_t row, size_t column);
/* A variable of the head, as text; "": it is not there. */
const char *pfs_report_head(const struct pfs_report *self, const char *name);
/* The program, without its folder. */
const char *pfs_report_program(const struct pfs_report *self);

/* ---- what they are over time ---- */

#define PFS_SERIES_MAX 9 /* eight by name, and what the others have */

/* Stacked: at each moment the sum of all series is what is tracked. */
struct pfs_history {
	size_t moment_count, series_count;
	uint64_t *ticks; /* by moment */
	int64_t *times_ms;
	const char **times; /* as the box says them */
	int64_t *rss, *tracked;
	const char *names[PFS_SERIES_MAX]; /* the largest first */
	int64_t *bytes[PFS_SERIES_MAX];
	int64_t *edge[2]; /* of the area that is being drawn: below, above */
	int64_t most;     /* of rss, and of the sums of all series */
};

/* From the rows of a history's answer. False: no memory. */
bool pfs_history_make(struct pfs_history *self, const struct pfs_answer *answer,
		      const char *others);
void pfs_history_free(struct pfs_history *self);
/* The most that a series has, or tracked, or rss. */
int64_t pfs_history_most(const struct pfs_history *self, const int64_t *bytes);

/* ---- writing; errors stand in the stream. False: no memory ---- */

bool pfs_report_write_json(const struct pfs_report *self, FILE *to);
/* What is over time, alone. */
bool pfs_report_write_histories(const struct pfs_report *self, FILE *to);
bool pfs_report_write_page(const struct pfs_report *self, FILE *to);
/* The beginning of a page, with its title; and its data, for scripts. */
void pfs_report_put_title(const struct pfs_report *self, FILE *to);
bool pfs_report_put_data(const struct pfs_report *self, FILE *to);
/* What is between <main> and </main>. */
bool pfs_report_write_body(const struct pfs_report *self, FILE *to);
/* What is held over time by instrument, as a picture for documents. */
bool pfs_report_write_picture(const struct pfs_report *self, FILE *to);

/* ---- pieces of pages ---- */

/* A whole number in groups of three. */
const char *pfs_grouped(int64_t number, char text[32]);
/* The command that asks a question again, quoted for sh. */
void pfs_put_command(FILE *to, const struct pfs_report *self, enum pfs_question_id id);
/* The end of a figure: a note, and that command. */
void pfs_put_caption(FILE *to, const struct pfs_report *self, enum pfs_question_id id);

/* A figure's beginning; its title, where the chapter has more than one. */
void pfs_put_figure(FILE *to, enum pfs_question_id id, bool has_title);
/* A row of memory_os; 0: it is not there. */
int64_t pfs_report_os(const struct pfs_report *self, const char *name);
/* A cell of bytes, in words and exactly; css: attributes of the cell. */
void pfs_put_cell(FILE *to, int64_t bytes, const char *css);
/* Bars; history: whose colours names have, NULL: none. */
void pfs_put_holders(FILE *to, const struct pfs_report *self, enum pfs_question_id id,
		     const struct pfs_history *history);
void pfs_put_os(FILE *to, const struct pfs_report *self);
/* Arenas; and what each pool holds, beside what its arena has. Colours as in pfs_put_holders. */
void pfs_put_arenas(FILE *to, const struct pfs_report *self, const struct pfs_history *history);
void pfs_put_beside(FILE *to, const struct pfs_report *self, const struct pfs_history *history);
/* The owners of a memory trace, as a tree. */
void pfs_put_owners(FILE *to, const struct pfs_report *self);
void pfs_put_history(FILE *to, const struct pfs_report *self, enum pfs_question_id id,
		     const struct pfs_history *history);
void pfs_put_head(FILE *to, const struct pfs_report *self, const struct pfs_history *history);

/* Where a chart is drawn. */
struct pfs_frame {
	double left, top, width, height;
};
/* Areas one on the other, and the line of what is resident. */
void pfs_put_areas(FILE *to, const struct pfs_history *history, const struct pfs_frame *frame);
/* Bytes from one line of the grid to the next, and how many lines there are above 0. */
int64_t pfs_grid_step(int64_t most, unsigned *lines);
/* "12:00:01", of a part of the time that is shown; with the day where that is more than one. */
const char *pfs_time_at(const struct pfs_history *history, double part, char text[32]);
/* A series' colour: its number, 8 for what the others have. */
unsigned pfs_colour_of(const struct pfs_history *history, const char *name);

extern const char pfs_page_css[], pfs_page_js[]; /* made of page.css and page.js */

#endif
