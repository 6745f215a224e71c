/*
 * report.h - a box as a self-contained page of HTML: who holds what, over time, adding up to the
 * resident set.
 *
 * pfs_report_take asks all questions of one moment; write_json writes the answers as data,
 * write_page a page that contains the same data. All text of a box is escaped.
 */
#ifndef PFS_MEM_REPORT_H
#define PFS_MEM_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/amount.h"
#include "memory/tool/markup.h"
#include "memory/tool/profile/growth.h"
#include "memory/tool/profile/view.h"
#include "memory/tool/sql/sql.h"

/* ---- questions, and their answers ---- */

enum pfs_question_id {
	PFS_ASK_HEAD,
	PFS_ASK_PARTS,
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
	const char *none;   /* shown if there are no rows; NULL: there always are some */
	const char *whole;  /* of a history: the name of the sum; NULL: not a history */
	const char *others; /* of a history: the name of the rest */
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

/* Which lines have grown, by the history of stacks. */
struct pfs_report_grown {
	struct pfs_heap *heap; /* NULL: none */
	struct pfs_rules *rules;
	struct pfs_growth growth;
};

struct pfs_report {
	char box[PFS_READER_PATH_BYTES]; /* the file name: what commands name as their target */
	struct pfs_answer answers[PFS_QUESTIONS];
	struct pfs_view now, peak;     /* with pfs_report_take_lines; peak: if that was higher */
	struct pfs_report_grown grown; /* with pfs_report_take_lines */
	char lines_from[96];           /* where the page loads its lines from; "": it has them */
};

/* All answers, of one moment. target as pfs_reader_open has it. NULL: as message says. */
struct pfs_report *pfs_report_take(const char *target, struct pfs_message *message);
void pfs_report_free(struct pfs_report *self);
/* pfs_report_take_lines - add the heap profile, with the names of its functions: that can take
 * seconds. A box without a profile has none. False: no memory, see message. */
bool pfs_report_take_lines(struct pfs_report *self, struct pfs_message *message);

/* pfs_report_write_lines - only the lines of a box, in HTML without a page around them. False:
 * failed, see message. */
bool pfs_report_write_lines(const char *box, FILE *to, struct pfs_message *message);

/* What has grown: a part of pfs_report_take_lines. */
bool pfs_report_take_grown(struct pfs_report_grown *grown, struct pfs_reader *reader,
			   struct pfs_message *message);
void pfs_report_drop_grown(struct pfs_report_grown *grown);

/* A connection to a box, as SQL: all its statements see one moment. For sqlite3_close. NULL: as
 * message says. */
sqlite3 *pfs_tables_open(const char *target, struct pfs_message *message);
/* Ask a further question. The answer takes query (for sqlite3_free; NULL: no memory), and must be
 * dropped in any case. False: as message says. */
bool pfs_answer_ask(sqlite3 *db, char *query, struct pfs_answer *answer,
		    struct pfs_message *message);
void pfs_answer_drop(struct pfs_answer *self);

const struct pfs_value *pfs_answer_at(const struct pfs_answer *self, size_t row, size_t column);
/* "" and 0 where there is none. */
const char *pfs_text_at(const struct pfs_answer *self, size_t row, size_t column);
int64_t pfs_number_at(const struct pfs_answer *self, size_t row, size_t column);
/* The most in some columns; at least 1. */
int64_t pfs_answer_most(const struct pfs_answer *self, const size_t *columns, size_t count);
/* A variable of the head; "": there is none. */
const char *pfs_report_head(const struct pfs_report *self, const char *name);
/* The program, without its folder. */
const char *pfs_report_program(const struct pfs_report *self);

/* ---- histories ---- */

#define PFS_SERIES_MAX 9 /* eight by name, and the others */

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
/* The maximum of a series, of tracked or of rss. */
int64_t pfs_history_most(const struct pfs_history *self, const int64_t *bytes);

/* ---- writing; write errors stay in the stream. False: no memory ---- */

bool pfs_report_write_json(const struct pfs_report *self, FILE *to);
/* Only the histories. */
bool pfs_report_write_histories(const struct pfs_report *self, FILE *to);
bool pfs_report_write_page(const struct pfs_report *self, FILE *to);
/* The beginning of a page, with its title; and its data, for scripts. */
void pfs_report_put_title(const struct pfs_report *self, FILE *to);
bool pfs_report_put_data(const struct pfs_report *self, FILE *to);
/* What is between <main> and </main>. */
bool pfs_report_write_body(const struct pfs_report *self, FILE *to);
/* Memory over time by instrument, as a picture for documents. */
bool pfs_report_write_picture(const struct pfs_report *self, FILE *to);

/* ---- pieces of pages ---- */

/* A whole number in groups of three. */
const char *pfs_grouped(int64_t number, char text[32]);
/* The command that asks a question again, quoted for sh. */
void pfs_put_command(FILE *to, const struct pfs_report *self, enum pfs_question_id id);
/* The end of a figure: a note, and that command. */
void pfs_put_caption(FILE *to, const struct pfs_report *self, enum pfs_question_id id);

/* Everything that the program holds, whatever its kind, the largest first. */
void pfs_put_parts(FILE *to, const struct pfs_report *self);
/* The lines that hold the heap, their stacks, and the flame graph. False: no memory. */
bool pfs_put_lines(FILE *to, const struct pfs_report *self);
/* The lines that grew most, and what they held over time. */
void pfs_put_grown(FILE *to, const struct pfs_report *self);
/* Local time, "2026-01-31 12:00:00"; "": none. Returns text. */
const char *pfs_moment_text(uint64_t realtime_ns, char text[32]);

/* The beginning of a figure; with its title if the chapter has more than one. */
void pfs_put_figure(FILE *to, enum pfs_question_id id, bool has_title);
/* A row of memory_os; 0: it is not there. */
int64_t pfs_report_os(const struct pfs_report *self, const char *name);
/* A cell of bytes, in words and exactly; css: attributes of the cell. */
void pfs_put_cell(FILE *to, int64_t bytes, const char *css);
/* Bars, coloured like the names of history; NULL: one colour. */
void pfs_put_holders(FILE *to, const struct pfs_report *self, enum pfs_question_id id,
		     const struct pfs_history *history);
void pfs_put_os(FILE *to, const struct pfs_report *self);
/* Arenas; and pools compared with their arenas. Colours as in pfs_put_holders. */
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
/* Stacked areas, and the line of the resident set. */
void pfs_put_areas(FILE *to, const struct pfs_history *history, const struct pfs_frame *frame);
/* Bytes between lines of the grid, and the number of lines above 0. */
int64_t pfs_grid_step(int64_t most, unsigned *lines);
/* Labels of the time axis, equally far apart: "12:00:05", with the day if the axis covers days.
 * part: of the axis, from 0 to 1. Returns how many. */
#define PFS_TIMES_MOST 7u
struct pfs_time {
	double part;
	char text[32];
};
unsigned pfs_times_of(const struct pfs_history *history, struct pfs_time times[PFS_TIMES_MOST]);
/* The colour of a series: its index; 8: the others. */
unsigned pfs_colour_of(const struct pfs_history *history, const char *name);

extern const char pfs_page_css[], pfs_page_js[]; /* made of page.css and page.js */

#endif
