/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sys_vars.h - stand-in: the declaration of an option, which keeps what it was declared with.
 */
#ifndef STANDIN_SYS_VARS_H
#define STANDIN_SYS_VARS_H

#define PARSED_EARLY 1 |
#define READ_ONLY 2 |
#define GLOBAL_VAR(variable) 4, &(variable)
#define REQUIRED_ARG 1
#define CMD_LINE(argument) argument
#define DEFAULT(value) value

class Sys_var_charptr
{
      public:
	Sys_var_charptr(const char *name, const char *comment, int flags, const char **variable,
			int argument, const char *default_value)
	    : m_name(name), m_comment(comment), m_flags(flags), m_argument(argument),
	      m_variable(variable), m_default(default_value)
	{
	}

	const char *m_name, *m_comment;
	int m_flags, m_argument;
	const char **m_variable;
	const char *m_default;
};

#endif
