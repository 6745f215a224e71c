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
#define OPT_ARG 2
#define FALSE 0
#define CMD_LINE(argument) argument
#define DEFAULT(value) value

template <class T> class Sys_var_of
{
      public:
	Sys_var_of(const char *name, const char *comment, int flags, T *variable, int argument,
		   T default_value)
	    : m_name(name), m_comment(comment), m_flags(flags), m_argument(argument),
	      m_variable(variable), m_default(default_value)
	{
	}

	const char *m_name, *m_comment;
	int m_flags, m_argument;
	T *m_variable;
	T m_default;
};

typedef char my_bool;
typedef Sys_var_of<const char *> Sys_var_charptr;
typedef Sys_var_of<my_bool> Sys_var_mybool;

#endif
