/*
 * fork_test.c - a forked child has its own books, which begin with what it inherited, and never
 * writes into its parent's box. A process that ends removes its box; a killed one leaves it.
 *
 * usage: accounts_fork_test FOLDER
 */
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common_test.h"

static struct pfs_books *books;
static pfs_memory_key key;
static uint32_t faults;

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	printf("[%d] %s\n", (int)getpid(), what);
	faults++;
}

static void add_current(struct pfs_cell *cell, struct pfs_cell_sums sums, void *context)
{
	(void)cell;
	*(uint64_t *)context += sums.alloc_bytes - sums.free_bytes;
}

static uint64_t in_use(void)
{
	uint64_t bytes = 0;
	visit_cells(books, add_current, &bytes);
	return bytes;
}

static void open_books(const char *folder)
{
	struct pfs_memory_config config = test_config(folder);
	config.tick_ms = 2;
	books = books_or_exit(&config, "memory/test/fork", &key);
}

/* Another life of the parent, on another thread: it waits, and does not exist in the child. */
static _Atomic(bool) others_end, other_is_there;

static void *other_life(void *context)
{
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "other", "u", "h", true);
	(void)context;
	for (uint32_t i = 0; i < 10; i++)
		(void)pfs_memory_allocated(thread, key, 1000);
	atomic_store(&other_is_there, true);
	while (!atomic_load(&others_end))
		(void)usleep(1000);
	pfs_memory_thread_end(thread);
	return NULL;
}

/* The child has 500 + 10,000 inherited bytes, and 7 of its own. */
static int be_child(struct pfs_memory_thread *thread, struct pfs_memory_note inherited,
		    const char *parents_path)
{
	for (uint32_t i = 0; i < 7; i++)
		(void)pfs_memory_allocated(thread, key, 1);
	check(in_use() == 10507, "the child's sum is not what it inherited and its own");
	pfs_memory_freed(books, thread, inherited, 500);
	check(in_use() == 10007, "a block that was inherited is not credited");
	const char *path = pfs_memory_path(books);
	check(path != NULL && strcmp(path, parents_path) != 0, "the child has no box of its own");
	check(path != NULL && access(path, R_OK) == 0, "the child's box is not there");
	pid_t grandchild = fork();
	if (grandchild == 0) {
		(void)pfs_memory_allocated(thread, key, 3);
		check(in_use() == 10010, "the grandchild's sum is wrong");
		_exit(faults != 0);
	}
	int status = 0;
	(void)waitpid(grandchild, &status, 0);
	check(status == 0, "the grandchild failed");
	check(in_use() == 10007, "the grandchild wrote into the child's books");
	return faults != 0;
}

#ifndef __SANITIZE_THREAD__ /* it needs more memory than is left here */
/* Without memory for its copy a child counts nothing, and no call of it fails otherwise. */
static int be_uncounted(struct pfs_memory_thread *thread, struct pfs_memory_note inherited)
{
	struct pfs_message message;
	check(pfs_memory_allocated(thread, key, 9).reference == 0, "a block is counted");
	pfs_memory_freed(books, thread, inherited, 500);
	check(pfs_memory_thread_begin(books, "late", "u", "h", true) == NULL, "a life begins");
	check(pfs_memory_register(books, "memory/test/late") == 0, "an instrument is made");
	check(pfs_memory_limit(books, PFS_MEMORY_PROGRAM, NULL, NULL, 1, &message) != PFS_OK,
	      "a limit is set");
	pfs_memory_tick(books);
	pid_t grandchild = fork();
	if (grandchild == 0)
		_exit(pfs_memory_allocated(thread, key, 9).reference != 0);
	int status = 1;
	(void)waitpid(grandchild, &status, 0);
	check(status == 0, "the grandchild failed");
	pfs_memory_thread_end(thread);
	pfs_memory_close(books);
	return faults != 0;
}

static void fork_short_of_memory(struct pfs_memory_thread *thread, struct pfs_memory_note inherited)
{
	struct rlimit before, now;
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	check(file != NULL && fscanf(file, "%lu", &pages) == 1, "statm");
	if (file != NULL)
		(void)fclose(file);
	(void)getrlimit(RLIMIT_AS, &before);
	now = before;
	now.rlim_cur = pages * 4096 + 8192;
	(void)setrlimit(RLIMIT_AS, &now);
	pid_t child = fork();
	(void)setrlimit(RLIMIT_AS, &before);
	if (child == 0)
		_exit(be_uncounted(thread, inherited));
	int status = 1;
	(void)waitpid(child, &status, 0);
	check(child > 0 && status == 0, "the child without memory failed");
	check(in_use() == 10500, "the child without memory wrote into its parent's books");
}
#endif

int main(int argc, char **argv)
{
	pthread_t other;
	if (argc != 2) {
		fprintf(stderr, "usage: accounts_fork_test FOLDER\n");
		return 2;
	}
	open_books(argv[1]);
	char path[PFS_BOX_PATH_BYTES];
	(void)snprintf(path, sizeof(path), "%s", pfs_memory_path(books));
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "main", "u", "h", true);
	struct pfs_memory_note note = pfs_memory_allocated(thread, key, 500);
	(void)pthread_create(&other, NULL, other_life, NULL);
	while (!atomic_load(&other_is_there))
		(void)usleep(1000);
	pid_t child = fork();
	if (child == 0)
		_exit(be_child(thread, note, path));
	int status = 0;
	(void)waitpid(child, &status, 0);
	check(status == 0, "the child failed");
	check(in_use() == 10500, "the child wrote into its parent's books");
#ifndef __SANITIZE_THREAD__
	fork_short_of_memory(thread, note);
#endif
	child = fork();
	if (child == 0) {
		(void)in_use();
		(void)raise(SIGKILL);
	}
	(void)waitpid(child, &status, 0);
	atomic_store(&others_end, true);
	(void)pthread_join(other, NULL);
	pfs_memory_freed(books, thread, note, 500);
	pfs_memory_thread_end(thread);
	pfs_memory_close(books);
	check(access(path, R_OK) != 0, "the box is still there after a clean end");
	(void)snprintf(path, sizeof(path), "ls %s/%d-*.box >/dev/null", argv[1], (int)child);
	check(system(path) == 0, "the box of a process that was killed is not there");
	return faults != 0;
}
