/*
 * queue.h - the specification of a queue of up to ROOM numbers, one call after the other.
 */
#include <stdint.h>

#include <pfslab/check.h>

enum { ADD, TAKE };
#define NONE (-1)

struct queue {
	int32_t count, values[ROOM];
};

static int64_t step(void *state, int operation, int64_t argument, int64_t result)
{
	struct queue *queue = state;
	(void)result;
	if (operation == ADD) {
		if (queue->count == (int32_t)ROOM)
			return 0;
		queue->values[queue->count++] = (int32_t)argument;
		return 1;
	}
	if (queue->count == 0)
		return NONE;
	int32_t value = queue->values[0];
	for (int at = 1; at < queue->count; at++)
		queue->values[at - 1] = queue->values[at];
	queue->values[--queue->count] = 0; /* states are compared byte by byte */
	return value;
}

static void begin_queue(void)
{
	const struct queue empty = { 0, { 0 } };
	pfs_check_specification(&empty, sizeof(empty), step);
}
