/*
 * trace.c - takes a trace by libgcc's unwinder.
 */
#define _GNU_SOURCE
#include "trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <unwind.h>

/* glibc's, since 2.32; other C libraries have none. */
extern char __libc_single_threaded __attribute__((weak));

struct unwinding {
	struct pfs_trace *trace;
	uintptr_t from;
	uintptr_t begin, end; /* of this library's code */
};

static bool is_before(const struct unwinding *self, uintptr_t address)
{
	if (self->from != 0)
		return address != self->from;
	return address >= self->begin && address < self->end;
}

static _Unwind_Reason_Code see_frame(struct _Unwind_Context *context, void *argument)
{
	struct unwinding *self = argument;
	struct pfs_trace *trace = self->trace;
	uintptr_t address = _Unwind_GetIP(context);
	if (address == 0)
		return _URC_END_OF_STACK;
	if (trace->depth == 0 && is_before(self, address))
		return _URC_NO_REASON;
	if (trace->depth == PFS_TRACE_FRAMES) {
		trace->is_cut = true;
		return _URC_END_OF_STACK;
	}
	trace->frames[trace->depth++] = address;
	return _URC_NO_REASON;
}

static void ask(struct pfs_trace *trace)
{
	trace->thread_id = (uint32_t)gettid();
	(void)prctl(PR_GET_NAME, trace->thread);
}

/* Others may have been started since. A main thread is named after its program. */
void pfs_trace_name(struct pfs_trace *trace)
{
	if (trace->thread_id != PFS_TRACE_ALONE)
		return;
	ask(trace);
	if (trace->thread_id != (uint32_t)getpid()) {
		trace->thread_id = (uint32_t)getpid();
		strncpy(trace->thread, program_invocation_short_name, sizeof(trace->thread) - 1);
	}
}

void pfs_trace_begin(struct pfs_trace *trace, uintptr_t frame)
{
	trace->thread_id = PFS_TRACE_ALONE;
	trace->thread[0] = '\0';
	if (&__libc_single_threaded == NULL || !__libc_single_threaded)
		ask(trace);
	trace->frames[0] = frame;
	trace->depth = frame != 0;
	trace->is_cut = true;
}

void pfs_trace_take(struct pfs_trace *trace, uintptr_t from)
{
	struct unwinding self = { .trace = trace, .from = from };
	struct dl_find_object own;
	pfs_trace_begin(trace, 0);
	trace->is_cut = false;
	if (_dl_find_object((void *)(uintptr_t)pfs_trace_take, &own) == 0) {
		self.begin = (uintptr_t)own.dlfo_map_start;
		self.end = (uintptr_t)own.dlfo_map_end;
	}
	(void)_Unwind_Backtrace(see_frame, &self);
	if (trace->depth == 0) { /* the library is part of the program, or the search failed */
		self = (struct unwinding){ .trace = trace };
		(void)_Unwind_Backtrace(see_frame, &self);
	}
}
