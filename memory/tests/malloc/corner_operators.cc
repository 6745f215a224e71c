/*
 * corner_operators.cc - operator new and delete in every form, and out-of-memory behaviour.
 */
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <new>
#include <sys/resource.h>
#include <vector>

#include "corner.h"

namespace
{

const size_t too_large = static_cast<size_t>(PTRDIFF_MAX);

void check(void *block, size_t size, size_t alignment, const char *what)
{
	CORNER_CHECK(block != nullptr, "%s of %zu: null", what, size);
	CORNER_CHECK(reinterpret_cast<uintptr_t>(block) % alignment == 0, "%s of %zu: %p", what,
		     size, block);
	memset(block, 1, size);
}

size_t next(size_t size)
{
	return size * 2 + 3;
}

CORNER(plain_forms)
{
	for (size_t size = 0; size < size_t(8) << 20; size = next(size)) {
		size_t at = size >= 16 ? 16 : 1;
		void *one = ::operator new(size), *array = ::operator new[](size);
		check(one, size, at, "new");
		check(array, size, at, "new[]");
		CORNER_CHECK(one != array, "one block twice");
		::operator delete(one);
		::operator delete[](array);
		::operator delete(::operator new(size), size);
		::operator delete[](::operator new[](size), size);
	}
	::operator delete(static_cast<void *>(nullptr));
	::operator delete[](static_cast<void *>(nullptr));
	::operator delete(static_cast<void *>(nullptr), size_t(8));
}

CORNER(nothrow_forms)
{
	for (size_t size = 0; size < size_t(8) << 20; size = next(size)) {
		size_t at = size >= 16 ? 16 : 1;
		void *one = ::operator new(size, std::nothrow);
		void *array = ::operator new[](size, std::nothrow);
		check(one, size, at, "new(nothrow)");
		check(array, size, at, "new[](nothrow)");
		::operator delete(one, std::nothrow);
		::operator delete[](array, std::nothrow);
	}
}

CORNER(aligned_forms)
{
	for (size_t bits = 4; bits <= 21; bits++) {
		std::align_val_t at = std::align_val_t(size_t(1) << bits);
		for (size_t size = 1; size < size_t(1) << 20; size = next(size)) {
			void *blocks[4] = { ::operator new(size, at), ::operator new[](size, at),
					    ::operator new(size, at, std::nothrow),
					    ::operator new[](size, at, std::nothrow) };
			for (void *block : blocks)
				check(block, size, size_t(at), "aligned new");
			::operator delete(blocks[0], at);
			::operator delete[](blocks[1], at);
			::operator delete(blocks[2], at, std::nothrow);
			::operator delete[](blocks[3], at, std::nothrow);
			::operator delete(::operator new(size, at), size, at);
			::operator delete[](::operator new[](size, at), size, at);
		}
	}
}

struct alignas(128) Wide {
	char bytes[200];
};

CORNER(expressions)
{
	for (int i = 0; i < 1000; i++) {
		std::unique_ptr<Wide> one(new Wide());
		std::unique_ptr<Wide[]> many(new Wide[static_cast<size_t>(i % 17 + 1)]);
		CORNER_CHECK(reinterpret_cast<uintptr_t>(one.get()) % 128 == 0, "new Wide");
		CORNER_CHECK(reinterpret_cast<uintptr_t>(many.get()) % 128 == 0, "new Wide[]");
		std::vector<Wide> grows;
		for (int k = 0; k < 20; k++)
			grows.push_back(Wide());
		std::shared_ptr<int> shared = std::make_shared<int>(i);
		CORNER_CHECK(*shared == i, "make_shared");
	}
}

/* All blocks are of one heap: malloc_usable_size knows them, and free may be mixed with delete. */
CORNER(one_heap)
{
	for (size_t size = 1; size < size_t(1) << 20; size = next(size)) {
		void *block = ::operator new(size);
		CORNER_CHECK(malloc_usable_size(block) >= size, "%zu of %zu usable",
			     malloc_usable_size(block), size);
		free(block);
		block = malloc(size);
		::operator delete(corner_opaque_pointer(block));
	}
}

struct Plain {
	char bytes[200];
};

template <typename Call> void must_throw(const char *what, Call call)
{
	try {
		void *block = call();
		corner_fail("%s gave %p", what, block);
	} catch (const std::bad_alloc &) {
	}
}

CORNER(bad_alloc_thrown)
{
	size_t size = corner_opaque(too_large);
	std::align_val_t at = std::align_val_t(64);
	must_throw("new", [&] { return ::operator new(size); });
	must_throw("new[]", [&] { return ::operator new[](size); });
	must_throw("aligned new", [&] { return ::operator new(size, at); });
	must_throw("aligned new[]", [&] { return ::operator new[](size, at); });
	must_throw("new of all", [&] { return ::operator new(corner_opaque(SIZE_MAX)); });
	must_throw("new T[n]", [&] { return static_cast<void *>(new Plain[size / 50]); });
	CORNER_CHECK(::operator new(size, std::nothrow) == nullptr, "new(nothrow)");
	CORNER_CHECK(::operator new[](size, std::nothrow) == nullptr, "new[](nothrow)");
	CORNER_CHECK(::operator new(size, at, std::nothrow) == nullptr, "aligned new(nothrow)");
	CORNER_CHECK(::operator new[](size, at, std::nothrow) == nullptr, "aligned new[](nothrow)");
}

/* The size is rounded up to the alignment: libstdc++ 12 wraps around there. */
CORNER(bad_alloc_of_all_aligned)
{
	std::align_val_t at = std::align_val_t(64);
	must_throw("aligned new of all",
		   [&] { return ::operator new(corner_opaque(SIZE_MAX), at); });
	must_throw("aligned new[] of all",
		   [&] { return ::operator new[](corner_opaque(SIZE_MAX - 50), at); });
}

int handled;

void give_up_at_third()
{
	if (++handled == 3)
		std::set_new_handler(nullptr);
}

void throw_at_once()
{
	handled++;
	throw std::bad_alloc();
}

CORNER(handler_called)
{
	size_t size = corner_opaque(too_large);
	std::set_new_handler(give_up_at_third);
	must_throw("new", [&] { return ::operator new(size); });
	CORNER_CHECK(handled == 3, "the handler was called %d times by new", handled);
	handled = 0;
	std::set_new_handler(give_up_at_third);
	CORNER_CHECK(::operator new[](size, std::nothrow) == nullptr, "new[](nothrow)");
	CORNER_CHECK(handled == 3, "the handler was called %d times by new[](nothrow)", handled);
	handled = 0;
	std::set_new_handler(give_up_at_third);
	must_throw("aligned new", [&] { return ::operator new(size, std::align_val_t(256)); });
	CORNER_CHECK(handled == 3, "the handler was called %d times by aligned new", handled);
	handled = 0;
	std::set_new_handler(throw_at_once);
	must_throw("new", [&] { return ::operator new(size); });
	CORNER_CHECK(::operator new(size, std::nothrow) == nullptr, "a handler's throw gets out");
	CORNER_CHECK(handled == 2, "the handler that throws was called %d times", handled);
}

void *reserve;

void free_reserve()
{
	handled++;
	free(reserve);
	reserve = nullptr;
	std::set_new_handler(nullptr);
}

/* The usual handler: it frees a reserve, after which memory is available. */
CORNER(handler_frees)
{
	const size_t room = size_t(128) << 20;
	reserve = malloc(room / 2);
	memset(reserve, 1, room / 2);
	const size_t limit_bytes = corner_address_bytes() + room / 4;
	const rlimit limit = { limit_bytes, limit_bytes };
	CORNER_CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
	std::set_new_handler(free_reserve);
	void *block = ::operator new(corner_opaque(room / 3));
	CORNER_CHECK(handled == 1 && block != nullptr, "the handler was called %d times", handled);
	::operator delete(block);
}

} // namespace
