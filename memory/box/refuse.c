/*
 * refuse.c - the message of a refusal.
 */
#include <stdarg.h>
#include <stdio.h>

#include "reader.h"

bool pfs_refuse(struct pfs_message *message, const char *format, ...)
{
	va_list list;
	if (message == NULL)
		return false;
	va_start(list, format);
	(void)vsnprintf(message->text, sizeof(message->text), format, list);
	va_end(list);
	(void)pfs_one_line(message->text);
	return false;
}
