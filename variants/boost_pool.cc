/*
 * boost_pool.cc - see boost_pool.h.
 *
 * The stack takes its nodes from a block of memory that stands behind it, so that running out
 * of memory is seen by create, and neither operator new nor an exception is needed: the
 * library stays one that C programs link without the C++ run-time.
 *
 * The kind of stack that links nodes by pointers, with 16 bits of the pointer as a tag
 * against ABA: the kind with a capacity at compile time stops at 65534 nodes.
 */
#include "boost_pool.h"

#include <cstddef>
#include <cstdlib>
#include <new>

#include <boost/lockfree/stack.hpp>

namespace
{

const size_t line_bytes = 64;
/* Of the stack: a tagged pointer and a number, and slack. */
const size_t node_bytes = PFS_BOOST_POOL_NODE_BYTES;

/* What the thread that is in create hands out, piece by piece; none comes back before all do.
 * The stack's constructor that takes an allocator cannot be called: nothing tells its U. */
__thread char *block_at;
__thread char *block_end;

template <typename T> struct block_allocator {
	typedef T value_type;
	typedef T *pointer;
	typedef std::size_t size_type;
	template <typename U> struct rebind {
		typedef block_allocator<U> other;
	};

	T *allocate(std::size_t count)
	{
		static_assert(sizeof(T) <= node_bytes, "a node is larger than planned");
		char *piece = block_at;
		block_at += count * node_bytes;
		if (block_at > block_end)
			std::abort(); /* create counted wrong */
		return reinterpret_cast<T *>(piece);
	}
	void deallocate(T *, std::size_t) {}
};

typedef boost::lockfree::stack<uint64_t, boost::lockfree::allocator<block_allocator<uint64_t>>>
	number_stack;

size_t whole_lines(size_t bytes)
{
	return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

} // namespace

struct pfs_boost_pool {
	explicit pfs_boost_pool(uint64_t capacity) : stack(capacity) {}

	alignas(64) number_stack stack;
};

struct pfs_boost_pool *pfs_boost_pool_create(uint64_t capacity)
{
	const size_t head = whole_lines(sizeof(struct pfs_boost_pool));

	if (capacity > (SIZE_MAX / 2 - head) / node_bytes)
		return nullptr;
	void *memory = std::aligned_alloc(line_bytes, head + whole_lines(capacity * node_bytes));
	if (memory == nullptr)
		return nullptr;
	block_at = static_cast<char *>(memory) + head;
	block_end = block_at + capacity * node_bytes;
	return new (memory) pfs_boost_pool(capacity);
}

void pfs_boost_pool_destroy(struct pfs_boost_pool *self)
{
	self->~pfs_boost_pool();
	std::free(self);
}

bool pfs_boost_pool_push(struct pfs_boost_pool *self, uint64_t number)
{
	return self->stack.bounded_push(number);
}

bool pfs_boost_pool_pop(struct pfs_boost_pool *self, uint64_t *number)
{
	return self->stack.pop(*number);
}
