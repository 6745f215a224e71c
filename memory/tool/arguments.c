/*
 * arguments.c - options of the commands of pfs-mem, by their keys.
 */
#include <string.h>

#include "command.h"

static enum pfs_status take_format(struct pfs_arguments *arguments, const char *text,
				   struct pfs_message *message)
{
	static const char *const names[] = { "text", "csv", "json", "tab", "table" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			arguments->format = (enum pfs_format)(i % PFS_FORMATS);
			return PFS_OK;
		}
	return pfs_read_choice("format", text, "text (table), csv, json, tab", message);
}

static enum pfs_status take_by(struct pfs_arguments *arguments, const char *text,
			       struct pfs_message *message)
{
	enum pfs_box_table table = pfs_table_find(text);
	arguments->by_instrument = strcmp(text, "instrument") == 0;
	arguments->by = arguments->by_instrument ? PFS_TABLE_GLOBAL : table;
	if (arguments->by_instrument || table < PFS_TABLE_GLOBAL)
		return PFS_OK;
	return pfs_read_choice("by", text, "instrument, thread, account, user, host", message);
}

enum pfs_status pfs_take_option(void *context, const struct pfs_option *option, const char *text,
				struct pfs_message *message)
{
	struct pfs_arguments *arguments = context;
	switch (option->key) {
	case PFS_KEY_FORMAT: return take_format(arguments, text, message);
	case PFS_KEY_BY: return take_by(arguments, text, message);
	case PFS_KEY_COUNT:
		return pfs_read_number(option->name, text, 1, UINT32_MAX, &arguments->count,
				       message);
	case PFS_KEY_ONCE: arguments->once = true; break;
	case PFS_KEY_ALL: arguments->all = true; break;
	case PFS_KEY_MYSQL: arguments->mysql = text; break;
	case PFS_KEY_HTTP: arguments->http = text; break;
	case PFS_KEY_TOKEN: arguments->token_file = text; break;
	case PFS_KEY_PASSWORD: arguments->password_file = text; break;
	case PFS_KEY_OUT: arguments->out = text; break;
	case PFS_KEY_DOCUMENT: arguments->document = text; break;
	case PFS_KEY_BASE: arguments->base = text; break;
	case PFS_KEY_SYMBOLIZED: arguments->symbolized = true; break;
	case PFS_KEY_LIVE: arguments->of_total = false; break;
	case PFS_KEY_TOTAL: arguments->of_total = true; break;
	default: arguments->lg_prof_sample = text; break;
	}
	return PFS_OK;
}
