/*
 * urcu_stacks.c - liburcu's stacks: lock-free, and with a wait-free push.
 *
 * PACKAGE liburcu-dev 0.13.2, /usr/include/x86_64-linux-gnu/urcu/lfstack.h
 * BUILD -include urcu_c11.h
 * RUN lfs: found (lfstack.h:165); thread 1 reads (atomic)
 * RUN wfs: found (wfstack.h:76); thread 1 reads (atomic)
 * RUN wfs_all: complete
 * BUILD -DPORT_DEPENDENCIES -include urcu_c11.h
 * RUN lfs: complete
 * RUN lfs_locked: complete
 * RUN wfs: complete
 * RUN wfs_locked: complete
 * RUN misused: found (lfstack.h:165); thread 1 reads (atomic)
 *
 * lfs, wfs: who pops reads the link of a node that it found by a load, by its address. Machines
 * keep that order; C11 does not.
 */
#include <urcu/lfstack.h>
#include <urcu/wfstack.h>

#include <pfslab/check.h>

struct item {
	union {
		struct cds_lfs_node lfs; /* first */
		struct cds_wfs_node wfs;
	};
	int value;
};
static struct cds_lfs_stack lfs;
static struct cds_wfs_stack wfs;
static struct item items[3];
static int sums[2];

static void add(void *sum, void *link)
{
	if (link != NULL)
		*(int *)sum += ((struct item *)link)->value;
}

#define STACK(name)                                                                        \
	static void push_##name(void *own)                                                 \
	{                                                                                  \
		struct item *item = own;                                                   \
		item->value = (int)(item - items) + 1;                                     \
		cds_##name##_node_init(&item->name);                                       \
		cds_##name##_push(&name, &item->name);                                     \
	}                                                                                  \
	static void pop_##name(void *sum)                                                  \
	{                                                                                  \
		add(sum, cds_##name##_pop_blocking(&name));                                \
	}                                                                                  \
	static void pop_unlocked_##name(void *sum)                                         \
	{                                                                                  \
		add(sum, POP_##name(&name));                                               \
	}                                                                                  \
	static void check_##name(void *argument)                                           \
	{                                                                                  \
		int sum = sums[0] + sums[1];                                               \
		void *link;                                                                \
		while ((link = cds_##name##_pop_blocking(&name)) != NULL)                  \
			add(&sum, link);                                                   \
		pfs_check_assert(sum == 1 + 2 + 3);                                        \
	}                                                                                  \
	static void begin_##name(int count)                                                \
	{                                                                                  \
		cds_##name##_init(&name);                                                  \
		for (int i = 0; i < count; i++)                                            \
			push_##name(&items[i]);                                            \
		pfs_check_at_rest(check_##name, 0);                                        \
	}                                                                                  \
	static void push_two_##name(void *first)                                           \
	{                                                                                  \
		push_##name(first);                                                        \
		push_##name((struct item *)first + 1);                                     \
	}                                                                                  \
	PFS_CHECK_SCENARIO(name)                                                           \
	{                                                                                  \
		begin_##name(1);                                                           \
		pfs_check_thread(push_two_##name, &items[1]);                              \
		pfs_check_thread(pop_unlocked_##name, &sums[0]);                           \
	}                                                                                  \
	PFS_CHECK_SCENARIO(name##_locked)                                                  \
	{                                                                                  \
		begin_##name(2);                                                           \
		pfs_check_thread(push_##name, &items[2]);                                  \
		pfs_check_thread(pop_##name, &sums[0]);                                    \
		pfs_check_thread(pop_##name, &sums[1]);                                    \
	}
#define POP_lfs __cds_lfs_pop
#define POP_wfs __cds_wfs_pop_blocking
STACK(lfs)
STACK(wfs)

/* Reads all that it took at once. */
static void take_all(void *sum)
{
	struct cds_wfs_head *head = __cds_wfs_pop_all(&wfs);
	struct cds_wfs_node *link;
	cds_wfs_for_each_blocking(head, link)
		add(sum, link);
}

PFS_CHECK_SCENARIO(wfs_all)
{
	begin_wfs(1);
	pfs_check_thread(push_wfs, &items[1]);
	pfs_check_thread(push_wfs, &items[2]);
	pfs_check_thread(take_all, &sums[0]);
}

/* Wrong: two pop without a lock, and one pushes again what it popped. */
static void pop_two_push_first(void *sum)
{
	struct cds_lfs_node *first = __cds_lfs_pop(&lfs), *second = __cds_lfs_pop(&lfs);
	add(sum, second);
	cds_lfs_push(&lfs, first);
}

PFS_CHECK_SCENARIO(misused)
{
	begin_lfs(3);
	pfs_check_thread(pop_two_push_first, &sums[0]);
	pfs_check_thread(pop_unlocked_lfs, &sums[1]);
}
