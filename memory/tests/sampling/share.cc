/*
 * share.cc - a C++ program that allocates in every way, below functions with frame pointers and
 * without in turn, and by containers.
 *
 * usage: sampling-share
 */
#include "share.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <unistd.h>
#include <vector>

#define ROUNDS 1000
#define LARGE 100000 /* only such blocks can be resized in place */
#define STAY(block) __asm__ volatile("" : : "r"(block) : "memory")
#define BY(name, allocate, release)                    \
	__attribute__((noinline)) void name(int depth) \
	{                                              \
		if (depth > 0) {                       \
			up(name, depth - 1);           \
			STAY(&depth);                  \
			return;                        \
		}                                      \
		void *block = allocate;                \
		STAY(block);                           \
		release;                               \
		STAY(&depth);                          \
	}

/* The library that is preloaded has these. */
extern "C" {
__attribute__((weak)) void *mallocx(size_t size, int flags);
__attribute__((weak)) void *rallocx(void *block, size_t size, int flags);
__attribute__((weak)) size_t xallocx(void *block, size_t size, size_t extra, int flags);
}

static void *aligned_by_posix()
{
	void *block;
	return posix_memalign(&block, 64, 300) == 0 ? block : nullptr;
}

BY(by_new, ::operator new(300), ::operator delete(block))
BY(by_array, ::operator new[](300), ::operator delete[](block))
BY(by_aligned, ::operator new(300, std::align_val_t(64)),
   ::operator delete(block, std::align_val_t(64)))
BY(by_nothrow, ::operator new(300, std::nothrow), ::operator delete(block))
BY(by_realloc, std::realloc(std::realloc(nullptr, 100), 300), std::free(block))
BY(by_memalign, aligned_by_posix(), std::free(block))
BY(by_mallocx, mallocx(300, 0), std::free(block))
BY(by_rallocx, rallocx(rallocx(nullptr, 100, 0), 300, 0), std::free(block))
BY(by_xallocx, std::malloc(LARGE), (void)xallocx(block, LARGE / 2, 0, 0); std::free(block))

__attribute__((noinline)) static size_t by_containers()
{
	std::map<std::string, std::vector<std::string>> all;
	for (int i = 0; i < ROUNDS; i++)
		all["a key that is too long to be in place, number " + std::to_string(i % 50)]
			.push_back(std::string(40 + i % 100, 'x'));
	return all.size();
}

int main()
{
	static by *const calls[] = { by_new,      by_array,   by_aligned, by_nothrow, by_realloc,
				     by_memalign, by_mallocx, by_rallocx, by_xallocx };
	size_t size = 0;
	for (int i = 0; i < ROUNDS; i++)
		for (by *call : calls)
			call(i % 8);
	for (int i = 0; i < 4; i++)
		size += by_containers();
	(void)std::printf("share %d %zu\n", (int)getpid(), size);
	(void)std::fflush(stdout);
	(void)std::getchar();
	return 0;
}
