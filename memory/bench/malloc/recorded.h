/*
 * recorded.h - a recorded trace with its sizes, in memory that bypasses the allocator.
 */
#ifndef PFS_BENCH_RECORDED_H
#define PFS_BENCH_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#define RECORDED_NONE UINT32_MAX

/* Each object has a number that is never reused. */
struct recorded_event {
	uint32_t object;
	uint32_t thread;
	bool frees;
};

struct recorded_object {
	uint32_t size;   /* bytes, at least 8: the first word is written */
	uint32_t born;   /* position of its allocation */
	uint32_t dies;   /* position of its free; RECORDED_NONE: it outlives the trace */
	uint32_t thread; /* the thread that allocates it */
};

struct recorded {
	struct recorded_event *events;
	struct recorded_object *objects;
	uint32_t event_count, object_count, thread_count;
	uint32_t room; /* the capacity of both arrays */
};

/* Ends the process with a line if the file cannot be used. */
void recorded_read(struct recorded *self, const char *path);

/* Return its memory to the system. */
void recorded_drop(struct recorded *self);

#endif
