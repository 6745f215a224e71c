/*
 * corner_replaced.cc - a program that replaces functions which the allocator has or calls: forms of
 * operator new and delete, by which the C++ standard defines the other forms; and
 * sched_getaffinity, as on a machine with 2,000 CPUs.
 */
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <new>
#include <sched.h>
#include <string>
#include <vector>

#include "corner.h"

#ifndef __clang__ /* that is the point: others must lead to it */
#pragma GCC diagnostic ignored "-Wsized-deallocation"
#endif

namespace
{

const size_t cpus_there = 2000;
const size_t front = 64; /* before each block: free of what the replaced form gave aborts */

long made, gone;
bool fails;

void *give(size_t size, size_t alignment)
{
	made++;
	if (fails)
		throw std::bad_alloc();
	size_t before = alignment < front ? front : alignment;
	void *block = std::aligned_alloc(before, (size + 2 * before) & -before);
	return corner_opaque_pointer(static_cast<char *>(block) + before);
}

void take(void *block, size_t alignment)
{
	gone++;
	std::free(static_cast<char *>(block) - (alignment < front ? front : alignment));
}

} // namespace

void *operator new(size_t size)
{
	return give(size, 1);
}

void *operator new(size_t size, std::align_val_t alignment)
{
	return give(size, static_cast<size_t>(alignment));
}

void operator delete(void *block) noexcept
{
	take(block, 1);
}

void operator delete(void *block, std::align_val_t alignment) noexcept
{
	take(block, static_cast<size_t>(alignment));
}

extern "C" int sched_getaffinity(pid_t, size_t bytes, cpu_set_t *cpus) noexcept
{
	if (bytes * 8 < cpus_there) {
		errno = EINVAL;
		return -1;
	}
	CPU_ZERO_S(bytes, cpus);
	for (size_t i = 0; i < cpus_there; i++)
		CPU_SET_S(i, bytes, cpus);
	return 0;
}

namespace
{

/* Each form must have called the replaced one, once. */
template <typename Call> void *must_give(const char *what, Call call)
{
	made = 0;
	void *block = call();
	CORNER_CHECK(made == 1, "%s called the replaced operator new %ld times", what, made);
	return block;
}

template <typename Call> void must_take(const char *what, Call call)
{
	gone = 0;
	call();
	CORNER_CHECK(gone == 1, "%s called the replaced operator delete %ld times", what, gone);
}

const size_t size = 100;
const std::align_val_t at = std::align_val_t(128);

CORNER(plain_forms)
{
	void *block = must_give("new[]", [] { return ::operator new[](size); });
	must_take("delete[]", [&] { ::operator delete[](block); });
	block = must_give("new(nothrow)", [] { return ::operator new(size, std::nothrow); });
	must_take("delete(nothrow)", [&] { ::operator delete(block, std::nothrow); });
	block = must_give("new[](nothrow)", [] { return ::operator new[](size, std::nothrow); });
	must_take("delete[](nothrow)", [&] { ::operator delete[](block, std::nothrow); });
	block = ::operator new(size);
	must_take("delete(size)", [&] { ::operator delete(block, size); });
	block = ::operator new[](size);
	must_take("delete[](size)", [&] { ::operator delete[](block, size); });
}

CORNER(aligned_forms)
{
	void *block = must_give("new[]", [] { return ::operator new[](size, at); });
	must_take("delete[]", [&] { ::operator delete[](block, at); });
	block = must_give("new(nothrow)", [] { return ::operator new(size, at, std::nothrow); });
	must_take("delete(nothrow)", [&] { ::operator delete(block, at, std::nothrow); });
	block = must_give("new[](nothrow)",
			  [] { return ::operator new[](size, at, std::nothrow); });
	must_take("delete[](nothrow)", [&] { ::operator delete[](block, at, std::nothrow); });
	block = ::operator new(size, at);
	must_take("delete(size)", [&] { ::operator delete(block, size, at); });
	block = ::operator new[](size, at);
	must_take("delete[](size)", [&] { ::operator delete[](block, size, at); });
}

CORNER(nothrow_catches)
{
	void *blocks[4] = { &blocks, &blocks, &blocks, &blocks };
	fails = true;
	blocks[0] = ::operator new(size, std::nothrow);
	blocks[1] = ::operator new[](size, std::nothrow);
	blocks[2] = ::operator new(size, at, std::nothrow);
	blocks[3] = ::operator new[](size, at, std::nothrow);
	fails = false;
	for (void *block : blocks)
		CORNER_CHECK(block == nullptr, "a nothrow form gave %p", block);
	CORNER_CHECK(made == 4, "%ld calls", made);
}

/* libstdc++ takes its buffer by a nothrow form and frees it by a sized one. */
CORNER(library_forms)
{
	std::vector<std::string> words;
	for (int i = 0; i < 1000; i++)
		words.push_back("longer than a short string " + std::to_string(i * 7919 % 1000));
	std::stable_sort(words.begin(), words.end());
	CORNER_CHECK(std::is_sorted(words.begin(), words.end()), "not sorted");
	std::vector<std::string>().swap(words);
	CORNER_CHECK(made == gone, "%ld made, %ld gone", made, gone);
}

CORNER(many_cpus)
{
	int (*get)(const char *, void *, size_t *, void *, size_t) = nullptr;
	*reinterpret_cast<void **>(&get) = dlsym(RTLD_DEFAULT, "mallctl");
	unsigned arenas = 0, tick_ms = 0;
	size_t length = sizeof(arenas);
	if (get == nullptr || get("opt.tick_ms", &tick_ms, &length, nullptr, 0) != 0)
		corner_skip("no option tick_ms");
	CORNER_CHECK(get("arenas.narenas", &arenas, &length, nullptr, 0) == 0, "arenas.narenas");
	CORNER_CHECK(arenas >= cpus_there / 8, "%u arenas for %zu CPUs", arenas, cpus_there);
}

} // namespace
