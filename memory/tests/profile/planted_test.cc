// planted_test.cc - functions for a profile: C++ functions, inlined, static, recursive.
#include <cstdint>

#include "planted_test.h"

namespace
{

// Each call is followed by another statement, so that none is a tail call.
volatile int after;

struct Cache {
	template <typename Key> __attribute__((noinline)) void leak(Key bytes, int count);
};

__attribute__((always_inline)) inline void inlined_in_fill(uint64_t bytes, int count)
{
	planted_record(bytes, count);
	after = after + 1;
}

template <typename Key> void Cache::leak(Key bytes, int count)
{
	inlined_in_fill(static_cast<uint64_t>(bytes), count);
	after = after + 1;
}

__attribute__((noinline)) void deep(int depth, uint64_t bytes, int count)
{
	if (depth == 0)
		planted_record(bytes, count);
	else
		deep(depth - 1, bytes, count);
	after = after + 1;
}

} // namespace

extern "C" void planted_cxx(void)
{
	Cache cache;
	cache.leak<unsigned long>(1000, 400);
	deep(5, 64, 300);
	after = after + 1;
}
