/*
 * urcu_wfcqueue.c - liburcu's queue, where enqueueing is wait-free.
 *
 * PACKAGE liburcu-dev 0.13.2, /usr/include/x86_64-linux-gnu/urcu/wfcqueue.h
 * BUILD -include urcu_c11.h
 * RUN two_consumers: complete
 * RUN splice: complete
 * RUN one_consumer: found (wfcqueue.h:91); thread 2 reads (atomic)
 * RUN walk: found thread 1 reads at walk
 * RUN misused: found (wfcqueue.h:453); thread 1 reads (atomic)
 * BUILD -DPORT_DEPENDENCIES -include urcu_c11.h
 * RUN one_consumer: complete
 * RUN walk: complete
 *
 * one_consumer, walk: a node that was found by a load is read behind it, by its address; and the
 * head's link is written plainly (line 453) over one that was loaded. Machines keep both.
 */
#include <urcu/wfcqueue.h>

#include <pfslab/check.h>

struct item {
	struct cds_wfcq_node link; /* first */
	int value;
};
static struct cds_wfcq_head head;
static struct cds_wfcq_tail tail;
static struct cds_wfcq_head other_head;
static struct cds_wfcq_tail other_tail;
static struct item items[3];
static int sums[2];

static void enqueue(void *own)
{
	struct item *item = own;
	item->value = (int)(item - items) + 1;
	cds_wfcq_node_init(&item->link);
	cds_wfcq_enqueue(&head, &tail, &item->link);
}

static void add(void *sum, struct cds_wfcq_node *link)
{
	if (link != NULL)
		*(int *)sum += ((struct item *)link)->value;
}

static void dequeue(void *sum)
{
	add(sum, cds_wfcq_dequeue_blocking(&head, &tail));
}

static void dequeue_twice(void *sum)
{
	add(sum, __cds_wfcq_dequeue_blocking(&head, &tail));
	add(sum, __cds_wfcq_dequeue_blocking(&head, &tail));
}

static void dequeue_unlocked(void *sum)
{
	add(sum, __cds_wfcq_dequeue_blocking(&head, &tail));
}

static void splice(void *sum)
{
	struct cds_wfcq_node *link;
	cds_wfcq_splice_blocking(&other_head, &other_tail, &head, &tail);
	__cds_wfcq_for_each_blocking(&other_head, &other_tail, link)
		add(sum, link);
}

static void walk(void *sum)
{
	struct cds_wfcq_node *link;
	int seen = 0;
	__cds_wfcq_for_each_blocking(&head, &tail, link)
		seen += ((struct item *)link)->value;
	pfs_check_assert(seen <= 1 + 2 + 3);
}

static void check(void *argument)
{
	int sum = sums[0] + sums[1];
	struct cds_wfcq_node *link;
	while ((link = __cds_wfcq_dequeue_nonblocking(&head, &tail)) != NULL)
		add(&sum, link);
	pfs_check_assert(sum == 1 + 2 + 3);
}

static void begin(int count)
{
	cds_wfcq_init(&head, &tail);
	cds_wfcq_init(&other_head, &other_tail);
	for (int i = 0; i < count; i++)
		enqueue(&items[i]);
	pfs_check_at_rest(check, 0);
}

PFS_CHECK_SCENARIO(one_consumer)
{
	begin(1);
	pfs_check_thread(enqueue, &items[1]);
	pfs_check_thread(enqueue, &items[2]);
	pfs_check_thread(dequeue_twice, &sums[0]);
}

PFS_CHECK_SCENARIO(two_consumers)
{
	begin(2);
	pfs_check_thread(enqueue, &items[2]);
	pfs_check_thread(dequeue, &sums[0]);
	pfs_check_thread(dequeue, &sums[1]);
}

PFS_CHECK_SCENARIO(splice)
{
	begin(2);
	pfs_check_thread(enqueue, &items[2]);
	pfs_check_thread(splice, &sums[0]);
}

PFS_CHECK_SCENARIO(walk)
{
	begin(2);
	pfs_check_thread(enqueue, &items[2]);
	pfs_check_thread(walk, 0);
}

/* Wrong: two that dequeue, without the lock. */
PFS_CHECK_SCENARIO(misused)
{
	begin(3);
	pfs_check_thread(dequeue_unlocked, &sums[0]);
	pfs_check_thread(dequeue_unlocked, &sums[1]);
}
