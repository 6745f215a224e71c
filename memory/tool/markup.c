/*
 * markup.c - see markup.h.
 */
#include "markup.h"

#include <stdarg.h>
#include <string.h>

#include "base/utf8.h"

void pfs_put_bytes(FILE *to, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes;) {
		size_t length = pfs_utf8_bytes(text + i, bytes - i);
		switch (text[i]) {
		case '&': (void)fputs("&amp;", to); break;
		case '<': (void)fputs("&lt;", to); break;
		case '>': (void)fputs("&gt;", to); break;
		case '"': (void)fputs("&quot;", to); break;
		case '\'': (void)fputs("&#39;", to); break;
		case '\t':
		case '\n': (void)fprintf(to, "&#%d;", text[i]); break;
		default: /* HTML and XML have no other control characters */
			if (length == 0 || (unsigned char)text[i] < ' ' || text[i] == 127)
				(void)fputc('?', to);
			else
				(void)fwrite(text + i, 1, length, to);
		}
		i += length != 0 ? length : 1;
	}
}

void pfs_put_text(FILE *to, const char *text)
{
	pfs_put_bytes(to, text, strlen(text));
}

void pfs_put_name(FILE *to, const char *name)
{
	while (*name != '\0') {
		size_t bytes = strcspn(name, "/@_");
		bytes += name[bytes] != '\0';
		pfs_put_bytes(to, name, bytes);
		if (strchr("/@_", name[bytes - 1]) != NULL)
			(void)fputs("<wbr>", to);
		name += bytes;
	}
}

void pfs_put_doctype(FILE *to)
{
	(void)fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
		    "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
		    to);
}

void pfs_put_svg(FILE *to, const char *style, const char *attributes, ...)
{
	va_list list;
	va_start(list, attributes);
	(void)fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" ", to);
	(void)vfprintf(to, attributes, list);
	va_end(list);
	(void)fprintf(to,
		      ">\n<style>%s</style>\n"
		      "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n",
		      style);
}

void pfs_bar_begin(FILE *to)
{
	(void)fputs("<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" "
		    "aria-hidden=\"true\">",
		    to);
}

void pfs_bar_part(FILE *to, const char *css, int64_t value, int64_t most)
{
	if (value > 0 && most > 0)
		(void)fprintf(to, "<rect class=\"%s\" width=\"%.1f\" height=\"10\"/>", css,
			      1000.0 * (double)value / (double)most);
}

void pfs_bar_end(FILE *to, const char *after)
{
	(void)fprintf(to, "</svg>%s", after);
}
