/*
 * handler.cc - calls a new handler that may throw, for the nothrow forms of operator new.
 *
 * The symbols that catching needs are weak and come from the program's C++ library: a program with
 * a new handler has one. So this library does not depend on one.
 */
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
