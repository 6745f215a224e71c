/*
 * libstdcxx.cc - libstdc++'s atomic<shared_ptr>, and shared_ptr's counts.
 *
 * PACKAGE libstdc++-12-dev 12.2.0, /usr/include/c++/12/bits/shared_ptr_atomic.h
 * BUILD -std=c++20
 * RUN copies: complete
 * RUN store_store: complete
 * RUN load_store: found (shared_ptr_atomic.h:500); thread 1 writes
 * RUN exchange: found (shared_ptr_atomic.h:500); thread 0 writes
 * RUN misused: found nothing orders them
 *
 * load_store: a defect where memory is weaker than x86's, and known (ThreadSanitizer finds it,
 * too): load() reads the pointer under a lock, but gives that back relaxed (line 502), so that the
 * read may come behind a store of who locks next, and the pointer is not the count's.
 */
#include <atomic>
#include <memory>

#include <pfslab/check.h>

static std::atomic<std::shared_ptr<int>> *shared;

static void load(void *)
{
	std::shared_ptr<int> seen = shared->load();
	pfs_check_assert(*seen == 1 || *seen == 2);
}

static void store(void *)
{
	shared->store(std::make_shared<int>(2));
}

static void change(void *)
{
	std::shared_ptr<int> seen = shared->load();
	(void)shared->compare_exchange_strong(seen, std::make_shared<int>(2));
}

static void finish(void *)
{
	delete shared;
}

static void begin()
{
	shared = new std::atomic<std::shared_ptr<int>>(std::make_shared<int>(1));
	pfs_check_at_rest(finish, nullptr);
}

PFS_CHECK_SCENARIO(load_store)
{
	begin();
	pfs_check_thread(load, nullptr);
	pfs_check_thread(store, nullptr);
}

PFS_CHECK_SCENARIO(store_store)
{
	begin();
	pfs_check_thread(store, nullptr);
	pfs_check_thread(store, nullptr);
}

PFS_CHECK_SCENARIO(exchange)
{
	begin();
	pfs_check_thread(change, nullptr);
	pfs_check_thread(change, nullptr);
}

/* One object that both change, and that only counts atomically. */
static std::shared_ptr<int> *plain;

PFS_CHECK_SCENARIO(copies)
{
	plain = new std::shared_ptr<int>(std::make_shared<int>(1));
	pfs_check_thread([](void *) { std::shared_ptr<int> own = *plain; }, nullptr);
	pfs_check_thread([](void *) { std::shared_ptr<int> own = *plain; }, nullptr);
	pfs_check_at_rest([](void *) { delete plain; }, nullptr);
}

PFS_CHECK_SCENARIO(misused)
{
	plain = new std::shared_ptr<int>(std::make_shared<int>(1));
	pfs_check_thread([](void *) { std::shared_ptr<int> own = *plain; }, nullptr);
	pfs_check_thread([](void *) { plain->reset(); }, nullptr);
	pfs_check_at_rest([](void *) { delete plain; }, nullptr);
}
