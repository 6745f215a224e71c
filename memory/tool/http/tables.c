/*
 * tables.c - JSON: the tables of pfs-mem sql, what is over time, and which boxes there are.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "http.h"

#define ROWS_BYTES_MAX (PFS_HTTP_DOCUMENT_BYTES - (256 << 10)) /* a row more fits in any case */

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
	(void)ask;
	(void)box;
	(void)status;
	(void)message;
	(void)fputs("{\"tables\":[", to);
	for (size_t i = 0; pfs_sql_name(i) != NULL; i++) {
		const struct pfs_sql_name *name = pfs_sql_name(i);
		(void)fputs(i == 0 ? "\n{\"name\":" : ",\n{\"name\":", to);
		pfs_put_json(to, name->name);
		(void)fputs(",\"schema\":", to);
		pfs_put_json(to, name->schema);
		(void)fputs(",\"type\":", to);
		pfs_put_json(to, name->type);
		(void)fputc('}', to);
	}
	return fputs("]}\n", to) >= 0;
}

/* ---- a table ---- */

static void put_value(FILE *to, sqlite3_stmt *statement, int column)
{
	double real;
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_INTEGER:
		(void)fprintf(to, "%" PRId64, (int64_t)sqlite3_column_int64(statement, column));
		break;
	case SQLITE_FLOAT:
		real = sqlite3_column_double(statement, column);
		(void)fprintf(to, isfinite(real) ? "%.15g" : "null", real);
		break;
	case SQLITE_NULL: (void)fputs("null", to); break;
	default: pfs_put_json(to, (const char *)sqlite3_column_text(statement, column));
	}
}

static void put_columns(FILE *to, sqlite3_stmt *statement)
{
	(void)fputs(",\"columns\":[", to);
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		(void)fputs(i == 0 ? "" : ",", to);
		pfs_put_json(to, sqlite3_column_name(statement, i));
	}
	(void)fputs("],\n\"rows\":[", to);
}

/* Up to limit rows, and as many as there is room for: then next_offset is where to go on. */
static int put_rows(FILE *to, sqlite3_stmt *statement, const struct pfs_http_ask *ask)
{
	uint64_t rows = 0, written = 0;
	int code;
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		if (rows == ask->limit || written > ROWS_BYTES_MAX)
			break;
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			(void)fputs(i > 0 ? "," : rows == 0 ? "\n[" : ",\n[", to);
			put_value(to, statement, i);
			/* A letter may become six; a number has 20. */
			written += 6 * (uint64_t)sqlite3_column_bytes(statement, i) + 24;
		}
		(void)fputc(']', to);
		rows++;
	}
	if (code == SQLITE_ROW)
		(void)fprintf(to, "],\n\"next_offset\":%" PRIu64 "}\n", ask->offset + rows);
	else
		(void)fputs("],\n\"next_offset\":null}\n", to);
	return code;
}

static bool put_table(sqlite3 *db, const struct pfs_http_ask *ask, const struct pfs_http_box *box,
		      FILE *to, struct pfs_message *message)
{
	sqlite3_stmt *statement = NULL;
	char *query = sqlite3_mprintf("SELECT * FROM \"%w\" LIMIT -1 OFFSET %lld", ask->name,
				      (long long)ask->offset);
	int code = query == NULL ? SQLITE_NOMEM
				 : sqlite3_prepare_v2(db, query, -1, &statement, NULL);
	if (code == SQLITE_OK) {
		(void)fputs("{\"table\":", to);
		pfs_put_json(to, ask->name);
		(void)fputs(",\"box\":", to);
		pfs_put_json(to, box->id);
		put_columns(to, statement);
		code = put_rows(to, statement, ask);
	}
	bool fine = code == SQLITE_ROW || code == SQLITE_DONE;
	if (!fine)
		(void)snprintf(message->text, sizeof(message->text), "%s", sqlite3_errmsg(db));
	(void)pfs_one_line(message->text);
	(void)sqlite3_finalize(statement);
	sqlite3_free(query);
	return fine;
}

PFS_HTTP_MAKES(pfs_http_table)
{
	if (!is_table(ask->name)) {
		*status = MHD_HTTP_NOT_FOUND;
		(void)snprintf(message->text, sizeof(message->text),
			       "there is no table '%.60s': /api/tables lists them", ask->name);
		(void)pfs_one_line(message->text);
		return false;
	}
	sqlite3 *db = pfs_http_tables(box, message);
	bool fine = db != NULL && put_table(db, ask, box, to, message);
	(void)sqlite3_close(db);
	return fine;
}

/* ---- over time ---- */

PFS_HTTP_MAKES(pfs_http_history)
{
	(void)ask;
	(void)status;
	struct pfs_report *report = pfs_report_take(box->path, message);
	bool fine = report != NULL && pfs_report_write_histories(report, to);
	pfs_report_free(report);
	return fine;
}

/* ---- boxes ---- */

static void put_box(FILE *to, const struct pfs_box_info *info)
{
	char id[PFS_HTTP_TARGET_BYTES], died[160];
	pfs_http_id(info->path, id);
	(void)fprintf(to, "\n{\"id\":\"%s\",\"pid\":%u,\"living\":%s,\"program\":", id, info->pid,
		      info->is_live ? "true" : "false");
	pfs_put_json(to, info->program);
	(void)fputs(",\"command\":", to);
	pfs_put_json(to, info->command);
	(void)fputs(",\"state\":", to);
	pfs_put_json(to, info->is_live ? "living" : pfs_box_died(info, died, sizeof(died)));
	(void)fprintf(to,
		      ",\"started_ms\":%" PRIu64 ",\"seen_ms\":%" PRIu64 ",\"ticks\":%" PRIu64
		      ",\"url\":\"/boxes/%s/\"}",
		      info->start_realtime_ns / 1000000, info->seen_realtime_ns / 1000000,
		      info->ticks, id);
}

PFS_HTTP_MAKES(pfs_http_boxes)
{
	struct pfs_box_list list;
	(void)ask;
	(void)box;
	(void)status;
	if (!pfs_http_list(&list, message))
		return false;
	(void)fputs("{\"boxes\":[", to);
	for (size_t i = 0; i < list.count; i++) {
		(void)fputs(i == 0 ? "" : ",", to);
		put_box(to, &list.boxes[i]);
	}
	(void)fprintf(to, "],\n\"refused\":%zu,\"why\":", list.refused);
	if (list.refused != 0)
		pfs_put_json(to, list.why.text);
	else
		(void)fputs("null", to);
	pfs_box_list_free(&list);
	return fputs("}\n", to) >= 0;
}
