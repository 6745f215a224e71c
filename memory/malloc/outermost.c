/*
 * outermost.c - where the unwinder stops: at the function of the C library that called main or a
 * thread's function. To go through that one and its callers, the unwinder would read the C
 * library's tables: 64 KiB for a main thread, 128 KiB for others, which a small program has not
 * touched before.
 *
 * The unwinder, which is linked statically, looks up each frame's return address by
 * _dl_find_object. The linker leads that call here (--wrap). If the code at the address passes
 * main's result to exit, or stores a thread's result, there is nothing to be found, which ends the
 * stack. Other C libraries and processors have other code: then the stack ends where it ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int __real__dl_find_object(void *address, struct dl_find_object *found); /* NOLINT: ld's name */
int __wrap__dl_find_object(void *address, struct dl_find_object *found); /* NOLINT: ld's name */

#ifdef __x86_64__

/* Is the code there in the library, for as many bytes as are read of it? */
static bool is_inside(const struct dl_find_object *library, const unsigned char *to)
{
	return to >= (const unsigned char *)library->dlfo_map_start &&
	       (const unsigned char *)library->dlfo_map_end - to > 16;
}

/* Behind a call or jump of five bytes: where it leads. */
static const unsigned char *target(const unsigned char *next)
{
	int32_t by;
	memcpy(&by, next - sizeof(by), sizeof(by));
	return next + by;
}

static bool ends_stack(const struct dl_find_object *library, const unsigned char *code)
{
	/* mov %eax, %edi; call */
	static const unsigned char passes_result[] = { 0x89, 0xc7, 0xe8 };
	/* mov %rax, %fs:offset */
	static const unsigned char keeps_result[] = { 0x64, 0x48, 0x89, 0x04, 0x25 };
	if (!is_inside(library, code))
		return false;
	if (memcmp(code, passes_result, sizeof(passes_result)) == 0)
		return target(code + 7) == (const unsigned char *)(uintptr_t)exit;
	if (*code == 0xe9) /* jmp */
		code = target(code + 5);
	return is_inside(library, code) && memcmp(code, keeps_result, sizeof(keeps_result)) == 0;
}

#else

static bool ends_stack(const struct dl_find_object *library, const unsigned char *code)
{
	(void)library, (void)code;
	return false;
}

#endif

int __wrap__dl_find_object(void *address, struct dl_find_object *found) /* NOLINT: as above */
{
	struct dl_find_object own;
	int result = __real__dl_find_object(address, found);
	if (result != 0 || __real__dl_find_object((void *)(uintptr_t)exit, &own) != 0 ||
	    found->dlfo_map_start != own.dlfo_map_start ||
	    own.dlfo_link_map->l_name[0] == '\0') /* exit is the program's, or its table's */
		return result;
	/* address: the last byte of the call. */
	return ends_stack(found, (const unsigned char *)address + 1) ? -1 : 0;
}
