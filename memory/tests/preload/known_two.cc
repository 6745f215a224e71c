/* known_two.cc - a C++ library whose allocations a test knows. */
#include <new>

#include "known.h"

/* Its blocks are freed by free, as this allocator allows. */
void *known_two(size_t bytes)
{
	return ::operator new(bytes);
}
