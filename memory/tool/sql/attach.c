/*
 * attach.c - adds all tables, functions and views to a connection of SQLite; the entry point of
 * pfs_mem_sqlite.so.
 */
#include <stdlib.h>
#include <string.h>

#include "session.h"

static int register_tables(struct pfs_session *session)
{
	for (size_t i = 0; pfs_sql_table(i) != NULL; i++) {
		int code = sqlite3_create_module_v2(session->db, pfs_sql_table(i)->name,
						    &pfs_sql_module, session, NULL);
		if (code != SQLITE_OK)
			return code;
	}
	return SQLITE_OK;
}

static int attach(sqlite3 *db, const char *target, bool is_last, struct pfs_message *message)
{
	struct pfs_session *session = calloc(1, sizeof(*session));
	if (session == NULL) {
		pfs_refuse(message, "no memory for a connection");
		return SQLITE_NOMEM;
	}
	session->db = db;
	session->is_last = is_last;
	if (target != NULL && !pfs_session_open(session, target, message)) {
		pfs_session_free(session);
		return SQLITE_CANTOPEN;
	}
	/* The first function's destructor frees the session, also where this fails. Tables, which
	 * may go later, do not look at it any more then. */
	int code = pfs_sql_functions(session);
	if (code == SQLITE_OK)
		code = register_tables(session);
	if (code == SQLITE_OK)
		code = pfs_sql_views(db);
	if (code != SQLITE_OK)
		pfs_refuse(message, "the tables of a box: %s", sqlite3_errmsg(db));
	return code;
}

int pfs_sql_attach(sqlite3 *db, const char *target, struct pfs_message *message)
{
	return attach(db, target, false, message);
}

int pfs_sql_attach_last(sqlite3 *db, struct pfs_message *message)
{
	return attach(db, "last", true, message);
}

#ifndef SQLITE_CORE
/* SQLite calls it when it loads pfs_mem_sqlite.so. */
__attribute__((visibility("default"))) int
sqlite3_pfsmemsqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

int sqlite3_pfsmemsqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
	struct pfs_message message;
	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < 3038000) {
		*error = sqlite3_mprintf("pfs_mem_sqlite: needs SQLite 3.38 or newer, this is %s",
					 sqlite3_libversion());
		return SQLITE_ERROR;
	}
	if (pfs_sql_attach(db, NULL, &message) == SQLITE_OK)
		return SQLITE_OK;
	*error = sqlite3_mprintf("%s", message.text);
	return SQLITE_ERROR;
}
#endif
