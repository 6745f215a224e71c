/*
 * dropped.c - races by accesses that compilers drop, or do not report: found only where they are
 * kept.
 */
#include <string.h>

#include <pfslab/check.h>

extern struct pair {
	int first, second;
} pair;
extern int shared, sink;
struct pair pair; /* seen by others, so that none of it is known to be unused */
int shared, sink;

static void clear(void *argument)
{
	memset(&pair, 0, sizeof(pair));
}

static void look(void *argument)
{
	sink = pair.first;
}

PFS_CHECK_SCENARIO(small_memset)
{
	pfs_check_thread(clear, NULL);
	pfs_check_thread(look, NULL);
}

static void read_for_nothing(void *argument)
{
	int unused = shared;
}

static void change(void *argument)
{
	shared = 1;
}

PFS_CHECK_SCENARIO(unused_read)
{
	pfs_check_thread(read_for_nothing, NULL);
	pfs_check_thread(change, NULL);
}

/* Nothing reads what it writes; with that, the read goes, too. */
static int unread;

static void copy(void *argument)
{
	unread = shared;
}

PFS_CHECK_SCENARIO(unread_static)
{
	pfs_check_thread(copy, NULL);
	pfs_check_thread(change, NULL);
}
