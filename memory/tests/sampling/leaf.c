/*
 * leaf.c - allocates: by malloc, and by a realloc of a block in use.
 */
#include <stdlib.h>
#include <string.h>

#include "program.h"

void leaf(void)
{
	void *block = malloc(1000);
	memset(block, 1, 8);
	block = realloc(block, 5000);
	__asm__ volatile("" : : "r"(block) : "memory");
}
