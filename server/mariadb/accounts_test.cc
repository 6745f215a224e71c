/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * accounts_test.cc - the hooks of pfslab_accounts.h in functions that behave like the server's.
 *
 * usage: accounts_hooks_test CASE PFS_MEM FOLDER
 * accounts_standin.h has those functions. The program PFS_MEM tells what the box says. Exit 0: as
 * expected.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accounts_standin.h"

namespace
{

/* ---- blocks ---- */

unsigned key_thread, key_global, key_other;

struct Block {
	Opaque *owner;
	size_t size;
	unsigned key;
};

Block take(unsigned key, size_t size)
{
	Block block = { nullptr, size, 0 };
	block.key = memory_alloc(key, size, &block.owner);
	return block;
}

void resize(Block *block, unsigned key, size_t size)
{
	block->key = memory_realloc(key, block->size, size, &block->owner);
	block->size = size;
}

void give(const Block &block)
{
	(void)memory_free(block.size, block.owner);
}

/* ---- what the box says ---- */

const char *program;
std::string box; /* its file */

/* The first value of the answer to a query; rows of csv follow a line of names. */
std::string ask(const std::string &query)
{
	std::string command = std::string(program) + " sql " + box + " --format csv \"" + query +
			      "\"";
	FILE *answer = popen(command.c_str(), "r");
	CHECK(answer != nullptr);
	char line[512] = "";
	for (int i = 0; i < 2; i++)
		if (fgets(line, sizeof(line), answer) == nullptr)
			line[0] = '\0';
	char rest[512];
	while (fgets(rest, sizeof(rest), answer) != nullptr)
		;
	CHECK(pclose(answer) == 0);
	line[strcspn(line, "\r\n")] = '\0';
	return line;
}

std::string bytes_of(const char *table, const std::string &where)
{
	return ask(std::string("SELECT ifnull(sum(CURRENT_NUMBER_OF_BYTES_USED), 0) FROM "
			       "memory_summary_") +
		   table + "_by_event_name WHERE " + where);
}

void expect(const char *table, const std::string &where, long bytes)
{
	std::string is = bytes_of(table, where);
	if (is == std::to_string(bytes))
		return;
	(void)fprintf(stderr, "%s, %s: %s bytes in use, not %ld\n", table, where.c_str(),
		      is.c_str(), bytes);
	exit(1);
}

void expect_none_below_zero()
{
	for (const char *table : { "by_thread", "by_account", "by_user", "by_host", "global" })
		CHECK(ask(std::string("SELECT count(*) FROM memory_summary_") + table +
			  "_by_event_name WHERE CURRENT_NUMBER_OF_BYTES_USED < 0 OR "
			  "CURRENT_COUNT_USED < 0 OR LOW_NUMBER_OF_BYTES_USED < 0") == "0");
}

const char alice[] = "USER = 'alice' AND HOST = 'here'";
const char bob[] = "USER = 'bob' AND HOST = 'there'";
const char per_thread[] = "EVENT_NAME = 'memory/sql/thd::main_mem_root'";
const char of_server[] = "EVENT_NAME = 'memory/sql/TABLE_SHARE::mem_root'";

void begin()
{
	static Info infos[] = { { &key_thread, "thd::main_mem_root", 0 },
				{ &key_global, "TABLE_SHARE::mem_root", flag_global },
				{ &key_other, "String::value", 0 } };
	pfslab::accounts_on = 1;
	register_memory("sql", infos, 3);
	CHECK(pfslab::accounts_now() != nullptr);
	box = pfs_memory_path(pfslab::accounts_now());
	current = new_thread();
}

/* ---- cases ---- */

/* A connection logs in, works, changes its user and ends; its blocks outlive it. What it has goes
 * with it to the next account. */
void case_account()
{
	begin();
	Block before = take(key_thread, 1000);
	expect("by_account", "USER IS NULL", 1000);
	set_account("alice", "here");
	expect("by_account", "USER IS NULL", 0);
	Block first = take(key_thread, 100);
	Block second = take(key_thread, 200);
	expect("by_account", alice, 1300);
	expect("by_user", "USER = 'alice'", 1300);
	expect("by_host", "HOST = 'here'", 1300);
	expect("global", per_thread, 1300);
	set_account("bob", "there");
	Block third = take(key_thread, 50);
	give(first);
	expect("by_account", alice, 0);
	expect("by_account", bob, 1250);
	delete_thread(current);
	expect("by_account", bob, 1250);
	give(second); /* by a thread that the Performance Schema does not know */
	give(third);
	expect("by_account", bob, 1000);
	expect("global", per_thread, 1000);
	give(before);
	expect("global", "1 = 1", 0);
	expect_none_below_zero();
}

/* Another thread frees, resizes and claims; the server's own owner stays what it was. */
void case_others()
{
	begin();
	set_account("alice", "here");
	Thread *owner = current;
	Block freed = take(key_thread, 100), resized = take(key_thread, 200);
	Block claimed = take(key_thread, 300);
	std::thread([&] {
		current = new_thread();
		set_account("bob", "there");
		CHECK(memory_free(freed.size, freed.owner) == owner);
		expect("by_account", alice, 500);
		resize(&resized, key_thread, 250);
		expect("by_account", alice, 300);
		CHECK(memory_claim(key_thread, claimed.size, &claimed.owner) == owner);
		expect("by_account", alice, 0);
		expect("by_account", bob, 550);
		delete_thread(current);
	}).join();
	give(resized);
	CHECK(memory_free(claimed.size, claimed.owner) != owner);
	expect("global", per_thread, 0);
	expect_none_below_zero();
}

/* The server does not count; memory of the server itself; what was not counted. */
void case_server()
{
	char name[] = "memory/performance_schema/mutex_instances";
	begin();
	Block uncounted = { nullptr, 400, 0 }; /* allocated before the Performance Schema began */
	set_account("alice", "here");
	is_enabled = false;
	Block disabled = take(key_thread, 100);
	CHECK(disabled.key == 0);
	expect("by_account", alice, 100);
	is_enabled = true;
	Block global = take(key_global, 1000);
	expect("by_account", alice, 100);
	expect("global", of_server, 1000);
	give(uncounted);
	resize(&uncounted, key_thread, 500);
	expect("by_account", alice, 600);
	pfslab::builtin_allocated(name, 4096);
	pfslab::builtin_allocated(name, 4096);
	pfslab::builtin_freed(name, 4096);
	expect("global", std::string("EVENT_NAME = '") + name + "'", 4096);
	/* While its instrument is off in the box, what comes is not counted, and cannot be freed.
	 */
	CHECK(ask("UPDATE setup_instruments SET ENABLED = 'NO' WHERE NAME = '" + std::string(name) +
		  "'")
		      .size() < 100);
	pfslab::builtin_allocated(name, 1000000);
	pfslab::builtin_freed(name, 4096);
	pfslab::builtin_freed(name, 1000000);
	expect("global", std::string("EVENT_NAME = '") + name + "'", 0);
	current = nullptr;
	Block unknown = take(key_thread, 70);
	expect("global", per_thread, 670);
	for (const Block &block : { disabled, global, uncounted, unknown })
		give(block);
	expect("global", "1 = 1", 0);
	expect_none_below_zero();
}

/* Without the option nothing is opened, and the server's word is untouched. */
void case_off()
{
	static Info info = { &key_thread, "thd::main_mem_root", 0 };
	register_memory("sql", &info, 1);
	current = new_thread();
	Block block = take(key_thread, 100);
	CHECK(pfslab::accounts_now() == nullptr);
	CHECK(block.owner == reinterpret_cast<Opaque *>(current));
	resize(&block, key_thread, 200);
	CHECK(memory_claim(key_thread, 200, &block.owner) == current);
	CHECK(memory_free(block.size, block.owner) == current);
	set_account("alice", "here");
	pfslab::builtin_allocated("memory/performance_schema/off", 100);
	pfslab::builtin_freed("memory/performance_schema/off", 100);
	delete_thread(current);
}

/* Sessions come and go and hand half of their blocks to each other. */
struct Exchange {
	std::mutex lock;
	std::vector<Block> blocks;
};

uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

void session(Exchange *exchange, uint64_t *random)
{
	static const char *const users[] = { "alice", "bob", "carol" };
	current = new_thread();
	set_account(users[draw(random) % 3], "here");
	for (int i = 0; i < 300; i++) {
		if (i % 100 == 99)
			set_account(users[draw(random) % 3], "there");
		Block mine = take(draw(random) % 8 != 0 ? key_thread : key_global,
				  8 * (1 + draw(random) % 100));
		unsigned key = mine.key;
		if (draw(random) % 4 == 0)
			resize(&mine, key, 8 * (1 + draw(random) % 100));
		if (draw(random) % 2 == 0) {
			give(mine);
			continue;
		}
		std::lock_guard<std::mutex> guard(exchange->lock);
		exchange->blocks.push_back(mine);
		size_t other = draw(random) % exchange->blocks.size();
		if (draw(random) % 3 != 0) {
			give(exchange->blocks[other]);
			exchange->blocks[other] = exchange->blocks.back();
			exchange->blocks.pop_back();
		}
	}
	delete_thread(current);
}

void case_threads()
{
	begin();
	Exchange exchange;
	std::vector<std::thread> threads;
	for (uint64_t i = 1; i <= 4; i++)
		threads.emplace_back([&exchange, i] {
			uint64_t random = i * UINT64_C(0x9E3779B97F4A7C15);
			for (int lives = 0; lives < 20; lives++)
				session(&exchange, &random);
		});
	for (int i = 0; i < 5; i++)
		expect_none_below_zero();
	for (std::thread &thread : threads)
		thread.join();
	long bytes = 0;
	for (const Block &block : exchange.blocks)
		bytes += static_cast<long>(block.size);
	expect("global", "1 = 1", bytes);
	expect_none_below_zero();
	for (const Block &block : exchange.blocks)
		give(block);
	expect("global", "1 = 1", 0);
	expect("by_account", "1 = 1", 0);
}

/* Whoever reads while a connection changes its user sees its memory once: in one of both accounts.
 */
void case_moves()
{
	begin();
	set_account("alice", "here");
	std::atomic<bool> over{ false };
	std::thread mover([&over] {
		current = new_thread();
		Block block = take(key_thread, 1000);
		for (int i = 0; !over.load(); i++) {
			set_account(i % 2 == 0 ? "alice" : "bob", "here");
			(void)usleep(i % 3 == 0 ? 0 : 1500);
		}
		give(block);
		delete_thread(current);
	});
	/* Lives that end in one of both accounts make readers read that one again. */
	std::thread sessions([&over] {
		while (!over.load()) {
			current = new_thread();
			set_account("alice", "here");
			give(take(key_other, 10));
			delete_thread(current);
			(void)usleep(50);
		}
	});
	while (bytes_of("global", per_thread) != "1000")
		(void)usleep(1000);
	for (int i = 0; i < 40; i++) {
		expect("by_account", per_thread, 1000);
		expect("by_user", per_thread, 1000);
		expect("global", per_thread, 1000);
	}
	over.store(true);
	mover.join();
	sessions.join();
	expect("by_account", "1 = 1", 0);
	expect_none_below_zero();
}

/* A killed server's box stays and has the last counts; one that ends leaves none. */
void case_killed()
{
	int pipe_ends[2];
	CHECK(pipe(pipe_ends) == 0);
	for (bool is_killed : { true, false }) {
		pid_t child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			begin();
			set_account("alice", "here");
			(void)take(key_thread, 123);
			char path[256] = "";
			(void)snprintf(path, sizeof(path), "%s", box.c_str());
			CHECK(write(pipe_ends[1], path, sizeof(path)) == sizeof(path));
			if (is_killed)
				(void)kill(getpid(), SIGKILL);
			exit(0);
		}
		char path[256];
		CHECK(read(pipe_ends[0], path, sizeof(path)) == sizeof(path));
		int status;
		CHECK(waitpid(child, &status, 0) == child);
		CHECK((access(path, R_OK) == 0) == is_killed);
		box = path;
		if (is_killed)
			expect("by_account", alice, 123);
	}
}

const struct {
	const char *name;
	void (*run)();
} cases[] = { { "account", case_account }, { "others", case_others },   { "server", case_server },
	      { "off", case_off },         { "threads", case_threads }, { "moves", case_moves },
	      { "killed", case_killed } };

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4) {
		(void)fprintf(stderr, "usage: accounts_hooks_test CASE PFS_MEM FOLDER\n");
		return 2;
	}
	program = argv[2];
	CHECK(setenv("PFS_MEM_DIR", argv[3], 1) == 0);
	for (const auto &one : cases) {
		if (strcmp(one.name, argv[1]) != 0)
			continue;
		one.run();
		return 0;
	}
	(void)fprintf(stderr, "no case '%s'\n", argv[1]);
	return 2;
}
