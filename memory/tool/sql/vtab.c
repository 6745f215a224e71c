/*
 * vtab.c - the module of all tables. They are eponymous: no CREATE is needed.
 *
 * SQLite checks all constraints again (omit stays 0), so a scan skips rows only for speed, and
 * ignores constraints that it does not understand.
 *
 * DELETE: SQLite scans all rows, then deletes one at a time, and does not say whether there was a
 * WHERE. If the count of deleted rows reaches that of the snapshot, it was a TRUNCATE. A statement
 * whose text or plan shows a condition is refused at its first row. If it still ends before the
 * last row, xSync refuses it.
 */
#include <stdlib.h>
#include <string.h>

#include "session.h"

static int fail(sqlite3_vtab *vtab, int code, const char *line)
{
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", line);
	return code;
}

static int table_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **vtab, char **error)
{
	struct pfs_vtab *self = sqlite3_malloc(sizeof(*self));
	const struct pfs_table *table = NULL;
	for (size_t i = 0; argc > 0 && pfs_sql_table(i) != NULL; i++)
		if (strcmp(pfs_sql_table(i)->name, argv[0]) == 0)
			table = pfs_sql_table(i);
	if (self == NULL)
		return SQLITE_NOMEM;
	if (table == NULL) {
		sqlite3_free(self);
		*error = sqlite3_mprintf("no such table of a box");
		return SQLITE_ERROR;
	}
	memset(self, 0, sizeof(*self));
	self->session = aux;
	self->table = table;
	char *create = sqlite3_mprintf("CREATE TABLE %s(%s)", table->name, table->columns);
	int code = create == NULL ? SQLITE_NOMEM : sqlite3_declare_vtab(db, create);
	sqlite3_free(create);
	if (code != SQLITE_OK) {
		sqlite3_free(self);
		return code;
	}
	(void)sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS); /* views may use it */
	*vtab = &self->base;
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

/* ---- plans: bit k: the argument of key k is there, in the order of enum pfs_key ---- */

#define PLAN_CONSTRAINED (1 << PFS_KEYS) /* there is a condition, pushed down or not */

static bool key_usable(sqlite3_index_info *info, int i, int column)
{
	const struct sqlite3_index_constraint *one = &info->aConstraint[i];
	return one->usable && one->op == SQLITE_INDEX_CONSTRAINT_EQ && one->iColumn == column &&
	       strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

static double rows_of(const struct pfs_vtab *self, int plan)
{
	double rows = 1000;
	if (self->table->keys[PFS_KEY_EVENT] > 0) {
		uint64_t known = self->session->row_counts[self->table->rows];
		rows = known > 0 ? (double)known : 25000;
	}
	if (plan & 1 << PFS_KEY_EVENT)
		rows /= 100;
	if (plan & (1 << PFS_KEY_ID | 1 << PFS_KEY_USER))
		rows /= 50;
	if (plan & 1 << PFS_KEY_HOST)
		rows /= 10;
	return rows < 1 ? 1 : rows;
}

static int table_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	struct pfs_vtab *self = (struct pfs_vtab *)vtab;
	int plan = 0, arguments = 0;
	for (int key = 0; key < PFS_KEYS; key++) {
		for (int i = 0; self->table->keys[key] > 0 && i < info->nConstraint; i++) {
			if (!key_usable(info, i, self->table->keys[key] - 1))
				continue;
			info->aConstraintUsage[i].argvIndex = ++arguments;
			plan |= 1 << key;
			break;
		}
	}
	if (info->nConstraint > 0)
		plan |= PLAN_CONSTRAINED;
	info->idxNum = plan;
	double rows = rows_of(self, plan);
	info->estimatedRows = (sqlite3_int64)rows;
	info->estimatedCost = rows + 10;
	return SQLITE_OK;
}

/* ---- cursors ---- */

static int table_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
	struct pfs_vtab *table = (struct pfs_vtab *)vtab;
	struct pfs_cursor *self = sqlite3_malloc(sizeof(*self));
	if (self == NULL)
		return SQLITE_NOMEM;
	memset(self, 0, sizeof(*self));
	self->table = table->table;
	/* Cursors of a join are all opened before the first is read. */
	self->moment = pfs_session_enter(table->session, self->table->parts);
	if (self->moment == NULL) {
		sqlite3_free(self);
		return SQLITE_NOMEM;
	}
	*cursor = &self->base;
	return SQLITE_OK;
}

static void forget(struct pfs_cursor *self)
{
	for (size_t i = 0; i < sizeof(self->keys.text) / sizeof(self->keys.text[0]); i++)
		sqlite3_free(self->keys.text[i]);
	memset(&self->keys, 0, sizeof(self->keys));
	free(self->own);
	self->own = NULL;
	self->has_sums = false;
}

static int table_close(sqlite3_vtab_cursor *cursor)
{
	struct pfs_cursor *self = (struct pfs_cursor *)cursor;
	struct pfs_vtab *table = (struct pfs_vtab *)cursor->pVtab;
	forget(self);
	if (table->moment == self->moment)
		table->moment = NULL;
	pfs_session_leave(table->session, self->moment);
	sqlite3_free(self);
	return SQLITE_OK;
}

/* SQLite's own rules compare values of other types: these are not keys. */
static bool take_key(struct pfs_keys *keys, int key, sqlite3_value *value)
{
	if (key == PFS_KEY_ID && sqlite3_value_type(value) == SQLITE_INTEGER) {
		keys->has_id = true;
		keys->id = sqlite3_value_int64(value);
	} else if (key != PFS_KEY_ID && sqlite3_value_type(value) == SQLITE_TEXT) {
		keys->text[key] = sqlite3_mprintf("%s", (const char *)sqlite3_value_text(value));
		return keys->text[key] != NULL;
	}
	return true;
}

static void find_instrument(struct pfs_cursor *self)
{
	const char *name = self->keys.text[PFS_KEY_EVENT];
	self->key_instrument = PFS_NONE;
	for (uint32_t i = 0; name != NULL && i < self->snapshot->instrument_count; i++)
		if (strcmp(self->snapshot->instruments[i].name, name) == 0)
			self->key_instrument = i;
}

static void settle(struct pfs_cursor *self)
{
	self->has_sums = false;
	while (self->row < self->row_limit) {
		uint64_t row = self->row;
		if (self->table->there == NULL || self->table->there(self, &self->row))
			return;
		if (self->row <= row)
			self->row = row + 1;
	}
}

static int table_filter(sqlite3_vtab_cursor *cursor, int plan, const char *text, int argc,
			sqlite3_value **argv)
{
	struct pfs_cursor *self = (struct pfs_cursor *)cursor;
	struct pfs_vtab *table = (struct pfs_vtab *)cursor->pVtab;
	struct pfs_message message;
	(void)text;
	forget(self);
	self->snapshot = pfs_session_look(table->session, self->moment, self->table->parts,
					  &message);
	if (self->snapshot == NULL)
		return fail(cursor->pVtab, SQLITE_ERROR, message.text);
	if (self->table->has_view) {
		self->view = pfs_session_view(table->session, self->moment, &message);
		if (self->view == NULL)
			return fail(cursor->pVtab, SQLITE_ERROR, message.text);
	}
	for (int key = 0, argument = 0; key < PFS_KEYS && argument < argc; key++)
		if ((plan & 1 << key) != 0 && !take_key(&self->keys, key, argv[argument++]))
			return SQLITE_NOMEM;
	find_instrument(self);
	table->is_constrained = (plan & PLAN_CONSTRAINED) != 0;
	table->moment = self->moment;
	table->deleted = 0;
	table->rows = pfs_snapshot_row_count(self->snapshot, self->table->rows);
	self->row = 0;
	self->row_limit = self->table->row_limit(self);
	settle(self);
	return SQLITE_OK;
}

static int table_next(sqlite3_vtab_cursor *cursor)
{
	struct pfs_cursor *self = (struct pfs_cursor *)cursor;
	self->row++;
	settle(self);
	return SQLITE_OK;
}

static int table_eof(sqlite3_vtab_cursor *cursor)
{
	const struct pfs_cursor *self = (struct pfs_cursor *)cursor;
	return self->row >= self->row_limit;
}

static int table_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	struct pfs_cursor *self = (struct pfs_cursor *)cursor;
	if (sqlite3_vtab_nochange(context))
		return SQLITE_OK; /* of an UPDATE: left as it is */
	self->table->value(self, column, context);
	return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
	const struct pfs_cursor *self = (struct pfs_cursor *)cursor;
	*rowid = self->table->rowid != NULL ? self->table->rowid(self)
					    : (sqlite3_int64)self->row + 1;
	return SQLITE_OK;
}

/* ---- writing ---- */

static int refuse_write(struct pfs_vtab *self, const char *what)
{
	struct pfs_message message;
	pfs_refuse(&message, "%s: %s", self->table->name, what);
	return fail(&self->base, SQLITE_READONLY, message.text);
}

static bool is_summary(const struct pfs_table *table)
{
	return table->keys[PFS_KEY_EVENT] > 0;
}

static const char whole_only[] = "rows cannot be deleted; DELETE without WHERE is TRUNCATE";

static int delete_row(struct pfs_vtab *self)
{
	struct pfs_message message;
	if (!is_summary(self->table))
		return refuse_write(self, "is read-only");
	if (self->is_constrained)
		return refuse_write(self, whole_only);
	if (self->deleted == 0 && self->moment != NULL && pfs_moment_has_where(self->moment))
		return refuse_write(self, whole_only);
	if (self->deleted == 0 && !pfs_session_writable(self->session, &message))
		return fail(&self->base, SQLITE_READONLY, message.text);
	if (++self->deleted < self->rows)
		return SQLITE_OK;
	self->deleted = 0;
	if (pfs_reader_truncate(self->session->reader, self->table->rows, &message))
		return SQLITE_OK;
	return fail(&self->base, SQLITE_ERROR, message.text);
}

static int table_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid)
{
	struct pfs_vtab *self = (struct pfs_vtab *)vtab;
	struct pfs_message message;
	(void)rowid;
	if (argc == 1)
		return delete_row(self);
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return refuse_write(self, "nothing can be inserted");
	if (self->table->update == NULL)
		return refuse_write(self, is_summary(self->table)
						  ? "is read-only, but for DELETE without WHERE"
						  : "is read-only");
	if (!pfs_session_writable(self->session, &message))
		return fail(vtab, SQLITE_READONLY, message.text);
	if (self->table->update(self->session, sqlite3_value_int64(argv[0]), argv + 2, &message))
		return SQLITE_OK;
	return fail(vtab, SQLITE_ERROR, message.text);
}

static int table_begin(sqlite3_vtab *vtab)
{
	struct pfs_vtab *self = (struct pfs_vtab *)vtab;
	self->deleted = 0;
	return SQLITE_OK;
}

static int table_sync(sqlite3_vtab *vtab)
{
	struct pfs_vtab *self = (struct pfs_vtab *)vtab;
	uint64_t deleted = self->deleted;
	self->deleted = 0;
	return deleted == 0 ? SQLITE_OK : refuse_write(self, whole_only);
}

static int table_end(sqlite3_vtab *vtab)
{
	((struct pfs_vtab *)vtab)->deleted = 0;
	return SQLITE_OK;
}

const sqlite3_module pfs_sql_module = {
	.iVersion = 1,
	.xConnect = table_connect, /* and no xCreate: eponymous only */
	.xBestIndex = table_best_index,
	.xDisconnect = table_disconnect,
	.xDestroy = table_disconnect,
	.xOpen = table_open,
	.xClose = table_close,
	.xFilter = table_filter,
	.xNext = table_next,
	.xEof = table_eof,
	.xColumn = table_column,
	.xRowid = table_rowid,
	.xUpdate = table_update,
	.xBegin = table_begin,
	.xSync = table_sync,
	.xCommit = table_end,
	.xRollback = table_end,
};
