/*
 * catalog.c - the list of all tables and views, itself a table.
 */
#include "session.h"

/* ---- pfs.tables ---- */

static uint64_t tables_limit(const struct pfs_cursor *cursor)
{
	uint64_t count = 0;
	(void)cursor;
	while (pfs_sql_name(count) != NULL)
		count++;
	return count;
}

static void tables_value(struct pfs_cursor *cursor, int column, sqlite3_context *context)
{
	const struct pfs_sql_name *one = pfs_sql_name(cursor->row);
	if (one != NULL)
		pfs_result_text(context, column == 0   ? one->name
					 : column == 1 ? one->schema
						       : one->type);
}

/* clang-format off */
static const struct pfs_table sql_tables = {
	.name = "tables", .schema = "pfs",
	.columns = "NAME VARCHAR(64) NOT NULL, TABLE_SCHEMA VARCHAR(64) NOT NULL, "
		   "TABLE_TYPE VARCHAR(64) NOT NULL",
	.row_limit = tables_limit, .value = tables_value
};
/* clang-format on */

/* ---- all ---- */

const struct pfs_table *pfs_sql_table(size_t i)
{
	static const struct pfs_table *const others[] = { &pfs_sql_os,
							  &pfs_sql_parts,
							  &pfs_sql_mapped,
							  &pfs_sql_history,
							  &pfs_sql_trace,
							  &pfs_sql_limits,
							  &pfs_sql_arenas,
							  &pfs_sql_arenas_history,
							  &pfs_sql_corruption,
							  &pfs_sql_lines,
							  &pfs_sql_stacks_history,
							  &pfs_sql_status,
							  &pfs_sql_variables,
							  &sql_tables };
	if (i < PFS_TABLES)
		return &pfs_sql_summaries[i];
	i -= PFS_TABLES;
	if (i < pfs_sql_object_count)
		return &pfs_sql_objects[i];
	i -= pfs_sql_object_count;
	return i < sizeof(others) / sizeof(others[0]) ? others[i] : NULL;
}

const struct pfs_sql_name *pfs_sql_name(size_t i)
{
	static _Thread_local struct pfs_sql_name name;
	size_t tables = 0;
	while (pfs_sql_table(tables) != NULL)
		tables++;
	if (i < tables)
		name = (struct pfs_sql_name){ pfs_sql_table(i)->name, pfs_sql_table(i)->schema,
					      "BASE TABLE" };
	else
		name = (struct pfs_sql_name){ pfs_sql_view_name(i - tables), "sys", "VIEW" };
	return name.name != NULL ? &name : NULL;
}
