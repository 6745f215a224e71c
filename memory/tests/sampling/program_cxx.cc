/*
 * program_cxx.cc - C++ functions between a program and its allocations.
 */
#include "program.h"

#include <algorithm>
#include <functional>

namespace cxx_room
{

__attribute__((noinline)) void visit(const std::function<void(int)> &visitor)
{
	int numbers[1] = { 1 };
	std::for_each(numbers, numbers + 1, [&](int number) { visitor(number); });
	__asm__ volatile("");
}

class Maker
{
      public:
	__attribute__((noinline)) void *make();
};

void *Maker::make()
{
	void *made = ::operator new(400);
	__asm__ volatile("");
	return made;
}

} // namespace cxx_room

void *program_cxx(void (*call)(void))
{
	cxx_room::visit([&](int) { call(); });
	return cxx_room::Maker().make();
}
