/* SPDX-License-Identifier: GPL-2.0-only */
/* pfslab_server.cc - see pfslab_server.h. */
#include "pfslab_server.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pfslab/variant.h>

namespace pfslab
{

const char *policy_name = "stock";

namespace
{

constexpr size_t listed_max = 64;
Listed listed[listed_max]; /* start and end of the server only, which run alone */
size_t listed_count;

bool stock_runs = true; /* start of the server only */

thread_local Arena *arena_now = nullptr;
thread_local Read_scope *scope_now = nullptr;

size_t whole_os_pages(size_t bytes)
{
	static const size_t os_page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
	return (bytes + os_page - 1) / os_page * os_page;
}

uint32_t number_from(const char *variable, uint32_t otherwise, uint32_t most)
{
	const char *text = getenv(variable);
	if (text == nullptr || *text == '\0')
		return otherwise;
	char *end = nullptr;
	unsigned long value = strtoul(text, &end, 10);
	if (*end != '\0' || value > most) {
		fprintf(stderr, "pfslab: %s '%s': not a number from 0 to %u; unset it\n", variable,
			text, static_cast<unsigned>(most));
		exit(1);
	}
	return static_cast<uint32_t>(value);
}

} // namespace

/* ---- arrays ---- */

Arena *current_arena()
{
	return arena_now;
}

Arena_scope::Arena_scope(Arena *arena)
{
	arena_now = arena;
}

Arena_scope::~Arena_scope()
{
	arena_now = nullptr;
}

Arena::~Arena()
{
	for (Block &block : blocks_) {
		if (block.memory != nullptr)
			munmap(block.memory, whole_os_pages(block.size_bytes));
		if (block.outgrown != nullptr)
			munmap(block.outgrown, whole_os_pages(block.outgrown_bytes));
	}
}

void Arena::begin(void *records, size_t size_bytes)
{
	records_ = records;
	records_bytes_ = size_bytes;
	used_ = 0;
}

void *Arena::take(size_t size_bytes)
{
	if (records_ != nullptr && records_bytes_ == size_bytes) {
		void *records = records_;
		records_bytes_ = 0; /* given once */
		return records;
	}
	if (used_ == block_max)
		return nullptr;
	Block &block = blocks_[used_];
	if (block.memory == nullptr || block.size_bytes < size_bytes) {
		void *memory = mmap(nullptr, whole_os_pages(size_bytes), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return nullptr;
		/* A container's pages have two sizes, that of the last one and that of the others.
		 * So memory is outgrown once at most. Readers outside sections may still read it.
		 */
		block.outgrown = block.memory;
		block.outgrown_bytes = block.size_bytes;
		block.memory = memory;
		block.size_bytes = size_bytes;
	}
	used_++;
	return block.memory;
}

bool Arena::give(void *memory, size_t size_bytes)
{
	if (memory == records_)
		return true; /* the container's */
	for (Block &block : blocks_) {
		if (block.memory != memory)
			continue;
		/* Fails for memory that is locked. */
		if (madvise(memory, whole_os_pages(size_bytes), MADV_DONTNEED) != 0)
			memset(memory, 0, size_bytes);
		return true;
	}
	return false;
}

/* ---- handles ---- */

constexpr size_t line_bytes = 64;

struct Slot {
	alignas(line_bytes) std::atomic<uint32_t> busy{ 0 };
	pfs_thread *handle = nullptr; /* of whoever made busy 1 */
};

/* Handles of a container; when all are in use at once, another pool is linked to the last. */
struct Pool {
	static constexpr size_t slot_count = 64;
	Slot slots[slot_count];
	std::atomic<Pool *> next{ nullptr };
};

namespace
{

/* The server's language is C++11, whose new does not align to lines. */
Pool *make_pool()
{
	void *memory = nullptr;
	return posix_memalign(&memory, line_bytes, sizeof(Pool)) == 0 ? new (memory) Pool : nullptr;
}

void end_pool(Pool *pool)
{
	pool->~Pool();
	free(pool);
}

bool try_slot(Slot &slot)
{
	/* [Q1] acquire, pairs with [Q2]: what the last borrower did with the handle. relaxed: a
	 * first look, so that a slot in use costs no write. */
	return slot.busy.load(std::memory_order_relaxed) == 0 &&
	       slot.busy.exchange(1, std::memory_order_acquire) == 0;
}

Pool *next_of(std::atomic<Pool *> &link)
{
	Pool *pool = link.load(std::memory_order_acquire); /* [Q4] acquire, pairs with [Q3] */
	if (pool != nullptr)
		return pool;
	Pool *made = make_pool();
	if (made == nullptr)
		return nullptr;
	/* [Q3] acq_rel, pairs with [Q4]: its slots are free. A failure reads another thread's. */
	if (link.compare_exchange_strong(pool, made, std::memory_order_acq_rel))
		return made;
	end_pool(made);
	return pool;
}

void give_back(Slot *slot)
{
	slot->busy.store(0, std::memory_order_release); /* [Q2] release, pairs with [Q1] */
}

/* A slot that is the caller's until it is given back; NULL: no memory. Lock-free, but for the
 * attach of a slot's first use. */
Slot *borrow(std::atomic<Pool *> &first, pfs_container *container)
{
	size_t start = static_cast<size_t>(sched_getcpu()); /* -1 also selects a slot */
	std::atomic<Pool *> *link = &first;
	for (Pool *pool = next_of(*link); pool != nullptr; pool = next_of(*link)) {
		for (size_t tried = 0; tried < Pool::slot_count; tried++) {
			Slot &slot = pool->slots[(start + tried) % Pool::slot_count];
			if (!try_slot(slot))
				continue;
			if (slot.handle != nullptr ||
			    pfs_thread_attach(container, &slot.handle) == PFS_OK)
				return &slot;
			give_back(&slot);
			return nullptr;
		}
		link = &pool->next;
	}
	return nullptr;
}

} // namespace

/* A handle for one call: of the thread's read scope if there is one and the call reads. */
class Borrowed
{
      public:
	enum Kind { WRITES, READS };

	Borrowed(Container *container, Kind kind)
	{
		Read_scope *scope = kind == READS ? scope_now : nullptr;
		for (size_t i = 0; scope != nullptr && i < scope->count_; i++) {
			if (scope->entries_[i].container == container) {
				slot_ = static_cast<Slot *>(scope->entries_[i].slot);
				return;
			}
		}
		slot_ = borrow(container->pools_, container->container_);
		is_own_ = slot_ != nullptr;
		if (scope == nullptr || slot_ == nullptr ||
		    scope->count_ == Read_scope::container_max)
			return;
		scope->entries_[scope->count_++] = { container, slot_ };
		pfs_enter(slot_->handle);
		is_own_ = false; /* the scope gives it back */
	}

	~Borrowed()
	{
		if (is_own_)
			give_back(slot_);
	}

	Borrowed(const Borrowed &) = delete;
	Borrowed &operator=(const Borrowed &) = delete;

	pfs_thread *handle() const
	{
		return slot_ != nullptr ? slot_->handle : nullptr;
	}

      private:
	Slot *slot_ = nullptr;
	bool is_own_ = false;
};

Read_scope::Read_scope() : is_outermost_(scope_now == nullptr)
{
	if (is_outermost_)
		scope_now = this;
}

Read_scope::~Read_scope()
{
	if (!is_outermost_)
		return;
	scope_now = nullptr;
	while (count_ > 0) {
		Slot *slot = static_cast<Slot *>(entries_[--count_].slot);
		pfs_leave(slot->handle);
		give_back(slot);
	}
}

/* ---- a container ---- */

bool Container::come(void *context, pfs_page_view *view)
{
	Container *self = static_cast<Container *>(context);
	if (!self->owner_->make_arrays(&view->arrays, view->records, view->record_count))
		return false;
	self->pages_.fetch_add(1, std::memory_order_relaxed);               /* relaxed: a metric */
	uint32_t limit = self->page_limit_.load(std::memory_order_relaxed); /* relaxed: a guess */
	/* relaxed: the limit is a bound. What is found below it, the library publishes. */
	while (limit <= view->page && !self->page_limit_.compare_exchange_weak(
					      limit, view->page + 1, std::memory_order_relaxed))
		;
	return true;
}

void Container::go(void *context, pfs_page_view *view)
{
	Container *self = static_cast<Container *>(context);
	self->owner_->drop_arrays(view->arrays);
	self->pages_.fetch_sub(1, std::memory_order_relaxed); /* relaxed: a metric */
}

void Container::end(void *context, pfs_page_view *view)
{
	static_cast<Container *>(context)->owner_->end_arrays(view->arrays);
}

static pfs_config config_of(const Shape &shape, const pfs_variant *variant)
{
	pfs_config config;
	bool reclaims = (pfs_variant_traits(variant) & PFS_TRAIT_RECLAIM) != 0;
	pfs_config_init(&config);
	config.layout = PFS_LAYOUT_OWN_WORD;
	config.record_size_bytes = static_cast<uint32_t>(shape.record_bytes);
	config.record_align_bytes = static_cast<uint32_t>(shape.record_align);
	config.word_offset = static_cast<uint32_t>(shape.word_offset);
	config.page_records = shape.page_records;
	config.page_max = shape.page_max;
	config.record_max = shape.record_max;
	config.late_reuse = true; /* tables show the last life of records that are free */
	if (!reclaims)
		return config;
	config.give_back = shape.keeps_records ? PFS_GIVE_BACK_ARRAYS : PFS_GIVE_BACK_MEMORY;
	config.reclaim.period_ms = number_from("PFSLAB_PERIOD_MS", 500, 3600000);
	config.reclaim.headroom_percent = number_from("PFSLAB_HEADROOM_PERCENT", 25, 1000);
	config.reclaim.spare_pages = 0;
	config.reclaim.idle_passes = 2;
	config.reclaim.decay_passes = number_from("PFSLAB_DECAY_PASSES", 8, 1000);
	return config;
}

bool Container::create(const Shape &shape, Page_owner *owner)
{
	const pfs_variant *variant = pfs_variant_find(policy_name);
	pfs_config config = config_of(shape, variant);
	pfs_message message;
	hooks_ = { come, go, end, this };
	config.hooks = &hooks_;
	owner_ = owner;
	name_ = shape.name;
	pages_.store(0, std::memory_order_relaxed);      /* relaxed: no other thread yet */
	page_limit_.store(0, std::memory_order_relaxed); /* relaxed: as above */
	if (pfs_container_create(variant, &config, &container_, &message) != PFS_OK) {
		fprintf(stderr, "pfslab: container %s: %s\n", shape.name, message.text);
		container_ = nullptr;
		return false;
	}
	return true;
}

void Container::destroy()
{
	/* relaxed, both: runs alone. What a policy keeps for a handle goes with its detach. */
	for (Pool *pool = pools_.load(std::memory_order_relaxed); pool != nullptr;
	     pool = pool->next.load(std::memory_order_relaxed))
		for (Slot &slot : pool->slots)
			if (slot.handle != nullptr)
				pfs_thread_detach(slot.handle);
	pfs_container_destroy(container_);
	container_ = nullptr;
	Pool *pool = pools_.load(std::memory_order_relaxed); /* relaxed: runs alone */
	pools_.store(nullptr, std::memory_order_relaxed);    /* relaxed: as above */
	while (pool != nullptr) {
		Pool *next = pool->next.load(std::memory_order_relaxed); /* relaxed: runs alone */
		end_pool(pool);
		pool = next;
	}
}

void *Container::allocate(uint32_t *dirty_word)
{
	Borrowed borrowed(this, Borrowed::WRITES);
	if (borrowed.handle() == nullptr)
		return nullptr;
	pfs_claim claim = pfs_allocate(borrowed.handle());
	*dirty_word = claim.dirty_word;
	return claim.record;
}

/* A thread that can borrow no handle has no memory for one either: the record stays allocated. */
void Container::free(void *record)
{
	Borrowed borrowed(this, Borrowed::WRITES);
	if (borrowed.handle() != nullptr)
		pfs_free(borrowed.handle(), record);
}

void *Container::get(uint64_t index)
{
	Borrowed borrowed(this, Borrowed::READS);
	return borrowed.handle() != nullptr ? pfs_lookup(borrowed.handle(), index) : nullptr;
}

void *Container::next(uint64_t index, uint64_t *found)
{
	Borrowed borrowed(this, Borrowed::READS);
	pfs_walk walk;
	if (borrowed.handle() == nullptr)
		return nullptr;
	pfs_walk_begin(&walk, borrowed.handle(), PFS_WALK_LIVE);
	walk.next_index = index;
	void *record = pfs_walk_next(&walk);
	*found = walk.index;
	pfs_walk_end(&walk);
	return record;
}

void *Container::record_at(const void *pointer)
{
	Borrowed borrowed(this, Borrowed::READS);
	return borrowed.handle() != nullptr ? pfs_record_at(borrowed.handle(), pointer) : nullptr;
}

void Container::each(bool all, void (*visit)(void *context, void *record), void *context)
{
	Borrowed borrowed(this, Borrowed::READS);
	pfs_walk walk;
	if (borrowed.handle() == nullptr)
		return;
	pfs_walk_begin(&walk, borrowed.handle(), all ? PFS_WALK_ALL : PFS_WALK_LIVE);
	for (void *record; (record = pfs_walk_next(&walk)) != nullptr;)
		visit(context, record);
	pfs_walk_end(&walk);
}

Counts Container::counts()
{
	Counts sum = {};
	pfs_counts counts;
	pfs_container_counts(container_, &counts);
	sum.pages = counts.pages;
	sum.pages_peak = counts.pages_peak;
	sum.growths = counts.growths;
	sum.needless_growths = counts.needless_growths;
	sum.given_back = counts.reclaimed;
	sum.page_skips = counts.page_skips;
	sum.record_skips = counts.record_skips;
	sum.lost = counts.lost;
	sum.resident_bytes = counts.resident_bytes;
	sum.overhead_bytes = counts.overhead_bytes;
	sum.counted = counts.counted;
	sum.live = pfs_container_live(container_);
	return sum;
}

void list_add(const Listed &entry)
{
	if (listed_count < listed_max)
		listed[listed_count++] = entry;
}

void list_remove(const void *context)
{
	for (size_t i = 0; i < listed_count; i++) {
		if (listed[i].context != context)
			continue;
		memmove(&listed[i], &listed[i + 1], (--listed_count - i) * sizeof(listed[0]));
		return;
	}
}

Listed list_at(size_t position)
{
	return position < listed_count ? listed[position] : Listed{ nullptr, nullptr, nullptr };
}

bool is_stock()
{
	return stock_runs;
}

void choose_policy()
{
	stock_runs = policy_name == nullptr || strcmp(policy_name, "stock") == 0;
	if (stock_runs)
		return;
	const pfs_variant *variant = pfs_variant_find(policy_name);
	if (variant != nullptr && (pfs_variant_traits(variant) & PFS_TRAIT_OWN_WORD) != 0)
		return;
	fprintf(stderr,
		"pfslab: --pfslab-policy='%s': no such policy for a server; choose from stock",
		policy_name);
	for (size_t i = 0; (variant = pfs_variant_at(i)) != nullptr; i++)
		if ((pfs_variant_traits(variant) & PFS_TRAIT_OWN_WORD) != 0)
			fprintf(stderr, ", %s", pfs_variant_name(variant));
	fprintf(stderr, "\n");
	exit(1);
}

} // namespace pfslab
