/*
 * corner_refused.c - a sandbox refuses a system call, from the start or later: malloc works without
 * it. Memory that could not be given back is not zero and must not be treated as zeroed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "corner.h"

#define BLOCKS 3000
#define REFUSED "CORNER_REFUSED"

/* From here on the system call fails with the error, in this thread and those that it starts. */
static void refuse(unsigned call, unsigned error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
		corner_skip("no seccomp: %s", strerror(errno));
}

static size_t size_of(unsigned i)
{
	return i % 100 == 99 ? 200000 + i * 61 : 1 + i * 37 % 9000;
}

/* Allocate and free much; memory is given back in between, in the background or at once. */
static void *work(void *pause)
{
	void **blocks = malloc(BLOCKS * sizeof(*blocks));
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned i = 0; i < BLOCKS; i++) {
			blocks[i] = malloc(size_of(i));
			CORNER_CHECK(blocks[i] != NULL, "NULL for %zu bytes", size_of(i));
			memset(blocks[i], 0xee, size_of(i));
		}
		for (unsigned i = 0; i < BLOCKS; i++)
			free(blocks[i]);
		(void)(pause != NULL && round == 1 ? usleep(1300000) : malloc_trim(0));
		for (unsigned i = 0; i < BLOCKS; i += 7) {
			blocks[i] = calloc(1, size_of(i));
			corner_check_zero(blocks[i], size_of(i), "calloc");
		}
		for (unsigned i = 0; i < BLOCKS; i += 7)
			free(blocks[i]);
	}
	unsigned char *grown = malloc(1000);
	corner_stamp(grown, 1000, 1);
	for (size_t size = 2000; size < (size_t)64 << 20; size *= 3) {
		grown = realloc(grown, size);
		CORNER_CHECK(corner_stamp_differs(grown, 1000, 1) == 1000, "realloc to %zu", size);
	}
	free(grown);
	free(blocks);
	return NULL;
}

static void refused_later(unsigned call, unsigned error)
{
	corner_threads(1, work, NULL);
	refuse(call, error);
	(void)work(&call);
	if (call != SYS_clone3)
		corner_threads(3, work, NULL);
}

/* What a malloc may ask the system at its start. */
static const unsigned others[] = { SYS_sched_getaffinity, SYS_getrandom, SYS_mbind,
				   SYS_get_mempolicy,     SYS_sysinfo,   SYS_uname };

/* The filter survives exec, so malloc starts under it. */
static void refused_at_start(unsigned call, unsigned error)
{
	if (getenv(REFUSED) == NULL) {
		refuse(call, error);
		if (call == SYS_getcpu)
			for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
				refuse(others[i], error);
		corner_again(REFUSED, "1");
	}
	(void)work(&call);
	if (call != SYS_clone3)
		corner_threads(3, work, NULL);
}

#define REFUSAL(name, call, error)             \
	CORNER(name##_later)                   \
	{                                      \
		refused_later(call, error);    \
	}                                      \
	CORNER(name##_at_start)                \
	{                                      \
		refused_at_start(call, error); \
	}

REFUSAL(membarrier, SYS_membarrier, ENOSYS)
REFUSAL(madvise, SYS_madvise, EINVAL)
REFUSAL(mremap, SYS_mremap, ENOSYS)
REFUSAL(clone, SYS_clone3, EAGAIN)
REFUSAL(questions, SYS_getcpu, EPERM)
