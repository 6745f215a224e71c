/*
 * arguments.c - options of the commands of pfs-mem that are more than a text or a switch.
 */
#include <string.h>

#include "command.h"

struct pfs_arguments pfs_arguments = {
	.by = PFS_TABLE_GLOBAL, .by_instrument = true, .count = 20, .idle_s = 600
};

enum pfs_status pfs_take_format(void *context, const struct pfs_option *option, const char *text,
				struct pfs_message *message)
{
	static const char *const names[] = { "text", "csv", "json", "tab", "table" };
	struct pfs_arguments *arguments = context;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			arguments->format = (enum pfs_format)(i % PFS_FORMATS);
			return PFS_OK;
		}
	return pfs_read_choice(option->name, text, "text (table), csv, json, tab", message);
}

enum pfs_status pfs_take_by(void *context, const struct pfs_option *option, const char *text,
			    struct pfs_message *message)
{
	struct pfs_arguments *arguments = context;
	enum pfs_box_table table = pfs_table_find(text);
	arguments->by_instrument = strcmp(text, "instrument") == 0;
	arguments->by = arguments->by_instrument ? PFS_TABLE_GLOBAL : table;
	if (arguments->by_instrument || table < PFS_TABLE_GLOBAL)
		return PFS_OK;
	return pfs_read_choice(option->name, text, "instrument, thread, account, user, host",
			       message);
}

/* The opposite of --total. */
enum pfs_status pfs_take_live(void *context, const struct pfs_option *option, const char *text,
			      struct pfs_message *message)
{
	struct pfs_arguments *arguments = context;
	(void)option;
	(void)text;
	(void)message;
	arguments->of_total = false;
	return PFS_OK;
}
