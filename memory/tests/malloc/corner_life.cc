/*
 * corner_life.cc - malloc before main and after exit: early constructors, handlers at exit,
 * static destructors, destructors of thread-specific data in all their rounds.
 */
#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "corner.h"

namespace
{

const unsigned early_count = 200;
unsigned char *early_blocks[early_count];
unsigned char *constructed_blocks[early_count];
bool late_wanted;

size_t size_of(unsigned i)
{
	return i % 20 == 19 ? 40000 + i : 1 + i * 13;
}

size_t stamped_of(unsigned i)
{
	return size_of(i) < 64 ? size_of(i) : 64;
}

void fill(unsigned char **blocks)
{
	for (unsigned i = 0; i < early_count; i++) {
		blocks[i] = static_cast<unsigned char *>(malloc(size_of(i)));
		CORNER_CHECK(blocks[i] != nullptr, "block %u", i);
		corner_stamp(blocks[i], stamped_of(i), i);
	}
}

void check_and_free(unsigned char **blocks, unsigned step)
{
	for (unsigned i = 0; i < early_count; i += step) {
		CORNER_CHECK(blocks[i] != nullptr, "block %u is not there", i);
		CORNER_CHECK(corner_stamp_differs(blocks[i], stamped_of(i), i) == stamped_of(i),
			     "block %u changed", i);
		free(blocks[i]);
		blocks[i] = nullptr;
	}
}

/* Before the constructors of any library, so before those of a preloaded malloc. */
void before_all(int, char **, char **)
{
	fill(early_blocks);
}
__attribute__((section(".preinit_array"), used)) void (*const first)(int, char **,
								     char **) = before_all;

__attribute__((constructor(101))) void constructed()
{
	fill(constructed_blocks);
	free(malloc(100000));
}

/* After main, when much is destroyed: blocks from before main are used, and new ones. */
__attribute__((destructor(101))) void destructed()
{
	if (!late_wanted)
		return;
	for (unsigned round = 0; round < 3; round++) {
		unsigned char *blocks[early_count];
		fill(blocks);
		check_and_free(blocks, 1);
	}
	check_and_free(constructed_blocks, 1);
}

struct Late {
	std::vector<std::string> kept;
	~Late()
	{
		if (!late_wanted)
			return;
		for (int i = 0; i < 1000; i++)
			kept.push_back(std::string(static_cast<size_t>(i), 'x'));
		kept.clear();
	}
};
Late late;

void at_exit()
{
	for (int i = 0; i < 100; i++)
		late.kept.push_back(std::string(5000, 'y'));
	if (std::getenv("CORNER_DEEP") == nullptr)
		(void)atexit([] { free(malloc(1234)); });
}

CORNER(before_main)
{
	check_and_free(early_blocks, 1);
	check_and_free(constructed_blocks, 1);
}

void exits(void *)
{
	late_wanted = true;
	(void)atexit(at_exit);
}

CORNER(after_exit)
{
	for (int i = 0; i < 10; i++)
		corner_child(exits, nullptr, 20);
}

void *allocate_for_ever(void *)
{
	for (unsigned i = 0;; i++)
		free(malloc(size_of(i % 1000)));
	return nullptr;
}

/* Threads keep allocating while the process ends. */
void exits_beside_threads(void *)
{
	for (int i = 0; i < 4; i++) {
		pthread_t thread;
		CORNER_CHECK(pthread_create(&thread, nullptr, allocate_for_ever, nullptr) == 0,
			     "no thread");
	}
	(void)usleep(10000);
	exits(nullptr);
}

CORNER(after_exit_beside_threads)
{
	for (int i = 0; i < 20; i++)
		corner_child(exits_beside_threads, nullptr, 20);
}

/* ---- destructors of thread-specific data ---- */

pthread_key_t keys[4];
unsigned rounds_seen;
pthread_mutex_t rounds_lock = PTHREAD_MUTEX_INITIALIZER;

struct Round {
	unsigned left;
	unsigned key;
	unsigned char bytes[500];
};

void end_round(void *opaque)
{
	Round *round = static_cast<Round *>(opaque);
	CORNER_CHECK(corner_stamp_differs(round->bytes, sizeof(round->bytes), round->left) ==
			     sizeof(round->bytes),
		     "the data of a round changed");
	unsigned char *blocks[early_count];
	fill(blocks);
	check_and_free(blocks, 1);
	(void)pthread_mutex_lock(&rounds_lock);
	rounds_seen++;
	(void)pthread_mutex_unlock(&rounds_lock);
	if (round->left > 1) {
		Round *next = static_cast<Round *>(malloc(sizeof(*next)));
		next->left = round->left - 1;
		next->key = round->key;
		corner_stamp(next->bytes, sizeof(next->bytes), next->left);
		(void)pthread_setspecific(keys[round->key], next);
	}
	free(round);
}

void *end_in_rounds(void *only_free)
{
	for (unsigned key = 0; key < 4; key++) {
		Round *round = static_cast<Round *>(malloc(sizeof(*round)));
		round->left = 4;
		round->key = key;
		corner_stamp(round->bytes, sizeof(round->bytes), round->left);
		(void)pthread_setspecific(keys[key], round);
	}
	free(only_free);
	return nullptr;
}

CORNER(tsd_rounds)
{
	for (unsigned i = 0; i < 4; i++)
		CORNER_CHECK(pthread_key_create(&keys[i], end_round) == 0, "no key");
	for (int i = 0; i < 50; i++)
		corner_threads(4, end_in_rounds, nullptr);
	CORNER_CHECK(rounds_seen == 50 * 4 * 4 * 4, "%u rounds instead of %u", rounds_seen,
		     50 * 4 * 4 * 4);
	size_t before = corner_resident_bytes();
	for (int i = 0; i < 250; i++)
		corner_threads(4, end_in_rounds, nullptr);
	size_t after = corner_resident_bytes();
	CORNER_CHECK(after < before + (size_t)(4 << 20), "1,000 threads left %zu bytes",
		     after - before);
}

thread_local std::vector<std::string> own_strings;

void *use_thread_local(void *)
{
	for (int i = 0; i < 300; i++)
		own_strings.push_back(std::string(static_cast<size_t>(i) * 7, 'z'));
	return nullptr;
}

CORNER(thread_local_objects)
{
	for (int i = 0; i < 100; i++)
		corner_threads(4, use_thread_local, nullptr);
	(void)use_thread_local(nullptr);
}

/* The program has taken all keys: a malloc that wants one must work without. */
void *malloc_a_little(void *)
{
	unsigned char *blocks[early_count];
	fill(blocks);
	check_and_free(blocks, 1);
	return nullptr;
}

CORNER(keys_exhausted)
{
	unsigned taken = 0;
	pthread_key_t key;
	while (pthread_key_create(&key, nullptr) == 0)
		taken++;
	corner_threads(50, malloc_a_little, nullptr);
	CORNER_CHECK(taken >= 1000, "only %u keys were free", taken);
	corner_note("%u keys were free", taken);
}

void exits_quickly(void *)
{
	(void)at_quick_exit([] { free(malloc(77)); });
	free(malloc(77));
	std::quick_exit(0);
}

CORNER(quick_exits)
{
	corner_child(exits_quickly, nullptr, 20);
}

void *exit_from_thread(void *)
{
	free(malloc(100));
	std::exit(0);
}

void exits_in_thread(void *)
{
	exits(nullptr);
	corner_threads(1, exit_from_thread, nullptr);
}

CORNER(exit_in_thread)
{
	for (int i = 0; i < 20; i++)
		corner_child(exits_in_thread, nullptr, 20);
}

} // namespace
