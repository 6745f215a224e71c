/*
 * books_test.c - both sides of the box together: a reader sees what a program counted, while it
 * counts and after its death.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pfslab/memory.h>

#include "crowd_test.h"
#include "stress/harness/harness.h"

#define WORKERS 4u
#define KEYS 20u
#define SESSIONS 2000u
#define BLOCKS 64u

static char folder[64];
static struct pfs_books *books;
static pfs_memory_key keys[KEYS];
static atomic_bool is_over;

static void open_books(bool keep)
{
	struct pfs_memory_config config;
	struct pfs_message message;
	char name[64];
	(void)snprintf(folder, sizeof(folder), "/dev/shm/pfslab-books-XXXXXX");
	PFS_CHECK(mkdtemp(folder) != NULL);
	pfs_memory_config_init(&config);
	config.folder = folder;
	config.tick_ms = 0;
	config.threads_max = 512;
	config.accounts_max = 16;
	config.cells_max = 16384;
	config.keep = keep;
	PFS_CHECK_IS(pfs_memory_open(&config, &books, &message), PFS_OK);
	for (uint32_t i = 0; i < KEYS; i++) {
		(void)snprintf(name, sizeof(name), "memory/test/%u", i);
		keys[i] = pfs_memory_register(books, name);
		PFS_CHECK(keys[i] != 0);
	}
}

static void remove_all(void)
{
	char command[128];
	(void)snprintf(command, sizeof(command), "rm -r %s", folder);
	PFS_CHECK(system(command) == 0);
}

/* ---- a reader, and threads that come and go and free each other's blocks ---- */

struct block {
	struct pfs_memory_note note;
	uint32_t bytes;
};

static struct block shared[BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Replaces another thread's block by a new one, and frees the old one. */
static void trade(struct pfs_memory_thread *thread, uint32_t random)
{
	struct block fresh = { .bytes = 16 + random % 100 };
	fresh.note = pfs_memory_allocated(thread, keys[random / 7 % KEYS], fresh.bytes);
	(void)pthread_mutex_lock(&lock);
	struct block old = shared[random % BLOCKS];
	shared[random % BLOCKS] = fresh;
	(void)pthread_mutex_unlock(&lock);
	if (old.bytes != 0)
		pfs_memory_freed(books, thread, old.note, old.bytes);
}

static void *work(void *context)
{
	static const char *const users[] = { "app", "root", NULL, "app" };
	static const char *const hosts[] = { "web", NULL, "db", "db" };
	uint32_t number = *(uint32_t *)context, random = number + 1;
	for (uint32_t i = 0; i < SESSIONS; i++) {
		uint32_t who = (number + i) % 4;
		struct pfs_memory_thread *thread =
			pfs_memory_thread_begin(books, "worker", users[who], hosts[who], true);
		for (uint32_t j = 0; j < 200; j++)
			trade(thread, (random = random * 1664525 + 1013904223) >> 8);
		pfs_memory_thread_end(thread);
	}
	return NULL;
}

/* No row is below zero. Returns the number of missed rows. */
static uint64_t check_rows(const struct pfs_snapshot *snapshot)
{
	struct pfs_row row;
	for (int t = 0; t < PFS_TABLES; t++)
		for (uint64_t i = 0; pfs_snapshot_row(snapshot, (enum pfs_box_table)t, i, &row);
		     i++)
			PFS_CHECK(row.current_count >= 0 && row.current_bytes >= 0 &&
				  row.count_free >= 0 && row.bytes_free >= 0 &&
				  row.count_alloc >= row.count_free &&
				  row.high_count >= row.current_count);
	return snapshot->rows_missed;
}

static void *read_on(void *context)
{
	struct pfs_reader *reader = open_target(context);
	static uint64_t snapshots, missed;
	while (!atomic_load(&is_over)) {
		struct pfs_snapshot *snapshot = take(reader);
		missed += check_rows(snapshot) != 0;
		snapshots++;
		pfs_snapshot_free(snapshot);
	}
	(void)printf("       %llu snapshots, %llu with rows that moved each time\n",
		     (unsigned long long)snapshots, (unsigned long long)missed);
	pfs_reader_close(reader);
	return NULL;
}

static void check_rest(struct pfs_reader *reader, int64_t blocks, int64_t bytes)
{
	struct pfs_snapshot *snapshot = take(reader);
	struct pfs_row row;
	int64_t count = 0, sum = 0, allocs = 0;
	for (uint64_t i = 0; pfs_snapshot_row(snapshot, PFS_TABLE_GLOBAL, i, &row); i++) {
		count += row.current_count;
		sum += row.current_bytes;
		allocs += row.count_alloc;
	}
	PFS_CHECK_IS(snapshot->rows_missed, 0);
	PFS_CHECK_IS(count, blocks);
	PFS_CHECK_IS(sum, bytes);
	PFS_CHECK_IS(allocs, WORKERS * SESSIONS * 200);
	pfs_snapshot_free(snapshot);
}

static void beside(const struct pfs_case *at)
{
	pthread_t workers[WORKERS], reader_thread;
	uint32_t numbers[WORKERS];
	struct pfs_message message;
	int64_t blocks = 0, bytes = 0;
	(void)at;
	open_books(true);
	(void)snprintf(path, sizeof(path), "%s", pfs_memory_path(books));
	PFS_CHECK(pthread_create(&reader_thread, NULL, read_on, path) == 0);
	for (uint32_t i = 0; i < WORKERS; i++) {
		numbers[i] = i;
		PFS_CHECK(pthread_create(&workers[i], NULL, work, &numbers[i]) == 0);
	}
	for (uint32_t i = 0; i < WORKERS; i++)
		(void)pthread_join(workers[i], NULL);
	atomic_store(&is_over, true);
	(void)pthread_join(reader_thread, NULL);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		blocks += shared[i].bytes != 0;
		bytes += shared[i].bytes;
	}
	struct pfs_reader *reader = open_target(path);
	check_rest(reader, blocks, bytes);
	PFS_CHECK(pfs_reader_check(reader, &message));
	/* TRUNCATE does not change what is in use. */
	PFS_CHECK(pfs_reader_truncate(reader, PFS_TABLE_GLOBAL, &message));
	struct pfs_snapshot *snapshot = take(reader);
	struct pfs_row row;
	for (uint64_t i = 0; pfs_snapshot_row(snapshot, PFS_TABLE_GLOBAL, i, &row); i++)
		PFS_CHECK(row.count_free == 0 && row.count_alloc == row.current_count &&
			  row.low_bytes <= row.current_bytes);
	pfs_snapshot_free(snapshot);
	pfs_memory_close(books);
	PFS_CHECK(pfs_reader_refresh(reader, &message));
	PFS_CHECK(!pfs_reader_info(reader)->is_live);
	PFS_CHECK_IS(pfs_reader_info(reader)->state, PFS_BOX_ENDED);
	PFS_CHECK(pfs_reader_check(reader, &message));
	pfs_reader_close(reader);
	remove_all();
}

/* ---- killed ---- */

static void count_until_killed(int ready)
{
	open_books(false);
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "victim", "app", "web",
								   true);
	for (uint32_t i = 0; i < 1000; i++)
		(void)pfs_memory_allocated(thread, keys[3], 100);
	pfs_memory_tick(books);
	PFS_CHECK(write(ready, folder, sizeof(folder)) == sizeof(folder));
	pause();
}

static void killed(const struct pfs_case *at)
{
	struct pfs_message message;
	struct pfs_row row;
	int ready[2];
	(void)at;
	PFS_CHECK(pipe(ready) == 0);
	pid_t child = fork();
	if (child == 0)
		count_until_killed(ready[1]);
	PFS_CHECK(read(ready[0], folder, sizeof(folder)) == sizeof(folder));
	(void)setenv("PFS_MEM_DIR", folder, 1);
	struct pfs_reader *reader = open_target("last");
	PFS_CHECK(pfs_reader_info(reader)->is_live);
	PFS_CHECK_IS(pfs_reader_info(reader)->pid, (uint32_t)child);
	pfs_reader_close(reader);
	PFS_CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
	reader = open_target("last");
	PFS_CHECK(!pfs_reader_info(reader)->is_live);
	PFS_CHECK_IS(pfs_reader_info(reader)->ticks, 1);
	struct pfs_snapshot *snapshot = take(reader);
	PFS_CHECK(snapshot->has_own);
	PFS_CHECK(pfs_snapshot_row(snapshot, PFS_TABLE_ACCOUNT, 3, &row));
	PFS_CHECK_IS(row.current_bytes, 100000);
	PFS_CHECK_IS(row.high_bytes, 100000);
	PFS_CHECK(strcmp(snapshot->accounts[0].user_name, "app") == 0);
	pfs_snapshot_free(snapshot);
	PFS_CHECK(pfs_reader_check(reader, &message));
	pfs_reader_close(reader);
	remove_all();
}

int main(int argc, char **argv)
{
	static const struct pfs_test tests[] = {
		{ .name = "beside", .run = beside, .threads = true },
		{ .name = "killed", .run = killed },
	};
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
