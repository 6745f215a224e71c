/* known_one.c - a C library whose allocations a test knows. */
#include <stdlib.h>

#include "known.h"

void *known_one(size_t bytes)
{
	return malloc(bytes);
}
