/*
 * demangle.c - names of C++ and Rust as people write them, by binutils' libiberty, which bounds how
 * deep it follows a name.
 */
#include <libiberty/demangle.h>
#include <stddef.h>
#include <string.h>

#include "symbols.h"

char *pfs_demangled(const char *name)
{
	/* A C name can begin like a mangled one. Rust's names lose the hash at their end. */
	if (name[0] != '_' || strlen(name) > 16384)
		return NULL;
	return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
}
