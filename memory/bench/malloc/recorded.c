/*
 * recorded.c - see recorded.h.
 */
#include "recorded.h"

#include <pfslab/trace.h>

#include "load.h"

static void add(struct recorded *self, uint32_t *alive, const struct pfs_trace_event *event)
{
	uint32_t position = self->event_count++;
	uint32_t object = alive[event->id];

	if (event->kind == PFS_TRACE_ALLOCATE) {
		object = alive[event->id] = self->object_count++;
		self->objects[object] = (struct recorded_object){
			.size = event->size < 8            ? 8
				: event->size > UINT32_MAX ? UINT32_MAX
							   : (uint32_t)event->size,
			.born = position,
			.dies = RECORDED_NONE,
			.thread = event->thread,
		};
	} else {
		self->objects[object].dies = position;
	}
	self->events[position] = (struct recorded_event){
		.object = object,
		.thread = event->thread,
		.frees = event->kind == PFS_TRACE_FREE,
	};
}

void recorded_read(struct recorded *self, const char *path)
{
	struct pfs_message message = { .text = "" };
	struct pfs_trace_reader *reader = NULL;
	struct pfs_trace_event event;
	enum pfs_status status;

	if (path == NULL)
		load_fail("this workload needs --trace=FILE");
	if (pfs_trace_reader_open(path, &reader, &message) != PFS_OK)
		load_fail(message.text);
	const struct pfs_trace_info *info = pfs_trace_reader_info(reader);
	size_t alive_bytes = ((size_t)info->objects + 1) * sizeof(uint32_t);
	uint32_t *alive = load_map(alive_bytes);
	if (info->events >= RECORDED_NONE)
		load_fail("the trace is too long; cut it with pfs-trace");
	*self = (struct recorded){ .thread_count = info->threads,
				   .room = (uint32_t)info->events + 1 };
	self->events = load_map(self->room * sizeof(*self->events));
	self->objects = load_map(self->room * sizeof(*self->objects));
	while ((status = pfs_trace_reader_next(reader, &event, &message)) == PFS_OK)
		add(self, alive, &event);
	if (status != PFS_FULL)
		load_fail(message.text);
	load_unmap(alive, alive_bytes);
	pfs_trace_reader_close(reader);
	if (self->object_count == 0)
		load_fail("nothing is allocated in this trace");
}

void recorded_drop(struct recorded *self)
{
	load_unmap(self->events, self->room * sizeof(*self->events));
	load_unmap(self->objects, self->room * sizeof(*self->objects));
	self->events = NULL;
	self->objects = NULL;
}
