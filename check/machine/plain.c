#include "check/machine/plain.h"

#include <stddef.h>

#include "check/machine/current.h"
#include "check/machine/host.h"

bool pfs_plain_is_seen(void)
{
#ifdef PFS_SIM_PLAIN
	return true;
#else
	return false;
#endif
}

/* In a sanitizer's build these names belong to the sanitizer. */
#ifdef PFS_SIM_PLAIN
static inline void report(const void *address, uint32_t size_bytes, bool writes, const void *code)
{
	if (pfs_current_quiet != 0)
		return;
	struct pfs_machine *machine = pfs_current;
	if (machine == NULL || machine->hooks.plain == NULL || machine->run.running == NULL ||
	    (!writes && machine->setup.only_writes))
		return;
	const struct pfs_fiber *fiber = &machine->run.running->fiber;
	if ((uintptr_t)address - (uintptr_t)fiber->stack < fiber->stack_bytes)
		return;
	struct pfs_plain access = { address, code, size_bytes, writes };
	machine->hooks.plain(machine, &access);
}

/* The names are fixed by the compilers (gcc and clang, -fsanitize=thread). */
#define PFS_PLAIN_ENTRY(name, size, writes)                                     \
	void name(void *address);                                               \
	void name(void *address)                                                \
	{                                                                       \
		report(address, (size), (writes), __builtin_return_address(0)); \
	}
#define PFS_PLAIN_ENTRIES(size)                                   \
	PFS_PLAIN_ENTRY(__tsan_read##size, size, false)           \
	PFS_PLAIN_ENTRY(__tsan_write##size, size, true)           \
	PFS_PLAIN_ENTRY(__tsan_unaligned_read##size, size, false) \
	PFS_PLAIN_ENTRY(__tsan_unaligned_write##size, size, true) \
	PFS_PLAIN_ENTRY(__tsan_read_write##size, size, true)      \
	PFS_PLAIN_ENTRY(__tsan_volatile_read##size, size, false)  \
	PFS_PLAIN_ENTRY(__tsan_volatile_write##size, size, true)  \
	PFS_PLAIN_ENTRY(__tsan_unaligned_read_write##size, size, true)
PFS_PLAIN_ENTRIES(1)
PFS_PLAIN_ENTRIES(2)
PFS_PLAIN_ENTRIES(4)
PFS_PLAIN_ENTRIES(8)
PFS_PLAIN_ENTRIES(16)

void __tsan_read_range(void *address, size_t size_bytes);
void __tsan_read_range(void *address, size_t size_bytes)
{
	report(address, (uint32_t)size_bytes, false, __builtin_return_address(0));
}

void __tsan_write_range(void *address, size_t size_bytes);
void __tsan_write_range(void *address, size_t size_bytes)
{
	report(address, (uint32_t)size_bytes, true, __builtin_return_address(0));
}

void __tsan_init(void);
void __tsan_init(void) {}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void) {}

/* clang calls these where the source says memcpy, memmove, memset. */
void *__tsan_memcpy(void *to, const void *from, size_t size_bytes);
void *__tsan_memcpy(void *to, const void *from, size_t size_bytes)
{
	report(from, (uint32_t)size_bytes, false, __builtin_return_address(0));
	report(to, (uint32_t)size_bytes, true, __builtin_return_address(0));
	return __builtin_memcpy(to, from, size_bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t size_bytes);
void *__tsan_memmove(void *to, const void *from, size_t size_bytes)
{
	report(from, (uint32_t)size_bytes, false, __builtin_return_address(0));
	report(to, (uint32_t)size_bytes, true, __builtin_return_address(0));
	return __builtin_memmove(to, from, size_bytes);
}

void *__tsan_memset(void *to, int value, size_t size_bytes);
void *__tsan_memset(void *to, int value, size_t size_bytes)
{
	report(to, (uint32_t)size_bytes, true, __builtin_return_address(0));
	return __builtin_memset(to, value, size_bytes);
}
#endif
