/*
 * take.c - asks all questions of one moment, and keeps the answers.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report.h"

#define MOMENTS 300u /* shown, about */

/* ---- answers ---- */

const struct pfs_value *pfs_answer_at(const struct pfs_answer *self, size_t row, size_t column)
{
	static const struct pfs_value none = { .is_null = true };
	return row < self->row_count && column < self->column_count
		       ? &self->values[row * self->column_count + column]
		       : &none;
}

void pfs_answer_drop(struct pfs_answer *self)
{
	for (size_t i = 0; self->values != NULL && i < self->row_count * self->column_count; i++)
		free(self->values[i].text);
	for (size_t i = 0; self->columns != NULL && i < self->column_count; i++)
		free(self->columns[i]);
	free(self->values);
	free(self->columns);
	sqlite3_free(self->query);
}

static bool add_row(struct pfs_answer *self, sqlite3_stmt *statement)
{
	if (self->row_count == self->room) {
		size_t room = self->room == 0 ? 16 : self->room * 2;
		size_t bytes = room * self->column_count * sizeof(*self->values);
		struct pfs_value *values = realloc(self->values, bytes);
		if (values == NULL)
			return false;
		self->values = values;
		self->room = room;
	}
	struct pfs_value *row = &self->values[self->row_count * self->column_count];
	memset(row, 0, self->column_count * sizeof(*row));
	self->row_count++;
	for (int i = 0; i < (int)self->column_count; i++) {
		int type = sqlite3_column_type(statement, i);
		row[i].is_null = type == SQLITE_NULL;
		row[i].number = sqlite3_column_int64(statement, i);
		if (type != SQLITE_TEXT)
			continue;
		const char *text = (const char *)sqlite3_column_text(statement, i);
		row[i].text = text == NULL ? NULL : strdup(text);
		if (row[i].text == NULL)
			return false;
	}
	return true;
}

static bool add_columns(struct pfs_answer *self, sqlite3_stmt *statement)
{
	size_t count = (size_t)sqlite3_column_count(statement);
	self->columns = calloc(count, sizeof(*self->columns));
	for (size_t i = 0; self->columns != NULL && i < count; i++) {
		self->columns[i] = strdup(sqlite3_column_name(statement, (int)i));
		if (self->columns[i] == NULL)
			return false;
		self->column_count = i + 1;
	}
	return self->column_count == count;
}

bool pfs_answer_ask(sqlite3 *db, char *query, struct pfs_answer *answer,
		    struct pfs_message *message)
{
	answer->query = query;
	sqlite3_stmt *statement = NULL;
	int code = answer->query == NULL
			   ? SQLITE_NOMEM
			   : sqlite3_prepare_v2(db, answer->query, -1, &statement, NULL);
	bool fine = code == SQLITE_OK && add_columns(answer, statement);
	while (fine && (code = sqlite3_step(statement)) == SQLITE_ROW)
		fine = add_row(answer, statement);
	bool is_error = code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE;
	if (is_error || !fine)
		fine = pfs_refuse(message, "report: %s",
				  is_error ? sqlite3_errmsg(db) : "no memory");
	(void)sqlite3_finalize(statement);
	return fine;
}

/* ---- the report ---- */

const char *pfs_text_at(const struct pfs_answer *self, size_t row, size_t column)
{
	const char *text = pfs_answer_at(self, row, column)->text;
	return text == NULL ? "" : text;
}

int64_t pfs_number_at(const struct pfs_answer *self, size_t row, size_t column)
{
	return pfs_answer_at(self, row, column)->number;
}

int64_t pfs_answer_most(const struct pfs_answer *answer, const size_t *columns, size_t count)
{
	int64_t most = 1;
	for (size_t row = 0; row < answer->row_count; row++)
		for (size_t i = 0; i < count; i++)
			if (pfs_number_at(answer, row, columns[i]) > most)
				most = pfs_number_at(answer, row, columns[i]);
	return most;
}

const char *pfs_report_head(const struct pfs_report *self, const char *name)
{
	const struct pfs_answer *head = &self->answers[PFS_ASK_HEAD];
	for (size_t i = 0; i < head->row_count; i++)
		if (strcasecmp(pfs_text_at(head, i, 0), name) == 0)
			return pfs_text_at(head, i, 1);
	return "";
}

const char *pfs_report_program(const struct pfs_report *self)
{
	return pfs_report_head(self, "Pfs_box_name");
}

/* How many ticks stand for one that is shown. */
static unsigned long long step_of(const struct pfs_report *self)
{
	unsigned long long ticks = strtoull(pfs_report_head(self, "Pfs_box_ticks"), NULL, 10);
	unsigned long long kept = ticks < PFS_BOX_TICKS_KEPT ? ticks : PFS_BOX_TICKS_KEPT;
	return kept / MOMENTS + 1;
}

/* The target is resolved once: 'last' may change later. Commands show the full name. */
static bool name_box(struct pfs_report *self, const char *target, struct pfs_message *message)
{
	struct pfs_reader *reader = pfs_reader_open(target, message);
	if (reader == NULL)
		return false;
	if (realpath(pfs_reader_info(reader)->path, self->box) == NULL)
		(void)snprintf(self->box, sizeof(self->box), "%s", pfs_reader_info(reader)->path);
	pfs_reader_close(reader);
	return true;
}

sqlite3 *pfs_tables_open(const char *target, struct pfs_message *message)
{
	sqlite3 *db = NULL;
	bool fine = sqlite3_open(":memory:", &db) == SQLITE_OK ||
		    pfs_refuse(message, "no memory for SQLite");
	fine = fine && pfs_sql_attach(db, target, message) == SQLITE_OK;
	if (fine && sqlite3_exec(db, "SELECT pfs_mem_hold(1)", NULL, NULL, NULL) != SQLITE_OK)
		fine = pfs_refuse(message, "%s", sqlite3_errmsg(db));
	if (fine)
		return db;
	(void)sqlite3_close(db);
	return NULL;
}

static bool ask_all(struct pfs_report *self, struct pfs_message *message)
{
	sqlite3 *db = pfs_tables_open(self->box, message);
	bool fine = db != NULL;
	for (int i = 0; fine && i < PFS_QUESTIONS; i++) {
		struct pfs_answer *answer = &self->answers[i];
		char *query = sqlite3_mprintf(pfs_questions[i].query, step_of(self), step_of(self));
		fine = pfs_answer_ask(db, query, answer, message);
	}
	(void)sqlite3_close(db);
	return fine;
}

struct pfs_report *pfs_report_take(const char *target, struct pfs_message *message)
{
	struct pfs_report *self = calloc(1, sizeof(*self));
	if (self == NULL) {
		(void)pfs_refuse(message, "no memory for the report");
		return NULL;
	}
	if (name_box(self, target, message) && ask_all(self, message))
		return self;
	pfs_report_free(self);
	return NULL;
}

void pfs_report_free(struct pfs_report *self)
{
	for (int i = 0; self != NULL && i < PFS_QUESTIONS; i++)
		pfs_answer_drop(&self->answers[i]);
	if (self != NULL) {
		pfs_view_drop(&self->now);
		pfs_view_drop(&self->peak);
		pfs_report_drop_grown(&self->grown);
	}
	free(self);
}
