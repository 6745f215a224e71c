// SPDX-License-Identifier: GPL-2.0-only
// status_test.cc - the option that chooses the policy, and the status variables.

#include <map>

#include <sys/wait.h>
#include <unistd.h>

#include "pfslab_status.h"
#include "standin/sys_vars.h"
#include "testing.h"

#include "pfslab_option.inc"

using namespace testing;

namespace
{

typedef std::map<std::string, long long> Status;

Status show()
{
	Status status;
	st_mysql_show_var variable = {};
	PFS_CHECK_IS(pfslab_show(nullptr, &variable, nullptr, nullptr, SHOW_OPT_GLOBAL), 0);
	PFS_CHECK_IS(variable.type, SHOW_ARRAY);
	auto *at = static_cast<st_mysql_show_var *>(variable.value);
	for (; at->name != nullptr; at++) {
		PFS_CHECK_IS(at->type, SHOW_LONGLONG);
		PFS_CHECK(status.emplace(at->name, *static_cast<long long *>(at->value)).second);
	}
	return status;
}

constexpr size_t values_of_each = 11;

/* ---- status variables ---- */

void each_container()
{
	PFS_CHECK(show().size() == 1);
	PFS_mutex_partitioned_container mutexes(&mutex_allocator);
	PFS_CHECK_IS(mutexes.init(40), 0);
	begin<Threads>(2);
	pfs_dirty_state state;
	for (int i = 0; i < 40; i++) {
		PFS_mutex *mutex = mutexes.allocate(&state, 1);
		PFS_CHECK(mutex != nullptr);
		mutex->m_lock.dirty_to_allocated(&state);
	}
	for (int i = 0; i < 5; i++)
		(void)allocate(Threads::it());
	Status status = show();
	PFS_CHECK_IS(status.size(), 3 * values_of_each + 1);
	PFS_CHECK_IS(status.at("mutex_pages"), 0);
	PFS_CHECK_IS(status.at("mutex_live"), 0);
	PFS_CHECK_IS(status.at("mutex_growths"), 0);
	PFS_CHECK_IS(status.at("mutex_1_pages"), 2);
	PFS_CHECK_IS(status.at("mutex_1_pages_peak"), 2);
	PFS_CHECK_IS(status.at("mutex_1_pages_given_back"), 0);
	PFS_CHECK_IS(status.at("mutex_1_growths"), 2);
	PFS_CHECK_IS(status.at("mutex_1_growths_needless"), 0);
	PFS_CHECK_IS(status.at("mutex_1_live"), 40);
	PFS_CHECK_IS(status.at("mutex_1_lost"), 0);
	PFS_CHECK_IS(status.at("thread_live"), 2);
	PFS_CHECK_IS(status.at("thread_lost"), 3);
	PFS_CHECK(is_stock() || status.at("mutex_1_resident_bytes") > 0);

	mutexes.m_partitions[0]->cleanup(); /* the other is then the first of its name */
	status = show();
	PFS_CHECK_IS(status.size(), 2 * values_of_each + 1);
	PFS_CHECK_IS(status.at("mutex_live"), 40);
	mutexes.cleanup();
	PFS_CHECK_IS(show().size(), values_of_each + 1);
	end<Threads>();
	PFS_CHECK(show().size() == 1);
}

void pages_given_back()
{
	begin<Mutexes>(-1);
	empty<Mutexes>(fill<Mutexes>(Mutexes::all));
	wait_for_pages<Mutexes>(0);
	Status status = show();
	for (int ms = 0; status.at("mutex_pages_given_back") < Mutexes::pages; ms++) {
		PFS_CHECK(ms < 20000);
		sleep_ms(1);
		status = show();
	}
	PFS_CHECK_IS(status.at("mutex_pages"), 0);
	PFS_CHECK_IS(status.at("mutex_pages_peak"), Mutexes::pages);
	PFS_CHECK_IS(status.at("mutex_pages_given_back"), Mutexes::pages);
	PFS_CHECK_IS(status.at("mutex_resident_bytes"), 0);
	end<Mutexes>();
}

/* The server's own container does not count what it adds: the allocator under it does. */
void pages_added_while_some_were_free(const pfs_case *)
{
	PFSLAB_watched_allocator<PFS_thread, PFS_thread_array, PFS_thread_allocator> watched(
		&thread_allocator);
	bool some_free = false;
	watched.m_context = &some_free;
	watched.m_some_free = [](void *context) { return *static_cast<bool *>(context); };
	for (int round = 0; round < 3; round++) {
		PFS_thread_array array = {};
		array.m_max = 4;
		some_free = round == 1;
		PFS_thread_allocator::s_fails_at = round == 2 ? 2 : 0;
		PFS_CHECK_IS(watched.alloc_array(&array), round == 2);
		watched.free_array(&array);
	}
	PFS_CHECK_IS(watched.m_growths, 2);
	PFS_CHECK_IS(watched.m_needless_growths, 1);
	check_memory_is_back();
}

void ask(void *, uint32_t index)
{
	for (int i = 0; i < 100; i++) {
		if (index == 0) {
			PFS_mutex *mutex = allocate(Mutexes::it());
			PFS_CHECK(mutex != nullptr);
			Mutexes::it().deallocate(mutex);
			continue;
		}
		Status status = show();
		PFS_CHECK_IS(status.size(), values_of_each + 1);
		PFS_CHECK(status.at("mutex_live") <= 1);
		PFS_CHECK_IS(status.at("mutex_lost"), 0);
	}
}

/* Several sessions ask at once, as the server's lock of the variables is shared. */
void sessions_ask()
{
	begin<Mutexes>(-1);
	pfs_run_threads(4, ask, nullptr);
	end<Mutexes>();
}

/* ---- the choice ---- */

/* What init says and ends with, in a child. */
std::string init_dies(const char *policy, const char *variable, const char *value)
{
	int ends[2];
	char text[1000];
	PFS_CHECK_IS(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		pfslab::policy_name = policy;
		if (variable != nullptr)
			(void)setenv(variable, value, 1);
		(void)Mutexes::it().init(-1);
		_exit(0);
	}
	(void)close(ends[1]);
	size_t length = 0;
	for (ssize_t got; (got = read(ends[0], text + length, sizeof(text) - 1 - length)) > 0;)
		length += static_cast<size_t>(got);
	text[length] = '\0';
	(void)close(ends[0]);
	int status = 0;
	PFS_CHECK_IS(waitpid(child, &status, 0), child);
	PFS_CHECK(WIFEXITED(status));
	PFS_CHECK_IS(WEXITSTATUS(status), 1);
	PFS_CHECK(length > 0 && strchr(text, '\n') == text + length - 1); /* one line */
	return text;
}

void unknown_policies(const pfs_case *)
{
	for (const char *name : { "nosuch", "", "Stock", "mutex_list", "malloc" }) {
		std::string line = init_dies(name, nullptr, nullptr);
		PFS_CHECK(line.find("'" + std::string(name) + "'") != std::string::npos);
		for (const char *policy : policies)
			PFS_CHECK(line.find(policy) != std::string::npos);
	}
}

void wrong_numbers(const pfs_case *)
{
	for (const char *value : { "x", "1x", "-1", "3600001", "99999999999999999999" })
		PFS_CHECK(init_dies("exact", "PFSLAB_PERIOD_MS", value).find(value) !=
			  std::string::npos);
	(void)init_dies("exact", "PFSLAB_HEADROOM_PERCENT", "1001");
	(void)init_dies("exact", "PFSLAB_DECAY_PASSES", "1001");
}

void the_option(const pfs_case *)
{
	PFS_CHECK_IS(strcmp(Sys_pfslab_policy.m_name, "pfslab_policy"), 0);
	PFS_CHECK_IS(strcmp(Sys_pfslab_policy.m_default, "stock"), 0);
	PFS_CHECK_IS(strcmp(pfslab::policy_name, "stock"), 0);
	PFS_CHECK(Sys_pfslab_policy.m_variable == &pfslab::policy_name);
	std::string comment = Sys_pfslab_policy.m_comment;
	for (const char *policy : policies)
		PFS_CHECK(comment.find(policy) != std::string::npos);
	pfslab::policy_name = nullptr;
	begin<Mutexes>(-1);
	PFS_CHECK(pfslab::is_stock());
	Mutexes::it().cleanup();
	pfslab::policy_name = "exact";
	begin<Mutexes>(-1);
	PFS_CHECK(!pfslab::is_stock());
	end<Mutexes>();
}

/* Every policy of the library that a server can use is tested here. */
void all_policies(const pfs_case *)
{
	size_t count = 1; /* stock */
	for (size_t i = 0; pfs_variant_at(i) != nullptr; i++)
		count += (pfs_variant_traits(pfs_variant_at(i)) & PFS_TRAIT_OWN_WORD) != 0;
	PFS_CHECK_IS(count, std::size(policies));
}

} // namespace

int main(int argc, char **argv)
{
	List list;
	list.add<each_container>("each container");
	list.add<pages_given_back>("pages given back", RECLAIM);
	list.add_one("pages added while some were free", pages_added_while_some_were_free);
	list.add<sessions_ask>("sessions ask", STARTS_THREADS);
	list.add_one("unknown policies", unknown_policies);
	list.add_one("wrong numbers", wrong_numbers);
	list.add_one("the option", the_option);
	list.add_one("all policies", all_policies);
	return list.run(argc, argv);
}
