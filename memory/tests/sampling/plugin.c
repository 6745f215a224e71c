/*
 * plugin.c - a file that is opened and closed; each build of it has a function of another name.
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
