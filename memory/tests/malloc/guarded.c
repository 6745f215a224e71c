/*
 * guarded.c - makes one mistake with a block of the heap, as named by the first argument, to be run
 * with all blocks guarded; or, with `misuse TIMES`, the same one many times.
 *
 * Exit 0: the mistake was not noticed, or the case is none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__ /* which makes no copies of a function */
#define HERE static __attribute__((noinline))
#else
#define HERE static __attribute__((noinline, noclone))
#endif
#define SIZE 100u

static volatile unsigned char sink;
static char *shared;

HERE char *allocate_here(size_t size)
{
	char *block = malloc(size);
	__asm__ volatile("" : : "r"(block) : "memory"); /* not a tail call */
	return block;
}

HERE void free_here(void *block)
{
	free(block);
	__asm__ volatile("" : : : "memory");
}

HERE void write_here(char *at)
{
	*(volatile char *)at = 1;
}

HERE void read_here(const char *at)
{
	sink = *(const volatile unsigned char *)at;
}

static void *allocate_named(void *unused)
{
	(void)pthread_setname_np(pthread_self(), "maker");
	shared = allocate_here(SIZE);
	return unused;
}

static void *free_named(void *unused)
{
	(void)pthread_setname_np(pthread_self(), "dropper");
	free_here(shared);
	return unused;
}

static void *use_named(void *unused)
{
	(void)pthread_setname_np(pthread_self(), "user");
	read_here(shared + 7);
	return unused;
}

static void in_thread(void *(*body)(void *))
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, body, NULL) == 0)
		(void)pthread_join(thread, NULL);
}

/* ---- mistakes ---- */

/* At the end of a slot the byte after 112 is inaccessible, at its begin the one after the page. */
static void overflow(void)
{
	char *block = allocate_here(SIZE);
	for (size_t at = SIZE; at < SIZE + 4096; at++)
		write_here(block + at);
}

static void overflow_read(void)
{
	char *block = allocate_here(SIZE);
	for (size_t at = SIZE; at < SIZE + 4096; at++)
		read_here(block + at);
}

/* By one byte: noticed when the block is freed. */
static void overflow_one(void)
{
	char *block = allocate_here(SIZE);
	write_here(block + SIZE);
	free_here(block);
}

static void underflow(void)
{
	char *block = allocate_here(SIZE);
	for (size_t at = 1; at <= 4096; at++)
		write_here(block - at);
}

static void underflow_one(void)
{
	char *block = allocate_here(4000);
	if (((size_t)block & 4095) != 0) /* else it begins at an inaccessible page */
		write_here(block - 1);
	else
		write_here(block + 4000);
	free_here(block);
}

static void use_after_free(void)
{
	char *block = allocate_here(SIZE);
	free_here(block);
	read_here(block + 7);
}

static void use_across_threads(void)
{
	in_thread(allocate_named);
	in_thread(free_named);
	in_thread(use_named);
}

static void double_free(void)
{
	char *block = allocate_here(SIZE);
	free_here(block);
	free_here(block);
}

static void invalid_free(void)
{
	char *block = allocate_here(SIZE);
	free_here(block + 16);
}

static void free_of_data(void)
{
	static char data[64];
	free_here(data + 16);
}

static void realloc_freed(void)
{
	char *block = allocate_here(SIZE);
	free_here(block);
	shared = realloc(block, 2 * SIZE);
}

static void use_after_realloc(void)
{
	char *block = allocate_here(SIZE);
	shared = realloc(block, 2 * SIZE);
	read_here(block + 7);
}

static void large(void)
{
	char *block = allocate_here(50000);
	for (size_t at = 50000; at < 50000 + 4096; at++)
		write_here(block + at);
}

static void in_child(void)
{
	shared = allocate_here(SIZE);
	pid_t child = fork();
	int status = 0;
	if (child == 0) {
		free_here(shared);
		read_here(shared + 7);
		_exit(0);
	}
	(void)waitpid(child, &status, 0);
	if (!WIFSIGNALED(status))
		_exit(3);
	(void)raise(WTERMSIG(status));
}

/* ---- the program's own actions ---- */

static sigjmp_buf back;
static volatile sig_atomic_t handled;

static void own_handler(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code == SEGV_ACCERR && number == SIGSEGV)
		handled++;
	siglongjmp(back, 1);
}

static void set_own(int flags)
{
	struct sigaction action = { .sa_sigaction = own_handler, .sa_flags = flags | SA_SIGINFO };
	(void)sigaction(SIGSEGV, &action, NULL);
}

/* The report comes first, then the handler. */
static void own_action(void)
{
	shared = allocate_here(SIZE); /* the pool's handler is there before */
	set_own(0);
	if (sigsetjmp(back, 1) == 0)
		use_after_free();
	(void)printf("handled %d\n", (int)handled);
	(void)fflush(stdout);
}

/* A page that the program itself made inaccessible: no report, and its handler is called. */
static void own_fault(void)
{
	shared = allocate_here(SIZE);
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	set_own(0);
	if (sigsetjmp(back, 1) == 0)
		write_here(page);
	struct sigaction now;
	(void)sigaction(SIGSEGV, NULL, &now);
	(void)printf("handled %d, %s\n", (int)handled,
		     now.sa_sigaction == own_handler ? "its own" : "another's");
	(void)fflush(stdout);
}

/* The same of a block: a collector's write barrier. */
static void own_barrier(void)
{
	char *page = NULL;
	set_own(0);
	if (posix_memalign((void **)&page, 4096, 4096) != 0)
		return;
	(void)mprotect(page, 4096, PROT_READ);
	if (sigsetjmp(back, 1) == 0)
		write_here(page);
	(void)mprotect(page, 4096, PROT_READ | PROT_WRITE);
	free_here(page);
	(void)printf("handled %d\n", (int)handled);
	(void)fflush(stdout);
}

static void plain_fault(void)
{
	shared = allocate_here(SIZE);
	write_here((char *)16); /* NOLINT */
}

static void sent(void)
{
	shared = allocate_here(SIZE);
	(void)kill(getpid(), SIGSEGV);
	(void)pause();
}

static void ignored(void)
{
	(void)signal(SIGSEGV, SIG_IGN);
	shared = allocate_here(SIZE);
	(void)kill(getpid(), SIGSEGV);
	void (*before)(int) = signal(SIGSEGV, SIG_DFL);
	(void)printf("%s\n", before == SIG_IGN ? "ignored" : "changed");
	(void)fflush(stdout);
}

/* As many uses after free, one block after the other. */
static void misuse(unsigned long times)
{
	for (unsigned long i = 0; i < times; i++) {
		char *block = allocate_here(1 + i % 500);
		free_here(block);
		read_here(block);
	}
}

/* The kernel's own access is an error of the system call. */
static void by_the_kernel(void)
{
	char *block = allocate_here(SIZE);
	int file = open("/dev/zero", O_RDONLY);
	free_here(block);
	ssize_t got = read(file, block, SIZE);
	(void)printf("%s\n", got < 0 && errno == EFAULT ? "EFAULT" : "read");
	(void)fflush(stdout);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "overflow", overflow },
	{ "overflow_read", overflow_read },
	{ "overflow_one", overflow_one },
	{ "underflow", underflow },
	{ "underflow_one", underflow_one },
	{ "use_after_free", use_after_free },
	{ "use_across_threads", use_across_threads },
	{ "double_free", double_free },
	{ "invalid_free", invalid_free },
	{ "free_of_data", free_of_data },
	{ "realloc_freed", realloc_freed },
	{ "use_after_realloc", use_after_realloc },
	{ "large", large },
	{ "in_child", in_child },
	{ "own_action", own_action },
	{ "own_fault", own_fault },
	{ "own_barrier", own_barrier },
	{ "plain_fault", plain_fault },
	{ "sent", sent },
	{ "ignored", ignored },
	{ "by_the_kernel", by_the_kernel },
};

int main(int argc, char **argv)
{
	const char *name = argc == 2 ? argv[1] : "";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(name, cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	}
	if (argc == 3 && strcmp(argv[1], "misuse") == 0) {
		misuse(strtoul(argv[2], NULL, 10));
		return 0;
	}
	(void)fprintf(stderr, "usage: guarded CASE | misuse TIMES\n");
	return 2;
}
