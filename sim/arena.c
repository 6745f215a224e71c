#include "sim/arena.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define REGION_BYTES ((size_t)64 << 30) /* of addresses */
#define UNIT ((size_t)16)
#define SMALL_BYTES ((size_t)64 << 10)  /* blocks up to here are used again */
#define OS_PAGE ((size_t)4096)

/* Stands before each block. */
struct header {
	size_t size_bytes;
	size_t align_bytes;
};

_Static_assert(sizeof(struct header) == UNIT, "a block keeps the alignment of its header");

static struct {
	char *region; /* NULL: not begun */
	size_t used;
	void *free[2][SMALL_BYTES / UNIT + 1]; /* lists: aligned to UNIT; to more */
} arena;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void __real_free(void *block);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void __wrap_free(void *block);

bool pfs_arena_begin(void)
{
	void *region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (region == MAP_FAILED)
		return false;
	arena.region = region;
	return true;
}

static bool is_ours(const void *block)
{
	uintptr_t first = (uintptr_t)arena.region;
	return arena.region != NULL && (uintptr_t)block - first < REGION_BYTES;
}

static struct header *header_of(void *block)
{
	return (struct header *)block - 1;
}

static void **list_of(const struct header *header)
{
	return &arena.free[header->align_bytes > UNIT][header->size_bytes / UNIT];
}

static void *cut(size_t align, size_t size)
{
	size_t first = (arena.used + sizeof(struct header) + align - 1) / align * align;
	if (first > REGION_BYTES || size > REGION_BYTES - first) {
		errno = ENOMEM;
		return NULL;
	}
	arena.used = first + size;
	void *block = arena.region + first;
	*header_of(block) = (struct header){ size, align };
	return block;
}

/* is_fresh: its bytes are 0. */
static void *allocate(size_t align, size_t size, bool *is_fresh)
{
	struct header wanted = { (size + UNIT - 1) / UNIT * UNIT, align };
	*is_fresh = false;
	if (size > REGION_BYTES) {
		errno = ENOMEM;
		return NULL;
	}
	if (wanted.size_bytes == 0)
		wanted.size_bytes = UNIT;
	if (wanted.size_bytes <= SMALL_BYTES && *list_of(&wanted) != NULL) {
		void *block = *list_of(&wanted);
		/* Blocks of one list may differ where more than UNIT is asked for. */
		if ((uintptr_t)block % align == 0) {
			memcpy(list_of(&wanted), block, sizeof(void *));
			return block;
		}
	}
	*is_fresh = true;
	return cut(align, wanted.size_bytes);
}

void *__wrap_malloc(size_t size)
{
	bool is_fresh;
	return arena.region != NULL ? allocate(UNIT, size, &is_fresh) : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	bool is_fresh;
	if (arena.region == NULL)
		return __real_calloc(count, size);
	if (size != 0 && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	void *block = allocate(UNIT, count * size, &is_fresh);
	if (block != NULL && !is_fresh)
		memset(block, 0, count * size);
	return block;
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	bool is_fresh;
	return arena.region != NULL ? allocate(align > UNIT ? align : UNIT, size, &is_fresh)
				    : __real_aligned_alloc(align, size);
}

void __wrap_free(void *block)
{
	if (!is_ours(block)) {
		__real_free(block);
		return;
	}
	const struct header *header = header_of(block);
	if (header->size_bytes <= SMALL_BYTES) {
		memcpy(block, list_of(header), sizeof(void *));
		*list_of(header) = block;
		return;
	}
	uintptr_t begin = ((uintptr_t)block + OS_PAGE - 1) / OS_PAGE * OS_PAGE;
	uintptr_t end = ((uintptr_t)block + header->size_bytes) / OS_PAGE * OS_PAGE;
	if (begin < end) /* only the addresses are lost */
		(void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void *__wrap_realloc(void *block, size_t size)
{
	if (block == NULL)
		return __wrap_malloc(size);
	if (!is_ours(block))
		return __real_realloc(block, size);
	size_t had = header_of(block)->size_bytes;
	if (size != 0 && size <= had)
		return block;
	void *moved = __wrap_malloc(size);
	if (moved == NULL)
		return NULL;
	memcpy(moved, block, had < size ? had : size);
	__wrap_free(block);
	return moved;
}
