/*
 * function.c - what the name of a function says, as a person reads it.
 */
#include "function.h"

#include <fnmatch.h>
#include <string.h>

bool pfs_is_allocating(const char *name)
{
	static const char *const prefixes[] = { "je_",    "tc_",   "__libc_", "__rust_",
						"__rdl_", "__rg_", "mi_" };
	/* clang-format off */
	static const char *const calls[] = {
		"malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc",
		"valloc", "pvalloc", "mallocx", "rallocx", "xallocx", "alloc", "alloc_zeroed",
		"new", "newarray", "new_nothrow", "newarray_nothrow", "reallocarray",
	};
	/* clang-format on */
	size_t length = 0;
	bool has_prefix = false;
	if (strncmp(name, "operator new", 12) == 0 || strncmp(name, "_rjem_", 6) == 0 ||
	    strncmp(name, "je_prof_", 8) == 0)
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]) && !has_prefix; i++) {
		length = strlen(prefixes[i]);
		has_prefix = strncmp(name, prefixes[i], length) == 0;
	}
	name += has_prefix ? length : 0;
	/* Plain "alloc" and "new" are names of any program. */
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(name, calls[i]) == 0)
			return has_prefix ||
			       (strncmp(name, "new", 3) != 0 && strncmp(name, "alloc", 5) != 0);
	return false;
}

size_t pfs_short_length(const char *name)
{
	size_t length = strlen(name), at = length;
	static const char is_const[] = " const";
	if (at > strlen(is_const) && strcmp(name + at - strlen(is_const), is_const) == 0)
		at -= strlen(is_const);
	if (at == 0 || name[at - 1] != ')')
		return length;
	for (int depth = 0; at > 0; at--) {
		depth += name[at - 1] == ')';
		depth -= name[at - 1] == '(';
		if (depth == 0)
			return at > 1 ? at - 1 : length;
	}
	return length;
}

/* Templates have their type in front: "void std::sort<...>(...)". Where the path begins. */
static const char *path_of(const char *name, size_t length)
{
	const char *path = name;
	int depth = 0;
	for (size_t i = 0; i < length; i++) {
		depth += name[i] == '<' || name[i] == '(';
		depth -= (name[i] == '>' && (i == 0 || name[i - 1] != '-')) || name[i] == ')';
		if (name[i] == ' ' && depth == 0 && strncmp(name + i + 1, "const", 5) != 0)
			path = name + i + 1;
	}
	return path;
}

/* Allocators that programs and libraries put before malloc. */
static bool is_wrapper(const char *name)
{
	/* clang-format off */
	static const char *const wrappers[] = {
		"zmalloc*", "ztrymalloc*", "zcalloc*", "ztrycalloc*", "zrealloc*", "ztryrealloc*",
		"xmalloc", "xcalloc", "xrealloc", "xstrdup", "xstrndup", "xmemdup", "xzalloc",
		"g_malloc*", "g_try_malloc*", "g_realloc*", "g_strdup*", "g_strndup", "g_slice_*",
		"CRYPTO_*alloc", "CRYPTO_strdup", "CRYPTO_memdup", "ngx_alloc", "ngx_calloc",
		"ngx_palloc*", "ngx_pnalloc", "ngx_pcalloc", "apr_palloc*", "apr_pcalloc*",
		"sqlite3Malloc*", "sqlite3_malloc*", "sqlite3Realloc*", "sqlite3_realloc*",
		"sqlite3DbMalloc*", "sqlite3DbRealloc*", "sqlite3MemMalloc", "sqlite3MemRealloc",
		"palloc*", "repalloc*", "pstrdup", "MemoryContextAlloc*", "AllocSet*", "strdup",
		"strndup", "__strdup", "__strndup", "asprintf", "vasprintf",
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (fnmatch(wrappers[i], name, 0) == 0)
			return true;
	return false;
}

bool pfs_is_standard(const char *name)
{
	static const char *const spaces[] = { "std::",  "__gnu_cxx::", "__cxxabiv1::", "alloc::",
					      "core::", "hashbrown::", "<alloc::",     "<core::",
					      "<std::", "<hashbrown",  "__rustc" };
	if (strncmp(name, "operator ", 9) == 0)
		return strncmp(name + 9, "new", 3) == 0 || strncmp(name + 9, "delete", 6) == 0;
	const char *path = path_of(name, pfs_short_length(name));
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		if (strncmp(path, spaces[i], strlen(spaces[i])) == 0)
			return true;
	return pfs_is_allocating(name) || is_wrapper(name);
}
