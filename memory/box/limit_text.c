#include "limit_text.h"

#include <string.h>

static bool take_size(const char *text, size_t length, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	uint64_t number = 0;
	size_t at = 0;
	if (length == 4 && memcmp(text, "none", 4) == 0) {
		*bytes = PFS_BOX_NO_LIMIT;
		return true;
	}
	for (; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
		if (number > (UINT64_MAX >> 1) / 10 - 1)
			return false;
		number = number * 10 + (uint64_t)(text[at] - '0');
	}
	if (at == 0 || at + 1 < length)
		return false;
	if (at < length) {
		const char *unit = strchr(units, text[at]);
		unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
		if (shift == 0 || number > UINT64_MAX >> 2 >> shift)
			return false;
		number <<= shift;
	}
	*bytes = number;
	return true;
}

static bool take_name(char *to, size_t to_bytes, bool *has, const char *text, size_t length)
{
	if (length >= to_bytes)
		return false;
	memcpy(to, text, length);
	to[length] = '\0';
	*has = length != 0;
	return true;
}

static bool take_account(struct pfs_limit_text *limit, const char *text, size_t length)
{
	const char *at = memchr(text, '@', length);
	if (at == NULL)
		return false;
	limit->scope = PFS_SCOPE_ACCOUNT;
	return take_name(limit->user, sizeof(limit->user), &limit->has_user, text,
			 (size_t)(at - text)) &&
	       take_name(limit->host, sizeof(limit->host), &limit->has_host, at + 1,
			 length - (size_t)(at + 1 - text));
}

static bool take_scope(struct pfs_limit_text *limit, const char *text, size_t length)
{
	static const char *const scopes[] = { "program", "thread", "account", "user" };
	for (uint32_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
		if (strlen(scopes[i]) != length || memcmp(scopes[i], text, length) != 0)
			continue;
		limit->scope = (enum pfs_box_scope)(PFS_SCOPE_PROGRAM + i);
		return true;
	}
	if (length > 8 && memcmp(text, "account:", 8) == 0)
		return take_account(limit, text + 8, length - 8);
	limit->scope = PFS_SCOPE_USER;
	return length >= 5 && memcmp(text, "user:", 5) == 0 &&
	       take_name(limit->user, sizeof(limit->user), &limit->has_user, text + 5, length - 5);
}

bool pfs_limit_text_next(const char **text, struct pfs_limit_text *limit)
{
	size_t length = strcspn(*text, ",");
	const char *equals = memchr(*text, '=', length);
	memset(limit, 0, sizeof(*limit));
	if (equals == NULL)
		return false;
	size_t name = (size_t)(equals - *text);
	if (!take_scope(limit, *text, name) ||
	    !take_size(equals + 1, length - name - 1, &limit->bytes))
		return false;
	*text += length + ((*text)[length] == ',');
	return true;
}
