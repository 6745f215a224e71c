/*
 * known_calls.cc - every call of malloc's family and of C++'s, and the blocks that remain.
 */
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>

#include "known.h"

extern "C" void free_sized(void *, size_t) __attribute__((weak));
extern "C" void free_aligned_sized(void *, size_t, size_t) __attribute__((weak));

namespace
{

struct left {
	void **kept;
	uint32_t *count;
	size_t bytes;

	void keep(void *block, size_t size)
	{
		std::memset(block, 2, size);
		kept[(*count)++] = block;
		bytes += size;
	}
};

void alignments(left &left)
{
	void *block = nullptr;
	if (posix_memalign(&block, 64, 100) == 0)
		left.keep(block, 100);
	left.keep(aligned_alloc(4096, 8192), 8192);
	left.keep(memalign(32, 333), 333);
	left.keep(valloc(7000), 7000);
	left.keep(pvalloc(5000), 8192); /* rounded, by its contract */
	left.keep(memalign(1 << 20, 50000), 50000);
	/* A small block with more slack than fits a tag counts as 2047 less than its class. */
	left.keep(memalign(4096, 100), 4096 - 2047);
}

void sizes(left &left)
{
	left.keep(malloc(0), 0);
	left.keep(malloc(1), 1);
	left.keep(malloc(14336), 14336);
	left.keep(malloc(14337), 14337);
	left.keep(malloc(1000001), 1000001);
	left.keep(calloc(3, 77), 231);
	left.keep(calloc(1, 500000), 500000);
}

void resizes(left &left)
{
	left.keep(realloc(malloc(100), 101), 101);
	left.keep(realloc(malloc(100), 20000), 20000);
	left.keep(realloc(malloc(50000), 33), 33);
	left.keep(realloc(malloc(50000), 51000), 51000);
	left.keep(realloc(malloc(50000), 500000), 500000);
	left.keep(realloc(nullptr, 12), 12);
	left.keep(reallocarray(malloc(5), 10, 10), 100);
	void *volatile gone = realloc(malloc(40), 0);
	if (gone != nullptr)
		left.keep(gone, 0);
	void *same = malloc(60);
	volatile size_t too_large = static_cast<size_t>(-1) / 2;
	if (realloc(same, too_large) == nullptr)
		left.keep(same, 60);
}

void gone()
{
	const std::align_val_t align{ 256 };
	::operator delete(::operator new(10));
	::operator delete[](::operator new[](10));
	::operator delete(::operator new(20), static_cast<size_t>(20));
	::operator delete(::operator new(30, std::nothrow), std::nothrow);
	::operator delete(::operator new(40, align), align);
	::operator delete[](::operator new[](50, align), 50, align);
	free(strdup("counted by libc"));
	free(malloc(300000));
	free(nullptr);
	if (free_sized != nullptr)
		free_sized(malloc(70), 70);
	if (free_aligned_sized != nullptr)
		free_aligned_sized(aligned_alloc(64, 64), 64, 64);
}

} // namespace

size_t known_calls(void **kept, uint32_t *count)
{
	left left = { kept, count, 0 };
	alignments(left);
	sizes(left);
	resizes(left);
	left.keep(::operator new(123), 123);
	left.keep(::operator new[](4000, std::align_val_t{ 128 }), 4000);
	gone();
	return left.bytes;
}
