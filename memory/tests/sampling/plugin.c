/*
 * plugin.c - a library that is loaded and unloaded; each build of it has a differently named
 * function.
 */
#include <stdlib.h>

void *plugin(void);

__attribute__((noinline)) void *PLUGIN_NAME(void);
void *PLUGIN_NAME(void)
{
	void *block = malloc(600);
	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}

void *plugin(void)
{
	void *block = PLUGIN_NAME();
	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}
