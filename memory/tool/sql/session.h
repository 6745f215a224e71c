/*
 * session.h - a connection's box, its snapshots, and the tables over them.
 *
 * A statement sees one moment: all its cursors share one snapshot, which is freed with the last of
 * them. (SQLite reopens a cursor before it closes the old one, so a subquery that runs again keeps
 * its snapshot.)
 */
#ifndef PFS_SQL_SESSION_H
#define PFS_SQL_SESSION_H

#include "memory/tool/profile/view.h"
#include "sql.h"

/* A statement that runs, and its snapshot. */
struct pfs_moment {
	struct pfs_moment *next;
	sqlite3_stmt *statement; /* unfinished: it has cursors */
	unsigned cursors;
	unsigned parts;                  /* PFS_SNAPSHOT_*: needed by its cursors */
	struct pfs_snapshot *snapshot;   /* NULL: nothing was read yet */
	struct pfs_snapshot *with_ticks; /* a second one, if the first lacks ticks */
	struct pfs_view *view;           /* the profile's lines; NULL: not asked for yet */
};

struct pfs_session {
	sqlite3 *db;
	struct pfs_reader *reader; /* NULL: not yet */
	struct pfs_moment *moments;
	bool is_last;                    /* the newest box, see pfs_sql_attach_last */
	bool holds;                      /* all statements see one moment, from the first on */
	struct pfs_snapshot *held;       /* that moment; NULL: not yet */
	struct pfs_view *held_view;      /* its lines, read a little later; NULL: not yet */
	uint64_t row_counts[PFS_TABLES]; /* of the last snapshot, for plans */
};

/* Switch to another box, from the next statement on. */
bool pfs_session_open(struct pfs_session *self, const char *target, struct pfs_message *message);
void pfs_session_free(void *self);
/* on: all statements from the next one share one moment; off: each has its own again. */
void pfs_session_hold(struct pfs_session *self, bool on);

/* A cursor of the running statement begins, and ends. NULL: no memory. */
struct pfs_moment *pfs_session_enter(struct pfs_session *self, unsigned parts);
void pfs_session_leave(struct pfs_session *self, struct pfs_moment *moment);
/* What the box had, with these parts at least; NULL: as message says. */
const struct pfs_snapshot *pfs_session_look(struct pfs_session *self, struct pfs_moment *moment,
					    unsigned parts, struct pfs_message *message);

/* The profile's lines, read once for a moment, a little after its snapshot. Looking up their names
 * is bounded: PFS_SQL_NAMES_NS, PFS_SQL_NAMES_BYTES. NULL: as message says. */
const struct pfs_view *pfs_session_view(struct pfs_session *self, struct pfs_moment *moment,
					struct pfs_message *message);
#define PFS_SQL_NAMES_NS (UINT64_C(4) * 1000000000)
#define PFS_SQL_NAMES_BYTES (UINT64_C(512) << 20)

/* May the box be written? False: as message says. */
bool pfs_session_writable(struct pfs_session *self, struct pfs_message *message);

/* Does the text of the statement contain a WHERE? */
bool pfs_moment_has_where(const struct pfs_moment *moment);

/* ---- tables ---- */

/* Keys that a cursor was given by equality; NULL or false: not given. */
struct pfs_keys {
	bool has_id;
	int64_t id;
	char *text[3]; /* user, host, event name */
};
enum pfs_key { PFS_KEY_USER, PFS_KEY_HOST, PFS_KEY_EVENT, PFS_KEY_ID, PFS_KEYS };

struct pfs_cursor;

/* A kind of table. Rows have numbers below row_limit; some numbers may have no row. */
struct pfs_table {
	const char *name;
	const char *schema;
	const char *columns;     /* as CREATE TABLE has them */
	int keys[PFS_KEYS];      /* columns that can be asked for by equality, plus 1; 0: none */
	unsigned parts;          /* of snapshots, beyond rows */
	bool has_view;           /* it needs the profile's lines */
	enum pfs_box_table rows; /* which of the five, for those */
	uint64_t (*row_limit)(const struct pfs_cursor *cursor);
	/* Is there a row of that number, that may fit the keys? Else *row is where to go on. NULL:
	 * each number has one. */
	bool (*there)(struct pfs_cursor *cursor, uint64_t *row);
	void (*value)(struct pfs_cursor *cursor, int column, sqlite3_context *context);
	/* What names a row for update; NULL: its number plus 1. */
	int64_t (*rowid)(const struct pfs_cursor *cursor);
	/* NULL: the table is read-only. */
	bool (*update)(struct pfs_session *session, int64_t rowid, sqlite3_value **values,
		       struct pfs_message *message);
};

struct pfs_vtab {
	sqlite3_vtab base;
	struct pfs_session *session;
	const struct pfs_table *table;
	struct pfs_moment *moment; /* of the last scan */
	bool is_constrained;       /* as its plan says */
	uint64_t rows;             /* of the statement's snapshot */
	uint64_t deleted;          /* of them, so far */
};

struct pfs_cursor {
	sqlite3_vtab_cursor base;
	struct pfs_moment *moment;
	const struct pfs_snapshot *snapshot; /* of moment */
	const struct pfs_view *view;         /* of moment, if table->has_view */
	const struct pfs_table *table;
	struct pfs_keys keys;
	uint64_t row, row_limit;
	uint64_t key_instrument; /* of the event name; PFS_NONE: there is none */
	struct pfs_row sums;     /* of row, of the five tables */
	bool has_sums;
	void *own; /* of the table; freed with the cursor, and at each scan */
};

extern const sqlite3_module pfs_sql_module;

extern const struct pfs_table pfs_sql_summaries[PFS_TABLES];
extern const struct pfs_table pfs_sql_objects[];
extern const size_t pfs_sql_object_count;
extern const struct pfs_table pfs_sql_os, pfs_sql_parts, pfs_sql_mapped, pfs_sql_history,
	pfs_sql_trace;
extern const struct pfs_table pfs_sql_arenas, pfs_sql_arenas_history, pfs_sql_limits, pfs_sql_lines;
extern const struct pfs_table pfs_sql_stacks_history, pfs_sql_corruption;
extern const struct pfs_table pfs_sql_status, pfs_sql_variables;

/* All of them: table i; NULL: no more. */
const struct pfs_table *pfs_sql_table(size_t i);

/* Text of a box, copied: a snapshot may go before a value does. NULL: NULL. */
void pfs_result_text(sqlite3_context *context, const char *text);
void pfs_result_number(sqlite3_context *context, uint64_t number);
/* Local time, "2026-01-31 12:00:00.123"; 0: NULL. */
void pfs_result_time(sqlite3_context *context, uint64_t realtime_ns);

/* The value of LIMIT_BYTES in an UPDATE that changes no other column; NULL: UINT64_MAX. False: as
 * message says. */
bool pfs_sql_take_limit(const char *table, sqlite3_value **values, int columns, int limit,
			uint64_t *bytes, struct pfs_message *message);

/* All text of a snapshot is UTF-8 from now on. */
void pfs_sql_make_text(struct pfs_snapshot *snapshot);

/* A function with arguments_min to arguments_max arguments; -1: any number. */
struct pfs_sql_function {
	const char *name;
	int arguments_min, arguments_max;
	void (*call)(sqlite3_context *context, int argc, sqlite3_value **argv);
	bool is_replacing; /* SQLite has one of that name, with another meaning or result */
};
/* The last of each has no name. */
extern const struct pfs_sql_function pfs_sql_number_functions[], pfs_sql_text_functions[];

/* Functions (format_bytes and others) and the views of sys. */
int pfs_sql_functions(struct pfs_session *session);
int pfs_sql_views(sqlite3 *db);
/* View i; NULL: no more. */
const char *pfs_sql_view_name(size_t i);

#endif
