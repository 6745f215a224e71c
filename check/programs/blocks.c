/*
 * blocks.c - what programs do wrong with malloc and free.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <pfslab/check.h>

struct message {
	long words[2];
};
static _Atomic(struct message *) box;
static atomic_int done;

static void put(void *argument)
{
	struct message *message = malloc(sizeof(*message));
	memset(message, 0, sizeof(*message));
	message->words[1] = 42;
	atomic_store_explicit(&box, message, memory_order_release);
}

static void take(void *argument)
{
	struct message *message = atomic_exchange_explicit(&box, NULL, memory_order_acquire);
	if (message == NULL)
		return;
	pfs_check_assert(message->words[1] == 42);
	free(message);
}

static void empty(void *argument)
{
	free(atomic_load(&box));
}

PFS_CHECK_SCENARIO(handed_over)
{
	pfs_check_thread(put, NULL);
	pfs_check_thread(take, NULL);
	pfs_check_at_rest(empty, NULL);
}

static void look(void *argument)
{
	struct message *message = atomic_load_explicit(&box, memory_order_acquire);
	if (message != NULL)
		pfs_check_assert(message->words[1] == 42);
}

PFS_CHECK_SCENARIO(looked_at)
{
	pfs_check_thread(put, NULL);
	pfs_check_thread(take, NULL);
	pfs_check_thread(look, NULL);
	pfs_check_at_rest(empty, NULL);
}

/* A compiler drops what it sees to be of no use, and the mistake with it. */
static struct message *volatile kept;

static void use_late(void *argument)
{
	kept = malloc(sizeof(*kept));
	free(kept);
	kept->words[0] = 1;
}

PFS_CHECK_SCENARIO(late)
{
	pfs_check_thread(use_late, NULL);
}

static void free_both(void *argument)
{
	struct message *message = atomic_load(&box);
	free(message);
	free(message);
}

static void prepare_box(void)
{
	atomic_store(&box, malloc(sizeof(struct message)));
}

PFS_CHECK_SCENARIO(twice)
{
	prepare_box();
	pfs_check_thread(free_both, NULL);
}

PFS_CHECK_SCENARIO(lost)
{
	pfs_check_thread(put, NULL);
	pfs_check_thread(put, NULL);
	pfs_check_at_rest(empty, NULL);
}

/* Blocks that are reached by way of many others are no leak. */
static struct message *chain;

static void link_many(void *argument)
{
	for (int i = 0; i < 5000; i++) {
		struct message *message = malloc(sizeof(*message));
		message->words[0] = (long)chain;
		chain = message;
	}
}

PFS_CHECK_SCENARIO(chained)
{
	pfs_check_thread(link_many, NULL);
}

static void overrun(void *argument)
{
	static char *volatile bytes;
	bytes = malloc(3);
	bytes[3] = 0;
	free(bytes);
}

PFS_CHECK_SCENARIO(beyond)
{
	pfs_check_thread(overrun, NULL);
}
