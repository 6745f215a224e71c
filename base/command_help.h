/*
 * command_help.h - what --help prints, of a table of options.
 */
#ifndef PFS_COMMAND_HELP_H
#define PFS_COMMAND_HELP_H

#include <ctype.h>

#include "base/command_line.h"

/* The short option, if it has one. */
static inline bool pfs_option_has_letter(const struct pfs_option *option)
{
	return option->key > 0 && option->key < 128 && isalnum(option->key);
}

void pfs_command_help(const struct pfs_command_line *self);

#endif
