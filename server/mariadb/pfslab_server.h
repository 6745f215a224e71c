/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfslab_server.h - a pfslab container inside a server: its handles, read scopes and page arrays.
 *
 * Knows nothing of the server's types; pfslab_container.h is the template over it.
 *
 * Handles. A handle of a container serves one call at a time, so threads borrow one for each call
 * from a pool; a borrower starts at the slot of its processor. The number of handles, and of
 * records in their rings, depends on the threads that are inside a call at once, not on the
 * connections. A container is created before other threads use it, and destroyed after.
 *
 * Read scopes. While a Read_scope is alive, the thread is inside a read section of each container
 * that it reads: no page goes away under it. Outside a scope the addresses of pages stay, so that a
 * reader finds FREE records and not a fault.
 *
 * Ordering:  [Q1] borrow: exchange, acquire  <->  [Q2] give back: store, release
 *            carries: the handle's fields
 *            [Q3] next pool: CAS, acq_rel  <->  [Q4] next pool: load, acquire
 *            carries: the pool's zeroes
 */
#ifndef PFSLAB_SERVER_H
#define PFSLAB_SERVER_H

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pfslab/container.h>

namespace pfslab
{

/* What a server's container asks for. */
struct Shape {
	const char *name; /* of the status variables */
	size_t record_bytes;
	size_t record_align;
	size_t word_offset;
	uint32_t page_records;
	uint32_t page_max;
	uint64_t record_max; /* 0: page_max * page_records */
	bool keeps_records;  /* records point into arrays of their page, so their bytes stay */
};

/* What a container did, for the status variables. */
struct Counts {
	uint64_t pages, pages_peak, growths, needless_growths, given_back, live;
	uint64_t page_skips, record_skips, lost, resident_bytes, overhead_bytes;
	bool counted; /* false: skips and needless growths are not, the library counts none */
};

/* The arrays of one page: made by the server's allocator, in memory whose addresses stay. */
class Arena
{
      public:
	~Arena();
	/* Memory of the next array, zero-filled. The first request for as many bytes as the records
	 * have returns the records, as they are. Arrays come in the same order each time the page
	 * comes, so each has its old address again, unless the page now has more records. */
	void *take(size_t size_bytes);
	/* True if the memory is this arena's: it is given back, and its address stays. */
	bool give(void *memory, size_t size_bytes);
	void begin(void *records, size_t size_bytes);

      private:
	struct Block {
		void *memory;
		size_t size_bytes;
		void *outgrown; /* memory that was too small for a page with more records */
		size_t outgrown_bytes;
	};
	static constexpr size_t block_max = 32;
	Block blocks_[block_max] = {};
	size_t used_ = 0; /* blocks that the page has now */
	void *records_ = nullptr;
	size_t records_bytes_ = 0;
};

/* The arena that the calling thread's allocations come from at this moment, or NULL. */
Arena *current_arena();
class Arena_scope
{
      public:
	explicit Arena_scope(Arena *arena);
	~Arena_scope();
	Arena_scope(const Arena_scope &) = delete;
	Arena_scope &operator=(const Arena_scope &) = delete;
};

/* How pages come and go, in the server's terms. */
class Page_owner
{
      public:
	/* Make the arrays of a page with so many records; false: no memory. */
	virtual bool make_arrays(void **arrays, void *records, size_t record_count) = 0;
	virtual void drop_arrays(void *arrays) = 0;
	virtual void end_arrays(void *arrays) = 0;

      protected:
	~Page_owner() = default;
};

struct Pool; /* of handles */

class Container
{
      public:
	/* The policy must not be "stock". Returns false, with a line on stderr, if it cannot. */
	bool create(const Shape &shape, Page_owner *owner);
	void destroy();

	/* A DIRTY record and its word; NULL: refused. The server publishes it by a store. */
	void *allocate(uint32_t *dirty_word);
	void free(void *record);

	/* Readers. Inside a Read_scope what they return stays readable until its end. */
	void *get(uint64_t index);
	void *next(uint64_t index, uint64_t *found); /* the first live one from index on; or NULL */
	void *record_at(const void *pointer);
	/* Call visit for each record, live ones or all. */
	void each(bool all, void (*visit)(void *context, void *record), void *context);

	/* Pages below this number may exist. Wait-free. */
	uint32_t page_limit() const
	{
		return page_limit_.load(std::memory_order_relaxed); /* relaxed: a bound */
	}
	uint32_t pages() const
	{
		return pages_.load(std::memory_order_relaxed); /* relaxed: a metric */
	}
	bool is_created() const
	{
		return container_ != nullptr;
	}
	Counts counts();
	const char *name() const
	{
		return name_;
	}

      private:
	friend class Borrowed;
	friend class Read_scope;
	static bool come(void *context, pfs_page_view *view);
	static void go(void *context, pfs_page_view *view);
	static void end(void *context, pfs_page_view *view);

	pfs_container *container_ = nullptr;
	pfs_page_hooks hooks_ = {};
	Page_owner *owner_ = nullptr;
	const char *name_ = "";
	std::atomic<Pool *> pools_{ nullptr };
	std::atomic<uint32_t> pages_{ 0 };      /* that have their arrays */
	std::atomic<uint32_t> page_limit_{ 0 }; /* one more than the highest page so far */
};

/* The thread reads tables: sections of the containers that it reads end with the scope. Scopes may
 * nest; the outermost counts. */
class Read_scope
{
      public:
	Read_scope();
	~Read_scope();
	Read_scope(const Read_scope &) = delete;
	Read_scope &operator=(const Read_scope &) = delete;

      private:
	friend class Borrowed;
	static constexpr size_t container_max = 64;
	struct Entry {
		Container *container;
		void *slot;
	};
	Entry entries_[container_max];
	size_t count_ = 0;
	bool is_outermost_;
};

/* ---- the choice of the policy ---- */

/* The server's option; "stock" is the server's own code. */
extern const char *policy_name;
/* Called when a container is initialized, by the thread that starts the server. Ends the process
 * with a line if the policy is unknown. */
void choose_policy();
/* What choose_policy found: true if the server's own code runs. Wait-free. */
bool is_stock();

/* The containers of the server, with either code: what the status variables list. */
struct Listed {
	const char *name;
	void *context;
	Counts (*counts)(void *context);
};
void list_add(const Listed &entry);
void list_remove(const void *context);
/* The entry at a position; its name is NULL after the last. */
Listed list_at(size_t position);

} // namespace pfslab

#endif
