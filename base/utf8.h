/*
 * utf8.h - where a character of UTF-8 ends.
 */
#ifndef PFS_COMMAND_UTF8_H
#define PFS_COMMAND_UTF8_H

#include <stddef.h>

/* The length of the first character of text, which has room bytes. 0: these bytes are not UTF-8, or
 * a character that XML excludes (U+FFFE, U+FFFF). */
static inline size_t pfs_utf8_bytes(const char *text, size_t room)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t bytes = at[0] < 0x80                    ? 1
		       : at[0] >= 0xC2 && at[0] < 0xE0 ? 2
		       : at[0] >= 0xE0 && at[0] < 0xF0 ? 3
		       : at[0] >= 0xF0 && at[0] < 0xF5 ? 4
						       : 0;
	if (bytes > room)
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((at[i] & 0xC0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond U+10FFFF, and the two that XML excludes. */
	if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] >= 0xA0) ||
	    (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] >= 0x90) ||
	    (at[0] == 0xEF && at[1] == 0xBF && at[2] >= 0xBE))
		return 0;
	return bytes;
}

#endif
