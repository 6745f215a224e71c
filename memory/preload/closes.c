/*
 * closes.c - dlclose, which calls the loader's, then tells the profile that a file may be unmapped.
 * Another file may be mapped at its addresses, and then the same addresses mean another stack.
 * (dlopen is not replaced: its behaviour depends on its caller's address.)
 */
#define _GNU_SOURCE

#include "counter.h"
#include "memory/malloc/next.h"
#include "memory/profile/profile.h"

typedef int closes(void *file);

__attribute__((visibility("default"))) int dlclose(void *file)
{
	static _Atomic(void *) known;
	closes *next = (closes *)pfs_next("dlclose", &known);
	int result = next != NULL ? next(file) : -1;
	pfs_profile_closed(pfs_program.books);
	return result;
}
