/*
 * ck_sequence.c - Concurrency Kit's sequence lock, and its lists that one writes and others read.
 *
 * PACKAGE libck-dev 0.7.1, /usr/include/ck_sequence.h
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -include ck_pr_c11.h
 * RUN sequence: complete
 * RUN misused: found assertion seen_a == seen_b
 * RUN list: found thread 1 reads at walk
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -DPORT_DEPENDENCIES -include ck_pr_c11.h
 * RUN list: complete
 *
 * list: a reader reads an item behind the load that found it. Machines keep that order; C11 does
 * not.
 */
#include <stddef.h>

#include <ck_queue.h>
#include <ck_sequence.h>
#include <pfslab/check.h>

static ck_sequence_t lock;
static int a, b;

static void write_twice(void *argument)
{
	for (int i = 1; i <= 2; i++) {
		ck_sequence_write_begin(&lock);
		ck_pr_store_int(&a, i);
		ck_pr_store_int(&b, i);
		ck_sequence_write_end(&lock);
	}
}

static void read_both(void *argument)
{
	unsigned int version;
	int seen_a = 0, seen_b = 0;
	do {
		version = ck_sequence_read_begin(&lock);
		seen_a = ck_pr_load_int(&a);
		seen_b = ck_pr_load_int(&b);
	} while (ck_sequence_read_retry(&lock, version));
	pfs_check_assert(seen_a == seen_b);
}

/* Wrong: it does not ask whether it has to do it again. */
static void read_once(void *argument)
{
	(void)ck_sequence_read_begin(&lock);
	int seen_a = ck_pr_load_int(&a), seen_b = ck_pr_load_int(&b);
	pfs_check_assert(seen_a == seen_b);
}

PFS_CHECK_SCENARIO(sequence)
{
	pfs_check_thread(write_twice, 0);
	pfs_check_thread(read_both, 0);
}

PFS_CHECK_SCENARIO(misused)
{
	pfs_check_thread(write_twice, 0);
	pfs_check_thread(read_once, 0);
}

struct item {
	CK_STAILQ_ENTRY(item) link;
	int value;
};
static CK_STAILQ_HEAD(list, item) list;
static struct item items[3];

static void insert(void *argument)
{
	items[1].value = 1;
	CK_STAILQ_INSERT_TAIL(&list, &items[1], link);
	items[2].value = 1;
	CK_STAILQ_INSERT_AFTER(&list, &items[0], &items[2], link);
}

static void walk(void *argument)
{
	struct item *item;
	int count = 0;
	CK_STAILQ_FOREACH(item, &list, link)
		count += item->value;
	pfs_check_assert(count >= 1 && count <= 3);
}

PFS_CHECK_SCENARIO(list)
{
	CK_STAILQ_INIT(&list);
	items[0].value = 1;
	CK_STAILQ_INSERT_HEAD(&list, &items[0], link);
	pfs_check_thread(insert, 0);
	pfs_check_thread(walk, 0);
}
