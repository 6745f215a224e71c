/*
 * guard.h - what a statement of a client may do, and how much it may cost.
 *
 * Allowed is what a list names: everything else is denied, also what a later SQLite adds. The
 * lists: our tables, views and functions; a choice of SQLite's functions; one pragma. All modules
 * of tables but ours are dropped, and no text is long enough for one of SQLite's opcodes to take
 * long.
 */
#ifndef PFS_SQL_GUARD_H
#define PFS_SQL_GUARD_H

#include <stdbool.h>

#include "sql.h"

#define PFS_GUARD_VALUE_BYTES (64 << 10)
#define PFS_GUARD_HEAP_BYTES (INT64_C(64) << 20) /* of SQLite, in this process */

enum pfs_guard_kind { PFS_DENIED_NOTHING, PFS_DENIED_CHANGE, PFS_DENIED_OTHER };

struct pfs_sql_guard {
	bool may_change;            /* UPDATE, and DELETE of all rows, where tables take them */
	enum pfs_guard_kind denied; /* by the last statement that was compiled */
	char why[160];              /* if PFS_DENIED_OTHER */
	char *foreign;              /* names of functions that extensions brought; ours */
	char *own;
};

/*
 * pfs_sql_guard_begin - for every connection: no extensions, no schema that could be written, no
 * modules of tables. Before the tables are attached.
 * pfs_sql_guard_end - for clients: the lists and the limits. After all is attached.
 *
 * Returns   false: no memory; the connection is then to be closed.
 */
bool pfs_sql_guard_begin(struct pfs_sql_guard *self, sqlite3 *db);
bool pfs_sql_guard_end(struct pfs_sql_guard *self, sqlite3 *db);

#endif
