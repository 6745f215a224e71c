/*
 * dump_line.c - the lines of a dump, and what stands in them.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "dump.h"

bool pfs_dump_refuse(struct dump *dump, const char *format, ...)
{
	char why[128];
	va_list list;
	va_start(list, format);
	(void)vsnprintf(why, sizeof(why), format, list);
	va_end(list);
	(void)snprintf(dump->message->text, sizeof(dump->message->text),
		       "'%.100s', line %" PRIu64 ": %s", dump->path, dump->number, why);
	(void)pfs_one_line(dump->message->text);
	return false;
}

bool pfs_dump_next(struct dump *dump)
{
	if (dump->at == dump->end)
		return false;
	const char *end = memchr(dump->at, '\n', (size_t)(dump->end - dump->at));
	dump->line = dump->at;
	dump->line_end = end != NULL ? end : dump->end;
	dump->at = end != NULL ? end + 1 : dump->end;
	if (dump->line_end > dump->line && dump->line_end[-1] == '\r')
		dump->line_end--;
	dump->number++;
	return true;
}

bool pfs_dump_begins(const struct dump *dump, const char *with)
{
	size_t length = strlen(with);
	return (size_t)(dump->line_end - dump->line) >= length &&
	       memcmp(dump->line, with, length) == 0;
}

void pfs_dump_skip_spaces(const char **at, const char *end)
{
	while (*at < end && (**at == ' ' || **at == '\t'))
		++*at;
}

bool pfs_dump_number(const char **at, const char *end, unsigned base, uint64_t *number)
{
	const char *from;
	uint64_t value = 0;
	pfs_dump_skip_spaces(at, end);
	if (base == 16 && end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x')
		*at += 2;
	for (from = *at; *at < end && isxdigit((unsigned char)**at); ++*at) {
		unsigned digit = (unsigned char)**at <= '9' ? (unsigned)(**at - '0')
							    : (unsigned)((**at | 32) - 'a' + 10);
		if (digit >= base)
			break;
		if (value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	*number = value;
	return *at > from;
}
