/*
 * urcu_rculfqueue.c - liburcu's lock-free queue, by C11's memory_order_consume, and with a callback
 * that retires dummies at the end.
 *
 * PACKAGE liburcu-dev 0.13.2, /usr/include/x86_64-linux-gnu/urcu/rculfqueue.h
 * BUILD -include urcu_c11.h
 * RUN enqueue_dequeue: complete
 * RUN two_dequeue: complete
 * RUN misused: found (rculfqueue.h:199) of a block that was freed at
 */
#include <stdlib.h>

#include <urcu.h>
#include <urcu/rculfqueue.h>

#include <pfslab/check.h>

struct item {
	struct cds_lfq_node_rcu link; /* first */
	int value;
};
static struct cds_lfq_queue_rcu queue;
static struct item items[3];
static int sums[2];

/* No grace period ends before all threads have. */
static struct rcu_head *retired[8];
static void (*callbacks[8])(struct rcu_head *);
static int retired_count;

static void retire(struct rcu_head *head, void (*callback)(struct rcu_head *))
{
	int at = __atomic_fetch_add(&retired_count, 1, __ATOMIC_RELAXED);
	retired[at] = head;
	callbacks[at] = callback;
}

static void free_at_once(struct rcu_head *head, void (*callback)(struct rcu_head *))
{
	callback(head);
}

static void enqueue(void *own)
{
	struct item *item = own;
	item->value = (int)(item - items) + 1;
	cds_lfq_node_init_rcu(&item->link);
	cds_lfq_enqueue_rcu(&queue, &item->link);
}

static void dequeue(void *sum)
{
	struct item *item = (struct item *)cds_lfq_dequeue_rcu(&queue);
	if (item != NULL)
		*(int *)sum += item->value;
}

static void check(void *argument)
{
	struct item *item;
	int sum = sums[0] + sums[1];
	while ((item = (struct item *)cds_lfq_dequeue_rcu(&queue)) != NULL)
		sum += item->value;
	pfs_check_assert(sum == 1 + 2 + 3);
	pfs_check_assert(cds_lfq_destroy_rcu(&queue) == 0);
	for (int i = 0; i < retired_count; i++)
		callbacks[i](retired[i]);
}

PFS_CHECK_SCENARIO(enqueue_dequeue)
{
	cds_lfq_init_rcu(&queue, retire);
	enqueue(&items[0]);
	enqueue(&items[1]);
	pfs_check_thread(enqueue, &items[2]);
	pfs_check_thread(dequeue, &sums[0]);
	pfs_check_at_rest(check, 0);
}

PFS_CHECK_SCENARIO(two_dequeue)
{
	cds_lfq_init_rcu(&queue, retire);
	enqueue(&items[0]);
	enqueue(&items[1]);
	enqueue(&items[2]);
	pfs_check_thread(dequeue, &sums[0]);
	pfs_check_thread(dequeue, &sums[1]);
	pfs_check_at_rest(check, 0);
}

/* Wrong: a dummy is freed while another one may still look at it. */
PFS_CHECK_SCENARIO(misused)
{
	cds_lfq_init_rcu(&queue, free_at_once);
	enqueue(&items[0]);
	pfs_check_thread(dequeue, &sums[0]);
	pfs_check_thread(dequeue, &sums[1]);
}
