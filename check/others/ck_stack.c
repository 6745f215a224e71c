/*
 * ck_stack.c - Concurrency Kit's stack.
 *
 * PACKAGE libck-dev 0.7.1, /usr/include/ck_stack.h
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -include ck_pr_c11.h
 * RUN push_push_pop: complete
 * RUN pop_pop: complete
 * RUN try_pop: complete
 * RUN batch: complete
 * RUN push_mpnc: complete
 * RUN misused: found (ck_stack.h:311); thread 0 reads
 * RUN aba: found (ck_stack.h:59); thread 1 reads
 * RUN aba --memory sc --no-races: found assertion sum == 1 + 2 + 3
 *
 * aba: what ck_stack_pop_upmc forbids, an entry that comes back, is found as a race, and where
 * races are not looked for as an entry that is popped twice.
 */
#include <ck_stack.h>
#include <pfslab/check.h>

struct item {
	ck_stack_entry_t link; /* first */
	int value;
};
static ck_stack_t stack;
static struct item items[3];
static int sums[2];

static void push(void *own)
{
	struct item *item = own;
	item->value = (int)(item - items) + 1;
	ck_stack_push_upmc(&stack, &item->link);
}

static void push_mpnc(void *own)
{
	struct item *item = own;
	item->value = (int)(item - items) + 1;
	ck_stack_push_mpnc(&stack, &item->link);
}

static void pop(void *sum)
{
	ck_stack_entry_t *link = ck_stack_pop_upmc(&stack);
	if (link != NULL)
		*(int *)sum += ((struct item *)link)->value;
}

static void pop_twice(void *sum)
{
	pop(sum);
	pop(sum);
}

static void try_pop(void *sum)
{
	ck_stack_entry_t *link;
	if (ck_stack_trypop_upmc(&stack, &link))
		*(int *)sum += ((struct item *)link)->value;
}

static void pop_all(void *sum)
{
	for (ck_stack_entry_t *link = ck_stack_batch_pop_upmc(&stack); link != NULL;
	     link = CK_STACK_NEXT(link))
		*(int *)sum += ((struct item *)link)->value;
}

/* Wrong while others push: for one thread alone. */
static void pop_alone(void *sum)
{
	ck_stack_entry_t *link = ck_stack_pop_npsc(&stack);
	if (link != NULL)
		*(int *)sum += ((struct item *)link)->value;
}

/* Wrong: what was popped is pushed again while another one may still look at it (ABA). */
static void pop_two_push_first(void *sum)
{
	ck_stack_entry_t *first = ck_stack_pop_upmc(&stack);
	ck_stack_entry_t *second = ck_stack_pop_upmc(&stack);
	if (second != NULL)
		*(int *)sum += ((struct item *)second)->value;
	if (first != NULL)
		ck_stack_push_upmc(&stack, first);
}

static void check_rest(void *argument)
{
	ck_stack_entry_t *link;
	int sum = sums[0] + sums[1];
	CK_STACK_FOREACH(&stack, link)
		sum += ((struct item *)link)->value;
	pfs_check_assert(sum == 1 + 2 + 3);
}

static void begin(void)
{
	ck_stack_init(&stack);
	push(&items[2]);
	pfs_check_at_rest(check_rest, 0);
}

PFS_CHECK_SCENARIO(push_push_pop)
{
	begin();
	pfs_check_thread(push, &items[0]);
	pfs_check_thread(push, &items[1]);
	pfs_check_thread(pop_twice, &sums[0]);
}

PFS_CHECK_SCENARIO(pop_pop)
{
	begin();
	push(&items[1]);
	pfs_check_thread(push, &items[0]);
	pfs_check_thread(pop, &sums[0]);
	pfs_check_thread(pop, &sums[1]);
}

PFS_CHECK_SCENARIO(try_pop)
{
	begin();
	push(&items[1]);
	pfs_check_thread(push, &items[0]);
	pfs_check_thread(try_pop, &sums[0]);
	pfs_check_thread(try_pop, &sums[1]);
}

PFS_CHECK_SCENARIO(batch)
{
	begin();
	pfs_check_thread(push, &items[0]);
	pfs_check_thread(push, &items[1]);
	pfs_check_thread(pop_all, &sums[0]);
}

PFS_CHECK_SCENARIO(push_mpnc)
{
	begin();
	pfs_check_thread(push_mpnc, &items[0]);
	pfs_check_thread(push_mpnc, &items[1]);
}

PFS_CHECK_SCENARIO(misused)
{
	begin();
	push(&items[1]);
	pfs_check_thread(push, &items[0]);
	pfs_check_thread(pop_alone, &sums[0]);
}

PFS_CHECK_SCENARIO(aba)
{
	begin();
	push(&items[1]);
	push(&items[0]);
	pfs_check_thread(pop_two_push_first, &sums[0]);
	pfs_check_thread(pop, &sums[1]);
}
