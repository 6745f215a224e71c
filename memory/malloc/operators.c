/*
 * operators.c - C++'s operator new and delete in every form, under their Itanium ABI names, so that
 * a C program with this library preloaded does not load a C++ library.
 *
 * What they need of C++ (the new handler, the exception) are weak symbols, found in the program.
 */
#include <pfslab/malloc.h>
#include <stdlib.h>

#include "front.h"

#define PUBLIC __attribute__((visibility("default")))

typedef void (*new_handler)(void);
extern new_handler get_new_handler(void) __asm__("_ZSt15get_new_handlerv") __attribute__((weak));
extern void throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv")
	__attribute__((weak, noreturn));

extern bool pfs_handler_returns(new_handler handler); /* handler.cc */

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

#define NEW(symbol, parameters, call)                                 \
	extern PUBLIC void *new_##symbol parameters __asm__(#symbol); \
	void *new_##symbol parameters                                 \
	{                                                             \
		return call;                                          \
	}
#define DELETE(symbol, parameters)                                      \
	extern PUBLIC void delete_##symbol parameters __asm__(#symbol); \
	void delete_##symbol parameters                                 \
	{                                                               \
		pfs_front_free(block);                                  \
	}

/* Plain and array: new, nothrow, aligned, aligned nothrow. */
NEW(_Znwm, (size_t size), pfs_front_new(size, PFS_CALLER, new_or_throw))
NEW(_Znam, (size_t size), pfs_front_new(size, PFS_CALLER, new_or_throw))
NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag),
    ((void)tag, pfs_front_new(size, PFS_CALLER, new_or_null)))
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *tag),
    ((void)tag, pfs_front_new(size, PFS_CALLER, new_or_null)))
NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment),
    pfs_front_new_aligned(alignment, size, PFS_CALLER, new_or_throw))
NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment),
    pfs_front_new_aligned(alignment, size, PFS_CALLER, new_or_throw))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *tag),
    ((void)tag, pfs_front_new_aligned(alignment, size, PFS_CALLER, new_or_null)))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *tag),
    ((void)tag, pfs_front_new_aligned(alignment, size, PFS_CALLER, new_or_null)))

/* Plain and array: delete, nothrow, sized, aligned, sized and aligned, aligned nothrow. */
DELETE(_ZdlPv, (void *block))
DELETE(_ZdaPv, (void *block))
DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag __attribute__((unused))))
DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag __attribute__((unused))))
DELETE(_ZdlPvm, (void *block, size_t size __attribute__((unused))))
DELETE(_ZdaPvm, (void *block, size_t size __attribute__((unused))))
DELETE(_ZdlPvSt11align_val_t, (void *block, size_t alignment __attribute__((unused))))
DELETE(_ZdaPvSt11align_val_t, (void *block, size_t alignment __attribute__((unused))))
DELETE(_ZdlPvmSt11align_val_t,
       (void *block, size_t size __attribute__((unused)), size_t alignment __attribute__((unused))))
DELETE(_ZdaPvmSt11align_val_t,
       (void *block, size_t size __attribute__((unused)), size_t alignment __attribute__((unused))))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment __attribute__((unused)),
					     const void *tag __attribute__((unused))))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment __attribute__((unused)),
					     const void *tag __attribute__((unused))))
