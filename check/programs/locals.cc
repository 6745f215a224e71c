// locals.cc - thread-local objects with constructors and destructors, as each thread has them.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <pfslab/check.h>

namespace {

std::atomic<int> made, ended;

struct Counted {
	std::unique_ptr<int> own = std::make_unique<int>(1);
	Counted() { made++; }
	~Counted() { ended += *own; }
};

thread_local Counted counted;
thread_local std::string text = "as long as no small string is, of each thread";
thread_local std::vector<int> numbers;

void use(void *)
{
	pfs_check_assert(*counted.own == 1 && numbers.empty());
	numbers.push_back(made);
	text += "!";
	pfs_check_assert(text.size() == 46 && numbers.size() == 1);
}

void use_in_another(void *)
{
	std::thread other(use, nullptr);
	other.join();
	pfs_check_assert(ended >= 1); // before join returns
}

void both_ended(void *)
{
	pfs_check_assert(made == 2 && ended == 2);
}

PFS_CHECK_SCENARIO(objects)
{
	pfs_check_thread(use, nullptr);
	pfs_check_thread(use_in_another, nullptr);
	pfs_check_at_rest(both_ended, nullptr);
}

} // namespace
