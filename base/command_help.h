/*
 * command_help.h - prints --help from a table of options.
 */
#ifndef PFS_COMMAND_HELP_H
#define PFS_COMMAND_HELP_H

#include <ctype.h>

#include "base/command_line.h"

/* Does the option have a short form? */
static inline bool pfs_option_has_letter(const struct pfs_option *option)
{
	return option->key > 0 && option->key < 128 && isalnum(option->key);
}

void pfs_command_help(const struct pfs_command_line *self);

#endif
