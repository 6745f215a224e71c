/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfslab_memory.h - where the server's own allocation calls meet the arena of a page.
 *
 * Each call first asks here. If the calling thread makes or drops the arrays of a page, the memory
 * is the page's arena's: zero-filled, at the address that the array had before.
 */
#ifndef PFSLAB_SERVER_MEMORY_H
#define PFSLAB_SERVER_MEMORY_H

#include "pfslab_server.h"

/* In a function that returns memory of a class, which counts it. */
#define PFSLAB_MALLOC(klass, size)                                              \
	do {                                                                    \
		if (pfslab::Arena *arena = pfslab::current_arena()) {           \
			void *memory = arena->take(size);                       \
			if (memory != nullptr)                                  \
				(klass)->count_alloc(size);                     \
			return memory;                                          \
		}                                                               \
	} while (0)

/* In a function that gives such memory back. */
#define PFSLAB_FREE(klass, size, memory)                                               \
	do {                                                                           \
		pfslab::Arena *arena = pfslab::current_arena();                        \
		if (arena != nullptr && (memory) != nullptr && arena->give(memory, size)) { \
			(klass)->count_free(size);                                     \
			return;                                                        \
		}                                                                      \
	} while (0)

#endif
