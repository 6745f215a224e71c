/*
 * operators_other.c - the forms of operator new and delete that the C++ standard defines by other
 * forms, which a program may have replaced: an array's by the plain one, a sized one by the unsized
 * one, nothrow by the one that throws. Each is a jump to the form's name.
 */
#include "front.h"
#include "operators.h"

#define FORM(type, symbol, parameters, call)                          \
	extern PUBLIC type form_##symbol parameters __asm__(#symbol); \
	type form_##symbol parameters                                 \
	{                                                             \
		call;                                                 \
	}
#define NEW(symbol, parameters, call) FORM(void *, symbol, parameters, return call)
#define DELETE(symbol, parameters, call) FORM(void, symbol, parameters, call)
#define UNUSED __attribute__((unused))

/* ---- new ---- */

PUBLIC void *pfs_operator_new_array(size_t size)
{
	return pfs_operator_new(size);
}

PUBLIC void *pfs_operator_new_array_aligned(size_t size, size_t alignment)
{
	return pfs_operator_new_aligned(size, alignment);
}

extern void *pfs_own_new_array(size_t size) __attribute__((alias("_Znam")));
extern void *pfs_own_new_array_aligned(size_t size, size_t alignment)
	__attribute__((alias("_ZnamSt11align_val_t")));

static inline void *nothrow(size_t size, const void *caller)
{
	return pfs_operator_new == pfs_own_new ? pfs_new_nothrow(size, caller)
					       : pfs_new_caught(pfs_operator_new, size);
}

static inline void *nothrow_aligned(size_t size, size_t alignment, const void *caller)
{
	return pfs_operator_new_aligned == pfs_own_new_aligned
		       ? pfs_new_aligned_nothrow(size, alignment, caller)
		       : pfs_new_aligned_caught(pfs_operator_new_aligned, size, alignment);
}

static inline void *nothrow_array(size_t size, const void *caller)
{
	return pfs_operator_new_array == pfs_own_new_array
		       ? nothrow(size, caller)
		       : pfs_new_caught(pfs_operator_new_array, size);
}

static inline void *nothrow_array_aligned(size_t size, size_t alignment, const void *caller)
{
	return pfs_operator_new_array_aligned == pfs_own_new_array_aligned
		       ? nothrow_aligned(size, alignment, caller)
		       : pfs_new_aligned_caught(pfs_operator_new_array_aligned, size, alignment);
}

NEW(_ZnwmRKSt9nothrow_t, (size_t size, const void *tag UNUSED), nothrow(size, PFS_CALLER))
NEW(_ZnamRKSt9nothrow_t, (size_t size, const void *tag UNUSED), nothrow_array(size, PFS_CALLER))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *tag UNUSED),
    nothrow_aligned(size, alignment, PFS_CALLER))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t size, size_t alignment, const void *tag UNUSED),
    nothrow_array_aligned(size, alignment, PFS_CALLER))

/* ---- delete ---- */

PUBLIC void pfs_operator_delete_array(void *block)
{
	pfs_operator_delete(block);
}

PUBLIC void pfs_operator_delete_array_aligned(void *block, size_t alignment)
{
	pfs_operator_delete_aligned(block, alignment);
}

DELETE(_ZdlPvm, (void *block, size_t size UNUSED), pfs_operator_delete(block))
DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag UNUSED), pfs_operator_delete(block))
DELETE(_ZdaPvm, (void *block, size_t size UNUSED), pfs_operator_delete_array(block))
DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag UNUSED),
       pfs_operator_delete_array(block))
DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t size UNUSED, size_t alignment),
       pfs_operator_delete_aligned(block, alignment))
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *tag UNUSED),
       pfs_operator_delete_aligned(block, alignment))
DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t size UNUSED, size_t alignment),
       pfs_operator_delete_array_aligned(block, alignment))
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *tag UNUSED),
       pfs_operator_delete_array_aligned(block, alignment))
