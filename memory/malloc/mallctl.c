/*
 * mallctl.c - mallctl: a name is looked up as a row, and a row leads to its value. A MIB has one
 * number for each word of the name: the row's number for a plain word, the index for a #.
 */
#include <errno.h>
#include <pfslab/jemalloc.h>
#include <stdint.h>
#include <string.h>

#include "ctl.h"
#include "start.h"

#define PUBLIC __attribute__((visibility("default")))

/* ---- names ---- */

/* Read an index. Returns the text after it; NULL: no digits, or too many. */
static const char *read_index(const char *text, size_t *index)
{
	const char *at = text;
	*index = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (*index > SIZE_MAX / 16)
			return NULL;
		*index = *index * 10 + (size_t)(*at - '0');
	}
	return at != text ? at : NULL;
}

/* Does the name match this row? */
static bool matches(const struct pfs_ctl_row *row, const char *name, size_t *at)
{
	uint32_t places = 0;
	for (const char *word = row->name; *word != '\0'; word++) {
		if (*word != '#') {
			if (*name++ != *word)
				return false;
			continue;
		}
		size_t index;
		name = read_index(name, &index);
		if (name == NULL || !pfs_ctl_has_index(row, places, index))
			return false;
		at[places++] = index;
	}
	return *name == '\0';
}

/* NULL: no such name. */
static const struct pfs_ctl_row *find(const char *name, size_t *at)
{
	for (uint32_t i = 0; i < pfs_ctl_row_count; i++)
		if (matches(&pfs_ctl_rows[i], name, at))
			return &pfs_ctl_rows[i];
	return NULL;
}

static int run(const struct pfs_ctl *ctl)
{
	return ctl->row->group >= PFS_CTL_STAT ? pfs_ctl_stat(ctl) : pfs_ctl_value(ctl);
}

PUBLIC int mallctl(const char *name, void *old_value, size_t *old_length, void *new_value,
		   size_t new_length)
{
	struct pfs_ctl ctl = { NULL, { 0 }, old_value, old_length, new_value, new_length };
	pfs_start();
	ctl.row = find(name, ctl.at);
	return ctl.row != NULL ? run(&ctl) : ENOENT;
}

/* ---- numbers in the place of names ---- */

/* Step over a word of a row's name. Returns the next word. */
static const char *next_word(const char *word, bool *is_index)
{
	*is_index = *word == '#';
	while (*word != '\0' && *word != '.')
		word++;
	return *word == '.' ? word + 1 : word;
}

PUBLIC int mallctlnametomib(const char *name, size_t *mib, size_t *mib_length)
{
	size_t at[PFS_CTL_INDEXES];
	pfs_start();
	const struct pfs_ctl_row *row = find(name, at);
	if (row == NULL)
		return ENOENT;
	uint32_t places = 0;
	size_t depth = 0;
	for (const char *word = row->name; *word != '\0' && depth < *mib_length; depth++) {
		bool is_index;
		word = next_word(word, &is_index);
		mib[depth] = is_index ? at[places++] : (size_t)(row - pfs_ctl_rows);
	}
	*mib_length = depth;
	return 0;
}

/* Extract the indexes from a MIB; false: it does not match this row, or an index is out of range.
 * */
static bool read_mib(const struct pfs_ctl_row *row, const size_t *mib, size_t mib_length,
		     size_t *at)
{
	uint32_t places = 0;
	size_t depth = 0;
	const char *word = row->name;
	for (; *word != '\0' && depth < mib_length; depth++) {
		bool is_index;
		word = next_word(word, &is_index);
		if (!is_index && mib[depth] != (size_t)(row - pfs_ctl_rows))
			return false;
		if (is_index && !pfs_ctl_has_index(row, places, mib[depth]))
			return false;
		if (is_index)
			at[places++] = mib[depth];
	}
	return *word == '\0' && depth == mib_length;
}

PUBLIC int mallctlbymib(const size_t *mib, size_t mib_length, void *old_value, size_t *old_length,
			void *new_value, size_t new_length)
{
	struct pfs_ctl ctl = { NULL, { 0 }, old_value, old_length, new_value, new_length };
	pfs_start();
	if (mib_length == 0 || mib[0] >= pfs_ctl_row_count)
		return ENOENT;
	ctl.row = &pfs_ctl_rows[mib[0]];
	return read_mib(ctl.row, mib, mib_length, ctl.at) ? run(&ctl) : ENOENT;
}
