/*
 * session.c - a box behind a connection, and one snapshot for each run of a statement.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "session.h"

static void free_view(struct pfs_view *view)
{
	if (view != NULL)
		pfs_view_drop(view);
	free(view);
}

static void free_moment(struct pfs_moment *moment)
{
	pfs_snapshot_free(moment->snapshot);
	pfs_snapshot_free(moment->with_ticks);
	free_view(moment->view);
	free(moment);
}

bool pfs_session_open(struct pfs_session *self, const char *target, struct pfs_message *message)
{
	struct pfs_reader *reader = pfs_reader_open(target, message);
	if (reader == NULL)
		return false;
	pfs_session_hold(self, self->holds);
	pfs_reader_close(self->reader);
	self->reader = reader;
	return true;
}

void pfs_session_hold(struct pfs_session *self, bool on)
{
	pfs_snapshot_free(self->held);
	self->held = NULL;
	free_view(self->held_view);
	self->held_view = NULL;
	self->holds = on;
}

void pfs_session_free(void *opaque)
{
	struct pfs_session *self = opaque;
	while (self->moments != NULL) {
		struct pfs_moment *moment = self->moments;
		self->moments = moment->next;
		free_moment(moment);
	}
	pfs_session_hold(self, false);
	pfs_reader_close(self->reader);
	free(self);
}

/* The first query of a connection without a box. */
static bool have_reader(struct pfs_session *self, struct pfs_message *message)
{
	if (self->reader != NULL)
		return true;
	const char *target = getenv("PFS_MEM_TARGET");
	if (target == NULL || target[0] == '\0')
		return pfs_refuse(message, "no box is open; SELECT pfs_mem_open('TARGET'), or "
					   "set PFS_MEM_TARGET (a pid, a file, last)");
	return pfs_session_open(self, target, message);
}

static struct pfs_moment *moment_of(const struct pfs_session *self, sqlite3_stmt *statement)
{
	struct pfs_moment *moment = self->moments;
	while (moment != NULL && moment->statement != statement)
		moment = moment->next;
	return moment;
}

/*
 * Which statement runs? SQLite does not say. Of the busy ones it is the one without a snapshot; if
 * all have one, the one that was entered last. If statements of a connection are interleaved, the
 * guess may be one that reads no box: the snapshot is then of another moment, and nothing worse.
 */
static sqlite3_stmt *running_statement(struct pfs_session *self)
{
	sqlite3_stmt *known = NULL;
	for (sqlite3_stmt *at = sqlite3_next_stmt(self->db, NULL); at != NULL;
	     at = sqlite3_next_stmt(self->db, at)) {
		if (!sqlite3_stmt_busy(at))
			continue;
		const struct pfs_moment *moment = moment_of(self, at);
		if (moment == NULL)
			return at;
		if (known == NULL || moment == self->moments)
			known = at;
	}
	return known;
}

struct pfs_moment *pfs_session_enter(struct pfs_session *self, unsigned parts)
{
	sqlite3_stmt *statement = running_statement(self);
	struct pfs_moment *moment = moment_of(self, statement);
	if (moment == NULL) {
		moment = calloc(1, sizeof(*moment));
		if (moment == NULL)
			return NULL;
		moment->statement = statement;
		moment->next = self->moments;
		self->moments = moment;
	}
	moment->cursors++;
	moment->parts |= parts | PFS_SNAPSHOT_ROWS;
	return moment;
}

void pfs_session_leave(struct pfs_session *self, struct pfs_moment *moment)
{
	struct pfs_moment **at = &self->moments;
	if (--moment->cursors > 0)
		return;
	while (*at != moment)
		at = &(*at)->next;
	*at = moment->next;
	free_moment(moment);
}

/* The newest box whose program lives; NULL: none. */
static struct pfs_reader *open_newest_live(void)
{
	struct pfs_message why;
	struct pfs_box_list list;
	struct pfs_reader *reader = NULL;
	if (!pfs_box_list_make(&list, &why))
		return NULL;
	for (size_t i = 0; i < list.count && reader == NULL; i++)
		if (list.boxes[i].is_live)
			reader = pfs_reader_open(list.boxes[i].path, &why);
	pfs_box_list_free(&list);
	return reader;
}

/* Changes to the newest living program, where that of the present box has ended. Not while another
 * statement reads the present one. */
static void follow_last(struct pfs_session *self)
{
	struct pfs_message why;
	bool is_alone = self->moments == NULL || self->moments->next == NULL;
	if (!self->is_last || !is_alone || self->reader == NULL ||
	    !pfs_reader_refresh(self->reader, &why) || pfs_reader_info(self->reader)->is_live)
		return;
	struct pfs_reader *newest = open_newest_live();
	if (newest == NULL)
		return;
	pfs_reader_close(self->reader);
	self->reader = newest;
}

static struct pfs_snapshot *take(struct pfs_session *self, unsigned parts,
				 struct pfs_message *message)
{
	if (!have_reader(self, message))
		return NULL;
	follow_last(self);
	struct pfs_snapshot *snapshot = pfs_snapshot_take(self->reader, parts, message);
	if (snapshot == NULL)
		return NULL;
	pfs_sql_make_text(snapshot);
	for (int t = 0; t < PFS_TABLES; t++)
		self->row_counts[t] = pfs_snapshot_row_count(snapshot, (enum pfs_box_table)t);
	return snapshot;
}

const struct pfs_snapshot *pfs_session_look(struct pfs_session *self, struct pfs_moment *moment,
					    unsigned parts, struct pfs_message *message)
{
	if (self->holds) {
		if (self->held == NULL)
			self->held = take(self, PFS_SNAPSHOT_ROWS | PFS_SNAPSHOT_TICKS, message);
		return self->held;
	}
	if (moment->snapshot == NULL)
		moment->snapshot = take(self, moment->parts, message);
	if ((parts & PFS_SNAPSHOT_TICKS) == 0 || moment->snapshot == NULL ||
	    moment->snapshot->ticks != NULL || moment->snapshot->info.ticks == 0)
		return moment->snapshot;
	/* Ticks are of the past: reading them a little later changes nothing. */
	if (moment->with_ticks == NULL)
		moment->with_ticks = take(self, parts | PFS_SNAPSHOT_ROWS, message);
	return moment->with_ticks;
}

const struct pfs_view *pfs_session_view(struct pfs_session *self, struct pfs_moment *moment,
					struct pfs_message *message)
{
	const struct pfs_symbols_bounds bounds = { PFS_SQL_NAMES_NS, PFS_SQL_NAMES_BYTES };
	struct pfs_view **view = self->holds ? &self->held_view : &moment->view;
	if (*view != NULL)
		return *view;
	*view = calloc(1, sizeof(**view));
	if (*view == NULL)
		(void)pfs_refuse(message, "no memory for the lines of the profile");
	else if (!pfs_view_take(*view, self->reader, false, &bounds, message)) {
		free_view(*view);
		*view = NULL;
	}
	return *view;
}

bool pfs_session_writable(struct pfs_session *self, struct pfs_message *message)
{
	char died[128];
	if (!have_reader(self, message) || !pfs_reader_refresh(self->reader, message))
		return false;
	const struct pfs_box_info *info = pfs_reader_info(self->reader);
	if (info->is_live)
		return true;
	return pfs_refuse(message, "the box of process %u is read-only: its program %s", info->pid,
			  pfs_box_died(info, died, sizeof(died)));
}

/* The end of a string, quoted name or comment that begins at text; text itself: none begins. */
static const char *behind_quoted(const char *text)
{
	static const struct {
		const char *begin, *end;
	} kinds[] = { { "'", "'" }, { "\"", "\"" }, { "`", "`" },
		      { "[", "]" }, { "--", "\n" }, { "/*", "*/" } };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t length = strlen(kinds[i].begin);
		if (strncmp(text, kinds[i].begin, length) != 0)
			continue;
		const char *end = strstr(text + length, kinds[i].end);
		return end == NULL ? text + strlen(text) : end + strlen(kinds[i].end);
	}
	return text;
}

bool pfs_moment_has_where(const struct pfs_moment *moment)
{
	const char *text = moment->statement == NULL ? NULL : sqlite3_sql(moment->statement);
	bool in_word = false;
	while (text != NULL && *text != '\0') {
		const char *behind = behind_quoted(text);
		bool is_letter = isalnum((unsigned char)*text) || *text == '_';
		if (behind == text && !in_word && strncasecmp(text, "where", 5) == 0 &&
		    !isalnum((unsigned char)text[5]) && text[5] != '_')
			return true;
		in_word = behind == text && is_letter;
		text = behind == text ? text + 1 : behind;
	}
	return false;
}
