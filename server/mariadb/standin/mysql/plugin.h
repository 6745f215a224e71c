/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plugin.h - stand-in: the types of status variables.
 */
#ifndef STANDIN_PLUGIN_H
#define STANDIN_PLUGIN_H

class THD;
#define MYSQL_THD THD *

enum enum_mysql_show_type { SHOW_UNDEF, SHOW_LONGLONG, SHOW_ARRAY, SHOW_FUNC };
enum enum_var_type { SHOW_OPT_GLOBAL };
struct system_status_var;

struct st_mysql_show_var {
	const char *name;
	void *value;
	enum enum_mysql_show_type type;
};

#endif
