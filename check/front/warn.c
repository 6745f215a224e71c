#define _GNU_SOURCE
#include "check/front/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/command_line.h"

#define WARNINGS_MAX 16u /* more are printed, but not kept */

static char *warnings[WARNINGS_MAX];
static uint32_t warning_count;

void pfs_warn(const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text == NULL)
		return;
	(void)pfs_command_refuse("pfs-check", 0, "%s", text);
	if (warning_count < WARNINGS_MAX)
		warnings[warning_count++] = text;
}

const char *pfs_warning(uint32_t at)
{
	return at < warning_count ? warnings[at] : NULL;
}
