/*
 * operators.c - C++'s operator new and delete, under their Itanium ABI names, so that a C program
 * with this library preloaded does not load a C++ library.
 *
 * Here are the four forms that the others are defined by (operators_other.c), and the nothrow forms
 * of a program that replaced none. What they need of C++ (the new handler, the exception) are weak
 * symbols, found in the program.
 */
#include "operators.h"

#include <pfslab/malloc.h>
#include <stdlib.h>

#include "front.h"

typedef void (*new_handler)(void);
extern new_handler get_new_handler(void) __asm__("_ZSt15get_new_handlerv") __attribute__((weak));
extern void throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv")
	__attribute__((weak, noreturn));

static inline void *try_to(size_t alignment, size_t size, const void *caller)
{
	return alignment <= 8 ? pfs_front_malloc(size, caller)
			      : pfs_front_memalign(alignment, size, caller);
}

static new_handler handler_now(void)
{
	return get_new_handler != NULL ? get_new_handler() : NULL;
}

/* The handler makes room, uninstalls itself, or throws. */
static PFS_COLD void *new_or_throw(size_t alignment, size_t size, const void *caller)
{
	new_handler handler;
	while ((handler = handler_now()) != NULL) {
		handler();
		void *block = try_to(alignment, size, caller);
		if (block != NULL)
			return block;
	}
	if (throw_bad_alloc != NULL)
		throw_bad_alloc();
	pfs_die("operator new", (void *)size, "out of memory");
}

static PFS_COLD void *new_or_null(size_t alignment, size_t size, const void *caller)
{
	void *block = NULL;
	new_handler handler;
	while (block == NULL && (handler = handler_now()) != NULL && pfs_handler_returns(handler))
		block = try_to(alignment, size, caller);
	return block;
}

PUBLIC void *pfs_operator_new(size_t size)
{
	return pfs_front_new(size, PFS_CALLER, new_or_throw);
}

PUBLIC void *pfs_operator_new_aligned(size_t size, size_t alignment)
{
	return pfs_front_new_aligned(alignment, size, PFS_CALLER, new_or_throw);
}

PUBLIC void pfs_operator_delete(void *block)
{
	pfs_front_free(block);
}

PUBLIC void pfs_operator_delete_aligned(void *block, size_t alignment)
{
	(void)alignment;
	pfs_front_free(block);
}

void *pfs_new_nothrow(size_t size, const void *caller)
{
	return pfs_front_new(size, caller, new_or_null);
}

void *pfs_new_aligned_nothrow(size_t size, size_t alignment, const void *caller)
{
	return pfs_front_new_aligned(alignment, size, caller, new_or_null);
}

/* What the names of the two above are if nobody replaced them. */
extern void *pfs_own_new(size_t size) __attribute__((alias("_Znwm"), visibility("hidden")));
extern void *pfs_own_new_aligned(size_t size, size_t alignment)
	__attribute__((alias("_ZnwmSt11align_val_t"), visibility("hidden")));
