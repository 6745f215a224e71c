/*
 * plain_entries.h - the functions that gcc and clang call with -fsanitize=thread for each plain
 * access. Their names and arguments are the compilers'.
 *
 * Defines them; for one file of a program. PFS_PLAIN_REPORT(address, bytes, writes, code) is what
 * they call.
 */
#ifndef PFS_SIM_PLAIN_ENTRIES_H
#define PFS_SIM_PLAIN_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>

/* No header declares what only compilers call. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define PFS_PLAIN_HERE __builtin_return_address(0)

#define PFS_PLAIN_ENTRY(name, size, writes)                                  \
	void name(void *address)                                             \
	{                                                                    \
		PFS_PLAIN_REPORT(address, (size), (writes), PFS_PLAIN_HERE); \
	}
/* Of volatile objects, if the compiler is told to tell them apart. */
#ifndef PFS_VOLATILE_ENTRY
#define PFS_VOLATILE_ENTRY PFS_PLAIN_ENTRY
#endif
#define PFS_PLAIN_ENTRIES(size)                                               \
	PFS_PLAIN_ENTRY(__tsan_read##size, size, false)                       \
	PFS_PLAIN_ENTRY(__tsan_write##size, size, true)                       \
	PFS_PLAIN_ENTRY(__tsan_unaligned_read##size, size, false)             \
	PFS_PLAIN_ENTRY(__tsan_unaligned_write##size, size, true)             \
	PFS_PLAIN_ENTRY(__tsan_read_write##size, size, true)                  \
	PFS_PLAIN_ENTRY(__tsan_unaligned_read_write##size, size, true)        \
	PFS_VOLATILE_ENTRY(__tsan_volatile_read##size, size, false)           \
	PFS_VOLATILE_ENTRY(__tsan_volatile_write##size, size, true)           \
	PFS_VOLATILE_ENTRY(__tsan_unaligned_volatile_read##size, size, false) \
	PFS_VOLATILE_ENTRY(__tsan_unaligned_volatile_write##size, size, true)
PFS_PLAIN_ENTRIES(1)
PFS_PLAIN_ENTRIES(2)
PFS_PLAIN_ENTRIES(4)
PFS_PLAIN_ENTRIES(8)
PFS_PLAIN_ENTRIES(16)

void __tsan_read_range(void *address, size_t size_bytes)
{
	PFS_PLAIN_REPORT(address, size_bytes, false, PFS_PLAIN_HERE);
}

void __tsan_write_range(void *address, size_t size_bytes)
{
	PFS_PLAIN_REPORT(address, size_bytes, true, PFS_PLAIN_HERE);
}

/* clang calls these where the source says memcpy, memmove, memset. */
void *__tsan_memcpy(void *to, const void *from, size_t size_bytes)
{
	PFS_PLAIN_REPORT(from, size_bytes, false, PFS_PLAIN_HERE);
	PFS_PLAIN_REPORT(to, size_bytes, true, PFS_PLAIN_HERE);
	return __builtin_memcpy(to, from, size_bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t size_bytes)
{
	PFS_PLAIN_REPORT(from, size_bytes, false, PFS_PLAIN_HERE);
	PFS_PLAIN_REPORT(to, size_bytes, true, PFS_PLAIN_HERE);
	return __builtin_memmove(to, from, size_bytes);
}

void *__tsan_memset(void *to, int value, size_t size_bytes)
{
	PFS_PLAIN_REPORT(to, size_bytes, true, PFS_PLAIN_HERE);
	return __builtin_memset(to, value, size_bytes);
}

#endif
