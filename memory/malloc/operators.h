/*
 * operators.h - the forms of C++'s operator new and delete that a program may replace, and by which
 * the standard defines all others.
 *
 * A replaced form wins because the program comes first where names are looked up. So the others
 * must call these by name, and not what this library has under it.
 */
#ifndef PFS_MALLOC_OPERATORS_H
#define PFS_MALLOC_OPERATORS_H

#include <stdbool.h>
#include <stddef.h>

#define PUBLIC __attribute__((visibility("default")))

typedef void (*new_handler)(void);

/* By name: whoever has it. */
PUBLIC void *pfs_operator_new(size_t size) __asm__("_Znwm");
PUBLIC void *pfs_operator_new_array(size_t size) __asm__("_Znam");
PUBLIC void *pfs_operator_new_aligned(size_t size,
				      size_t alignment) __asm__("_ZnwmSt11align_val_t");
PUBLIC void *pfs_operator_new_array_aligned(size_t size,
					    size_t alignment) __asm__("_ZnamSt11align_val_t");
PUBLIC void pfs_operator_delete(void *block) __asm__("_ZdlPv");
PUBLIC void pfs_operator_delete_array(void *block) __asm__("_ZdaPv");
PUBLIC void pfs_operator_delete_aligned(void *block,
					size_t alignment) __asm__("_ZdlPvSt11align_val_t");
PUBLIC void pfs_operator_delete_array_aligned(void *block,
					      size_t alignment) __asm__("_ZdaPvSt11align_val_t");

/* This library's, to compare with. */
void *pfs_own_new(size_t size) __attribute__((visibility("hidden")));
void *pfs_own_new_aligned(size_t size, size_t alignment) __attribute__((visibility("hidden")));
void *pfs_own_new_array(size_t size) __attribute__((visibility("hidden")));
void *pfs_own_new_array_aligned(size_t size, size_t alignment)
	__attribute__((visibility("hidden")));

/* This library's nothrow forms. caller: of the form's name. */
void *pfs_new_nothrow(size_t size, const void *caller) __attribute__((visibility("hidden")));
void *pfs_new_aligned_nothrow(size_t size, size_t alignment, const void *caller)
	__attribute__((visibility("hidden")));

/* handler.cc: calls that may throw. A handler: did it return? A replaced form: NULL if not. */
bool pfs_handler_returns(new_handler handler);
void *pfs_new_caught(void *(*call)(size_t), size_t size);
void *pfs_new_aligned_caught(void *(*call)(size_t, size_t), size_t size, size_t alignment);

#endif
