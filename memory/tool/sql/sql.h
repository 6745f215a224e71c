/*
 * sql.h - boxes as tables of SQLite: the interface of this folder.
 *
 * The same sources are built twice: into pfs-mem (SQLITE_CORE), which links SQLite, and into
 * pfs_mem_sqlite.so, which gets SQLite's calls from whoever loads it.
 */
#ifndef PFS_MEM_SQL_H
#define PFS_MEM_SQL_H

#include <sqlite3ext.h>

#include "memory/box/reader.h"

/* Reported to clients of MySQL. */
#define PFS_SQL_VERSION "8.0.0-pfslab"
#define PFS_SQL_COMMENT "pfs-mem: a box of accounts"

#ifdef SQLITE_CORE
#define PFS_SQL_CALLS
#else
#define PFS_SQL_CALLS extern const sqlite3_api_routines *sqlite3_api;
#endif
PFS_SQL_CALLS

/*
 * pfs_sql_attach - the tables, functions and views, into a connection, whose end frees them all.
 *
 * target: the box that they show, opened now; NULL: that of PFS_MEM_TARGET, at the first question,
 * unless SELECT pfs_mem_open('TARGET') says another one. A connection and all that it has is for
 * one thread at a time, or for SQLite in its serialized mode.
 * Returns   SQLITE_OK; else message says why.
 */
int pfs_sql_attach(sqlite3 *db, const char *target, struct pfs_message *message);

/* The same with the newest box. When its program has ended, a statement that finds a newer box of a
 * living program changes to that one. */
int pfs_sql_attach_last(sqlite3 *db, struct pfs_message *message);

/* The tables and views there are, for lists: name i and where MySQL has it; NULL: no more. */
struct pfs_sql_name {
	const char *name;
	const char *schema; /* performance_schema, sys, or pfs: ours alone */
	const char *type;   /* BASE TABLE, VIEW */
};
const struct pfs_sql_name *pfs_sql_name(size_t i);

/* The SELECT of a view of sys; NULL: there is none of that name. */
const char *pfs_sql_view_text(const char *name);

/* Is there a function of that name that gives what MySQL's gives? For lists of what clients may
 * call; it does not name those that open another box. */
bool pfs_sql_is_function(const char *name);

/* Makes text of a box UTF-8: '?' replaces other bytes. */
void pfs_sql_text(char *text);

/* A function of SQL that C implements. */
#define PFS_SQL_FUNCTION(name)                                                       \
	static void name(sqlite3_context *context, __attribute__((unused)) int argc, \
			 __attribute__((unused)) sqlite3_value **argv)

#endif
