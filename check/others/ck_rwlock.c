/*
 * ck_rwlock.c - Concurrency Kit's locks for readers and a writer. One or two readers, one writer.
 *
 * PACKAGE libck-dev 0.7.1, /usr/include/ck_rwlock.h
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -include ck_pr_c11.h
 * RUN rwlock: complete
 * RUN swlock: complete
 * RUN latch: complete
 * RUN pflock: complete
 * RUN tflock: complete
 * RUN brlock: complete
 * RUN bytelock --memory sc --no-races: complete
 * RUN bytelock: unchecked and of 1 to one place
 * RUN unslotted --memory sc: found plain access to a bad address
 * RUN misused: found data race
 *
 * bytelock: a writer looks at eight readers' bytes by one load, which is outside of C11, and of
 * what `views` can tell; store buffers know bytes.
 * unslotted: a defect on all machines. Threads that have no slot of their own all give
 * CK_BYTELOCK_UNSLOTTED (UINT_MAX). While one of them writes, it is the lock's owner; another one
 * that comes to read finds the owner to be "itself" (line 131), takes that for its own lock that
 * becomes one of a reader, writes to readers[UINT_MAX - 1], 4 GiB beyond the lock, and would then
 * let all in. Compiled as it is installed, the two calls end with a segmentation fault.
 */
#include <ck_brlock.h>
#include <ck_bytelock.h>
#include <ck_pflock.h>
#include <ck_rwlock.h>
#include <ck_swlock.h>
#include <ck_tflock.h>
#include <pfslab/check.h>

static int a, b;
static ck_brlock_reader_t readers[2];

static void check_b(void *argument)
{
	pfs_check_assert(a == b);
}

/* What is guarded: plain, and two that must be the same. */
static void change(void)
{
	a++;
	b++;
}

static void look(void)
{
	pfs_check_assert(a == b);
}

/* name, number of readers, lock's type, how to begin, how readers and writers enter and leave */
#define LOCK(name, count, type, init, read_lock, read_unlock, write_lock, write_unlock)  \
	static type name##_lock;                                                         \
	static void write_##name(void *own)                                              \
	{                                                                                \
		write_lock;                                                              \
		change();                                                                \
		write_unlock;                                                            \
	}                                                                                \
	static void read_##name(void *own)                                               \
	{                                                                                \
		read_lock;                                                               \
		look();                                                                  \
		read_unlock;                                                             \
	}                                                                                \
	PFS_CHECK_SCENARIO(name)                                                         \
	{                                                                                \
		init;                                                                    \
		pfs_check_thread(read_##name, &readers[0]);                              \
		if ((count) == 2)                                                        \
			pfs_check_thread(read_##name, &readers[1]);                      \
		pfs_check_thread(write_##name, 0);                                       \
		pfs_check_at_rest(check_b, 0);                                           \
	}
LOCK(rwlock, 1, ck_rwlock_t, ck_rwlock_init(&rwlock_lock), ck_rwlock_read_lock(&rwlock_lock),
     ck_rwlock_read_unlock(&rwlock_lock), ck_rwlock_write_lock(&rwlock_lock),
     ck_rwlock_write_unlock(&rwlock_lock))
LOCK(swlock, 1, ck_swlock_t, ck_swlock_init(&swlock_lock), ck_swlock_read_lock(&swlock_lock),
     ck_swlock_read_unlock(&swlock_lock), ck_swlock_write_lock(&swlock_lock),
     ck_swlock_write_unlock(&swlock_lock))
LOCK(latch, 1, ck_swlock_t, ck_swlock_init(&latch_lock), ck_swlock_read_lock(&latch_lock),
     ck_swlock_read_unlock(&latch_lock), ck_swlock_write_latch(&latch_lock),
     ck_swlock_write_unlatch(&latch_lock))
LOCK(pflock, 2, ck_pflock_t, ck_pflock_init(&pflock_lock), ck_pflock_read_lock(&pflock_lock),
     ck_pflock_read_unlock(&pflock_lock), ck_pflock_write_lock(&pflock_lock),
     ck_pflock_write_unlock(&pflock_lock))
LOCK(tflock, 2, ck_tflock_ticket_t, ck_tflock_ticket_init(&tflock_lock),
     ck_tflock_ticket_read_lock(&tflock_lock), ck_tflock_ticket_read_unlock(&tflock_lock),
     ck_tflock_ticket_write_lock(&tflock_lock), ck_tflock_ticket_write_unlock(&tflock_lock))
LOCK(bytelock, 2, ck_bytelock_t, ck_bytelock_init(&bytelock_lock),
     ck_bytelock_read_lock(&bytelock_lock, (unsigned)((ck_brlock_reader_t *)own - readers) + 1),
     ck_bytelock_read_unlock(&bytelock_lock, (unsigned)((ck_brlock_reader_t *)own - readers) + 1),
     ck_bytelock_write_lock(&bytelock_lock, 3), ck_bytelock_write_unlock(&bytelock_lock))
LOCK(unslotted, 1, ck_bytelock_t, ck_bytelock_init(&unslotted_lock),
     ck_bytelock_read_lock(&unslotted_lock, CK_BYTELOCK_UNSLOTTED),
     ck_bytelock_read_unlock(&unslotted_lock, CK_BYTELOCK_UNSLOTTED),
     ck_bytelock_write_lock(&unslotted_lock, CK_BYTELOCK_UNSLOTTED),
     ck_bytelock_write_unlock(&unslotted_lock))
LOCK(brlock, 2, ck_brlock_t,
     ck_brlock_init(&brlock_lock); ck_brlock_read_register(&brlock_lock, &readers[0]);
     ck_brlock_read_register(&brlock_lock, &readers[1]), ck_brlock_read_lock(&brlock_lock, own),
     ck_brlock_read_unlock(own), ck_brlock_write_lock(&brlock_lock),
     ck_brlock_write_unlock(&brlock_lock))

/* Wrong: who reads may not write. */
static void misuse(void *argument)
{
	ck_rwlock_read_lock(&rwlock_lock);
	change();
	ck_rwlock_read_unlock(&rwlock_lock);
}

PFS_CHECK_SCENARIO(misused)
{
	ck_rwlock_init(&rwlock_lock);
	pfs_check_thread(misuse, 0);
	pfs_check_thread(read_rwlock, 0);
}
