/*
 * handler.cc - calls what may throw for the nothrow forms of operator new: a new handler, or a form
 * that the program replaced.
 *
 * The symbols that catching needs are weak and come from the program's C++ library: a program with
 * a new handler, or with forms of its own, has one. So this library does not depend on one.
 */
#include <cstddef>

__asm__(".weak __gxx_personality_v0\n.weak __cxa_begin_catch\n.weak __cxa_end_catch");

extern "C" bool pfs_handler_returns(void (*handler)());

extern "C" bool pfs_handler_returns(void (*handler)())
{
	try {
		handler();
	} catch (...) {
		return false;
	}
	return true;
}

extern "C" void *pfs_new_caught(void *(*call)(std::size_t), std::size_t size);
extern "C" void *pfs_new_aligned_caught(void *(*call)(std::size_t, std::size_t), std::size_t size,
					std::size_t alignment);

template <typename... Sizes> static void *caught(void *(*call)(Sizes...), Sizes... sizes)
{
	try {
		return call(sizes...);
	} catch (...) {
		return nullptr;
	}
}

extern "C" void *pfs_new_caught(void *(*call)(std::size_t), std::size_t size)
{
	return caught(call, size);
}

extern "C" void *pfs_new_aligned_caught(void *(*call)(std::size_t, std::size_t), std::size_t size,
					std::size_t alignment)
{
	return caught(call, size, alignment);
}
