/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfslab_container.h - a pfslab container with the interface of PFS_buffer_scalable_container.
 *
 * The server's header includes this after its own templates and before the typedefs that use them;
 * from there on PFS_buffer_scalable_container names the class below. When the server starts it
 * chooses between the server's own code and a policy of the library (pfslab_server.h).
 *
 * A record is the server's own struct, with its pfs_lock inside. The library writes that word for
 * FREE -> DIRTY and ALLOCATED -> FREE, and the server for what is between: both are sequentially
 * consistent or stronger than the library's own stores. m_page of a record leads to its container.
 *
 * Pages have the server's own arrays, made by the server's own allocator (alloc_array). Its memory
 * comes from the page's arena (pfslab_memory.h), so that it can go while its addresses stay.
 */
#ifndef PFSLAB_CONTAINER_ADAPTER_H
#define PFSLAB_CONTAINER_ADAPTER_H

#include <atomic>
#include <new>
#include <type_traits>

#include "pfslab_names.h"
#include "pfslab_server.h"

/*
 * The server's allocator under a count of what its own container does: called inside its lock, when
 * it is about to add a page. So pages that are added while a record is free are known for it, too.
 */
template <class T, class U, class V> class PFSLAB_watched_allocator
{
      public:
	explicit PFSLAB_watched_allocator(V *allocator) : m_allocator(allocator) {}

	int alloc_array(U *array)
	{
		bool some_free = m_some_free != nullptr && m_some_free(m_context);
		int result = m_allocator->alloc_array(array);
		if (result == 0) {
			/* relaxed, both: metrics */
			m_growths.fetch_add(1, std::memory_order_relaxed);
			m_needless_growths.fetch_add(some_free ? 1 : 0, std::memory_order_relaxed);
		}
		return result;
	}

	void free_array(U *array)
	{
		m_allocator->free_array(array);
	}

	V *m_allocator;
	bool (*m_some_free)(void *context) = nullptr;
	void *m_context = nullptr;
	std::atomic<ulong> m_growths{ 0 };
	std::atomic<ulong> m_needless_growths{ 0 };
};

template <class T, int PFS_PAGE_SIZE, int PFS_PAGE_COUNT, class U, class V>
class PFSLAB_buffer_scalable_container;

template <class T, int PFS_PAGE_SIZE, int PFS_PAGE_COUNT, class U, class V>
class PFSLAB_buffer_scalable_iterator
{
	typedef PFSLAB_buffer_scalable_container<T, PFS_PAGE_SIZE, PFS_PAGE_COUNT, U, V> container;
	friend container;

      public:
	T *scan_next()
	{
		uint unused;
		return scan_next(&unused);
	}

	T *scan_next(uint *found_index)
	{
		return m_container->scan_next(&m_index, found_index);
	}

      private:
	PFSLAB_buffer_scalable_iterator(container *of, uint index) : m_container(of), m_index(index)
	{
	}

	container *m_container;
	uint m_index;
};

template <class T, int PFS_PAGE_SIZE, int PFS_PAGE_COUNT, class U = PFS_buffer_default_array<T>,
	  class V = PFS_buffer_default_allocator<T>>
class PFSLAB_buffer_scalable_container final : private pfslab::Page_owner
{
      public:
	typedef T value_type;
	typedef U array_type;
	typedef V allocator_type;
	typedef PFSLAB_buffer_scalable_iterator<T, PFS_PAGE_SIZE, PFS_PAGE_COUNT, U, V>
		iterator_type;
	typedef PFS_buffer_const_iterator<T> const_iterator_type;
	typedef PFS_buffer_processor<T> processor_type;
	typedef void (*function_type)(value_type *);

	static_assert(sizeof(std::atomic<ulong>) == sizeof(ulong), "m_lost is shown as a ulong");
	static const size_t MAX_SIZE = PFS_PAGE_SIZE * PFS_PAGE_COUNT;

	explicit PFSLAB_buffer_scalable_container(allocator_type *allocator)
	    : m_lost(0), m_allocator(allocator), m_watched(allocator), m_stock(&m_watched)
	{
	}

	int init(long max_size)
	{
		m_lost.store(0, std::memory_order_relaxed); /* relaxed: runs alone */
		m_max = MAX_SIZE;
		pfslab::choose_policy();
		m_is_stock = pfslab::is_stock();
		pfslab::list_add({ pfslab::Name<T>::text, this, counts_of });
		if (m_is_stock) {
			m_watched.m_context = this;
			m_watched.m_some_free = stock_has_free;
			return m_stock.init(max_size);
		}
		return m_ours.create(shape_of(max_size), this) ? 0 : 1;
	}

	void cleanup()
	{
		pfslab::list_remove(this);
		if (m_is_stock)
			m_stock.cleanup();
		else if (m_ours.is_created())
			m_ours.destroy();
	}

	ulong get_row_count()
	{
		return m_is_stock ? m_stock.get_row_count() : ulong(m_ours.pages()) * PFS_PAGE_SIZE;
	}

	ulong get_row_size() const
	{
		return sizeof(value_type);
	}

	ulong get_memory()
	{
		return get_row_count() * get_row_size();
	}

	value_type *allocate(pfs_dirty_state *dirty_state)
	{
		value_type *record;
		if (m_is_stock) {
			record = m_stock.allocate(dirty_state);
		} else {
			record = static_cast<value_type *>(
				m_ours.allocate(&dirty_state->m_version_state));
			if (record != nullptr)
				record->m_page =
					reinterpret_cast<PFS_opaque_container_page *>(this);
		}
		if (record == nullptr)
			m_lost.fetch_add(1, std::memory_order_relaxed); /* relaxed: a metric */
		return record;
	}

	void deallocate(value_type *record)
	{
		if (m_is_stock)
			m_stock.deallocate(record);
		else
			m_ours.free(record);
	}

	static void static_deallocate(value_type *record)
	{
		if (pfslab::is_stock()) {
			stock_type::static_deallocate(record);
			return;
		}
		void *container = record->m_page;
		static_cast<PFSLAB_buffer_scalable_container *>(container)->deallocate(record);
	}

	iterator_type iterate()
	{
		return iterator_type(this, 0);
	}
	iterator_type iterate(uint index)
	{
		return iterator_type(this, index);
	}

	void apply(function_type function)
	{
		each(false, function);
	}
	void apply_all(function_type function)
	{
		each(true, function);
	}
	void apply(processor_type &processor)
	{
		each(false, processor);
	}
	void apply_all(processor_type &processor)
	{
		each(true, processor);
	}

	value_type *get(uint index)
	{
		return m_is_stock ? m_stock.get(index)
				  : static_cast<value_type *>(m_ours.get(index));
	}

	/* A page that was given back is skipped: there may be more behind it. */
	value_type *get(uint index, bool *has_more)
	{
		if (m_is_stock)
			return m_stock.get(index, has_more);
		*has_more = index < m_max && index / PFS_PAGE_SIZE < m_ours.page_limit();
		return *has_more ? get(index) : nullptr;
	}

	value_type *sanitize(value_type *unsafe)
	{
		return m_is_stock ? m_stock.sanitize(unsafe)
				  : static_cast<value_type *>(m_ours.record_at(unsafe));
	}

	std::atomic<ulong> m_lost; /* the server shows its bytes as a ulong, and adds to it */

      private:
	friend iterator_type;
	typedef PFSLAB_watched_allocator<T, U, V> watched_type;
	typedef PFS_buffer_scalable_container<T, PFS_PAGE_SIZE, PFS_PAGE_COUNT, U, watched_type>
		stock_type;

	/* The arrays of a page, with what the server's allocator fills in. */
	struct Arrays {
		U array;
		pfslab::Arena arena;
	};

	value_type *scan_next(uint *index, uint *found_index)
	{
		value_type *record = nullptr;
		if (m_is_stock) {
			record = m_stock.iterate(*index).scan_next(found_index);
		} else if (*index < m_max) {
			uint64_t found = 0;
			record = static_cast<value_type *>(m_ours.next(*index, &found));
			*found_index = static_cast<uint>(found);
		}
		*index = record != nullptr ? *found_index + 1 : static_cast<uint>(m_max);
		return record;
	}

	template <class F> static void visit(void *context, void *record)
	{
		(*static_cast<typename std::remove_reference<F>::type *>(context))(
			static_cast<value_type *>(record));
	}

	template <class F> void each(bool all, F &&function)
	{
		if (!m_is_stock)
			m_ours.each(all, visit<F>,
				    const_cast<void *>(static_cast<const void *>(&function)));
		else if (all)
			m_stock.apply_all(function);
		else
			m_stock.apply(function);
	}

	static size_t word_offset()
	{
		alignas(T) static char bytes[sizeof(T)];
		const T *record = reinterpret_cast<const T *>(bytes);
		return static_cast<size_t>(reinterpret_cast<const char *>(&record->m_lock) - bytes);
	}

	pfslab::Shape shape_of(long max_size) const
	{
		static_assert(sizeof(T) % 8 == 0, "records of an array are not 8 bytes apart");
		pfslab::Shape shape = {};
		shape.name = pfslab::Name<T>::text;
		shape.record_bytes = sizeof(T);
		shape.record_align = alignof(T) < 8 ? 8 : alignof(T);
		shape.word_offset = word_offset();
		shape.page_records = PFS_PAGE_SIZE;
		shape.page_max = max_size == 0 ? 0 : PFS_PAGE_COUNT;
		if (max_size > 0 && static_cast<unsigned long>(max_size) < MAX_SIZE)
			shape.record_max = static_cast<uint64_t>(max_size);
		shape.keeps_records = !std::is_same<V, PFS_buffer_default_allocator<T>>::value;
		return shape;
	}

	/* ---- pages, as the library's hooks call them ---- */

	bool make_arrays(void **arrays, void *records, size_t record_count) override
	{
		Arrays *self = static_cast<Arrays *>(*arrays);
		if (self == nullptr)
			self = new (std::nothrow) Arrays();
		if (self == nullptr)
			return false;
		*arrays = self;
		self->array.m_max = record_count;
		self->array.m_container = reinterpret_cast<PFS_opaque_container *>(this);
		self->arena.begin(records, record_count * sizeof(T));
		pfslab::Arena_scope scope(&self->arena);
		if (m_allocator->alloc_array(&self->array) == 0 && self->array.m_ptr == records) {
			builtin_memory_scalable_buffer.count_alloc(sizeof(U));
			return true;
		}
		m_allocator->free_array(&self->array);
		return false;
	}

	void drop_arrays(void *arrays) override
	{
		Arrays *self = static_cast<Arrays *>(arrays);
		pfslab::Arena_scope scope(&self->arena);
		m_allocator->free_array(&self->array);
		builtin_memory_scalable_buffer.count_free(sizeof(U));
	}

	void end_arrays(void *arrays) override
	{
		delete static_cast<Arrays *>(arrays);
	}

	/* ---- for the status variables ---- */

	struct Tally : public PFS_buffer_processor<T> {
		ulong free = 0, live = 0;
		void operator()(T *record) override
		{
			free += record->m_lock.is_free() ? 1 : 0;
			live += record->m_lock.is_populated() ? 1 : 0;
		}
	};

	static bool stock_has_free(void *context)
	{
		Tally tally;
		static_cast<PFSLAB_buffer_scalable_container *>(context)->m_stock.apply_all(tally);
		return tally.free != 0;
	}

	static pfslab::Counts counts_of(void *context)
	{
		PFSLAB_buffer_scalable_container *self =
			static_cast<PFSLAB_buffer_scalable_container *>(context);
		pfslab::Counts counts = {};
		if (!self->m_is_stock) {
			counts = self->m_ours.counts();
		} else {
			Tally tally;
			self->m_stock.apply(tally);
			counts.pages = self->m_stock.get_row_count() / PFS_PAGE_SIZE;
			counts.pages_peak = counts.pages;
			/* relaxed, both: metrics */
			counts.growths = self->m_watched.m_growths.load(std::memory_order_relaxed);
			counts.needless_growths =
				self->m_watched.m_needless_growths.load(std::memory_order_relaxed);
			counts.live = tally.live;
		}
		counts.lost = self->m_lost.load(std::memory_order_relaxed); /* relaxed: a metric */
		return counts;
	}

	allocator_type *m_allocator;
	bool m_is_stock = true;
	size_t m_max = 0;
	watched_type m_watched;
	stock_type m_stock;
	pfslab::Container m_ours;
};

#define PFS_buffer_scalable_container PFSLAB_buffer_scalable_container

#endif
