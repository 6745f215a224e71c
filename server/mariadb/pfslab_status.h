/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfslab_status.h - the function behind the status variables.
 */
#ifndef PFSLAB_SHOW_H
#define PFSLAB_SHOW_H

#include "my_global.h"
#include <mysql/plugin.h>

int pfslab_show(MYSQL_THD, struct st_mysql_show_var *variable, void *, struct system_status_var *,
		enum enum_var_type);

#endif
