/*
 * tables.c - JSON: the tables of pfs-mem sql, histories, and the list of boxes.
 */
#define _GNU_SOURCE
#include <string.h>

#include "base/json.h"
#include "http.h"

#define ROWS_BYTES_MAX (PFS_HTTP_DOCUMENT_BYTES - (256 << 10)) /* one more row always fits */

/* ---- names ---- */

static bool is_table(const char *name)
{
	for (size_t i = 0; pfs_sql_name(i) != NULL; i++)
		if (strcmp(pfs_sql_name(i)->name, name) == 0)
			return true;
	return false;
}

PFS_HTTP_MAKES(pfs_http_table_names)
{
	struct pfs_json json = { .out = to, .is_compact = true };
	pfs_json_object(&json, NULL);
	pfs_json_array(&json, "tables");
	pfs_json_lines(&json);
	for (size_t i = 0; pfs_sql_name(i) != NULL; i++) {
		const struct pfs_sql_name *name = pfs_sql_name(i);
		pfs_json_object(&json, NULL);
		pfs_json_text(&json, "name", name->name);
		pfs_json_text(&json, "schema", name->schema);
		pfs_json_text(&json, "type", name->type);
		pfs_json_end(&json);
	}
	pfs_json_end(&json);
	pfs_json_end(&json);
	return ferror(to) == 0;
}

/* ---- a table ---- */

static void put_value(struct pfs_json *json, sqlite3_stmt *statement, int column)
{
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		pfs_json_integer(json, NULL, sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		pfs_json_real(json, NULL, 15, sqlite3_column_double(statement, column));
		break;
	default: /* NULL has no text */
		pfs_json_text(json, NULL, (const char *)sqlite3_column_text(statement, column));
	}
}

/* Up to limit rows, as many as fit; next_offset is that of the row after them. */
static int put_rows(struct pfs_json *json, sqlite3_stmt *statement, const struct pfs_http_ask *ask)
{
	uint64_t rows = 0, written = 0;
	int code;
	pfs_json_array(json, "rows");
	pfs_json_lines(json);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (rows == ask->limit || written > ROWS_BYTES_MAX)
			break;
		pfs_json_array(json, NULL);
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			put_value(json, statement, i);
			/* A character becomes at most six; a number has at most 20. */
			written += 6 * (uint64_t)sqlite3_column_bytes(statement, i) + 24;
		}
		pfs_json_end(json);
		rows++;
	}
	pfs_json_end(json);
	if (code == SQLITE_ROW)
		pfs_json_count(json, "next_offset", ask->offset + rows);
	else
		pfs_json_null(json, "next_offset");
	return code;
}

static bool put_table(sqlite3 *db, const char *name, const struct pfs_http_ask *ask,
		      const struct pfs_http_box *box, FILE *to, struct pfs_message *message)
{
	sqlite3_stmt *statement = NULL;
	char *query = sqlite3_mprintf("SELECT * FROM \"%w\" LIMIT -1 OFFSET %lld", name,
				      (long long)ask->offset);
	int code = query == NULL ? SQLITE_NOMEM
				 : sqlite3_prepare_v2(db, query, -1, &statement, NULL);
	if (code == SQLITE_OK) {
		struct pfs_json json = { .out = to, .is_compact = true };
		pfs_json_object(&json, NULL);
		pfs_json_lines(&json);
		pfs_json_text(&json, "table", name);
		pfs_json_text(&json, "box", box->id);
		pfs_json_array(&json, "columns");
		for (int i = 0; i < sqlite3_column_count(statement); i++)
			pfs_json_text(&json, NULL, sqlite3_column_name(statement, i));
		pfs_json_end(&json);
		code = put_rows(&json, statement, ask);
		pfs_json_end(&json);
	}
	bool fine = code == SQLITE_ROW || code == SQLITE_DONE;
	if (!fine)
		(void)pfs_refuse(message, "%s", sqlite3_errmsg(db));
	(void)sqlite3_finalize(statement);
	sqlite3_free(query);
	return fine;
}

static bool show_table(const char *name, const struct pfs_http_ask *ask,
		       const struct pfs_http_box *box, FILE *to, struct pfs_message *message)
{
	sqlite3 *db = pfs_tables_open(box->path, message);
	bool fine = db != NULL && put_table(db, name, ask, box, to, message);
	(void)sqlite3_close(db);
	return fine;
}

PFS_HTTP_MAKES(pfs_http_table)
{
	if (is_table(ask->name))
		return show_table(ask->name, ask, box, to, message);
	*status = MHD_HTTP_NOT_FOUND;
	return pfs_refuse(message, "there is no table '%.60s': /api/tables lists them", ask->name);
}

PFS_HTTP_MAKES(pfs_http_memory_lines)
{
	return show_table("memory_lines", ask, box, to, message);
}

/* ---- over time ---- */

PFS_HTTP_MAKES(pfs_http_history)
{
	struct pfs_report *report = pfs_report_take(box->path, message);
	bool fine = report != NULL && pfs_report_write_histories(report, to);
	pfs_report_free(report);
	return fine;
}

/* ---- boxes ---- */

static void put_box(struct pfs_json *json, const struct pfs_box_info *info)
{
	char id[PFS_HTTP_TARGET_BYTES], url[sizeof(id) + 16], died[160];
	pfs_http_id(info->path, id);
	(void)snprintf(url, sizeof(url), "/boxes/%s/", id);
	pfs_json_object(json, NULL);
	pfs_json_text(json, "id", id);
	pfs_json_count(json, "pid", info->pid);
	pfs_json_bool(json, "living", info->is_live);
	pfs_json_text(json, "program", info->program);
	pfs_json_text(json, "command", info->command);
	pfs_json_text(json, "state",
		      info->is_live ? "living" : pfs_box_died(info, died, sizeof(died)));
	pfs_json_count(json, "started_ms", info->start_realtime_ns / 1000000);
	pfs_json_count(json, "seen_ms", info->seen_realtime_ns / 1000000);
	pfs_json_count(json, "ticks", info->ticks);
	pfs_json_text(json, "url", url);
	pfs_json_end(json);
}

PFS_HTTP_MAKES(pfs_http_boxes)
{
	struct pfs_box_list list;
	if (!pfs_http_list(&list, message))
		return false;
	struct pfs_json json = { .out = to, .is_compact = true };
	pfs_json_object(&json, NULL);
	pfs_json_array(&json, "boxes");
	pfs_json_lines(&json);
	for (size_t i = 0; i < list.count; i++)
		put_box(&json, &list.boxes[i]);
	pfs_json_end(&json);
	pfs_json_count(&json, "refused", list.refused);
	pfs_json_text(&json, "why", list.refused != 0 ? list.why.text : NULL);
	pfs_json_end(&json);
	pfs_box_list_free(&list);
	return ferror(to) == 0;
}
