/*
 * handler.cc - a new handler that throws, under a form of operator new that does not.
 *
 * What catching needs of C++'s library is looked for where a program has it: who has a handler has
 * it. So this library needs none.
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
