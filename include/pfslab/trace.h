/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.h - trace files: which thread allocated and freed each object of a program.
 *
 * docs/reference/trace-format.md describes the bytes. A reader holds the whole file in memory and
 * checks everything that a damaged file could break: the events that it returns are balanced and
 * complete.
 */
#ifndef PFSLAB_TRACE_H
#define PFSLAB_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include <pfslab/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PFS_TRACE_VERSION 1u
#define PFS_TRACE_PROGRAM_MAX 64u
#define PFS_TRACE_PAYLOAD_MAX 16384u /* bytes of events in a chunk */
#define PFS_TRACE_THREADS_MAX 65536u
#define PFS_TRACE_OBJECTS_MAX (UINT32_C(1) << 28) /* alive at a time */

enum pfs_trace_kind { PFS_TRACE_ALLOCATE, PFS_TRACE_FREE };

/* An id names an object from its allocation to its free; ids are used again. */
struct pfs_trace_event {
	uint64_t time;   /* ticks since the recording began; never decreases */
	uint64_t size;   /* requested bytes; 0 in a free */
	uint32_t thread; /* 0 .. threads - 1 */
	uint32_t id;     /* 0 .. objects - 1 */
	enum pfs_trace_kind kind;
};

struct pfs_trace_info {
	char program[PFS_TRACE_PROGRAM_MAX + 1];
	bool finished; /* false: the program was stopped, its last events may be missing */
	uint64_t events;
	uint64_t prelude; /* number of leading events for objects older than the window */
	uint64_t allocations;
	uint64_t frees;
	uint64_t ticks; /* time of the last event */
	uint64_t bytes; /* of the file */
	uint32_t threads;
	uint32_t objects; /* most alive at a time */
	uint32_t chunks;
	uint32_t ns_per_tick;
};

struct pfs_trace_reader;

/*
 * pfs_trace_reader_open - read a file and check its head.
 *
 * Returns   PFS_OK and *reader, or an error with one line in *message.
 * Errors    PFS_BAD_CONFIG (no file, no trace, another version, damaged: the line names the first
 *           bad byte), PFS_NO_MEMORY.
 * Progress  blocking.
 * Order     none: a reader belongs to one thread.
 */
enum pfs_status pfs_trace_reader_open(const char *path, struct pfs_trace_reader **reader,
				      struct pfs_message *message);

/* NULL is allowed. */
void pfs_trace_reader_close(struct pfs_trace_reader *reader);

const struct pfs_trace_info *pfs_trace_reader_info(const struct pfs_trace_reader *reader);

/*
 * pfs_trace_reader_next - the next event.
 *
 * Returns   PFS_OK; PFS_FULL after the last event, if all counts of the head are correct;
 *           PFS_BAD_CONFIG with a line in *message if the file is damaged.
 * Errors    as returned; every further call returns the same.
 * Progress  wait-free.
 * Order     none.
 */
enum pfs_status pfs_trace_reader_next(struct pfs_trace_reader *reader,
				      struct pfs_trace_event *event, struct pfs_message *message);

/*
 * Where a writer's bytes go. Offset 0 is the head, which is written first and again at the end;
 * every other write begins where the last one ended. The first four bytes of a write tell a reader
 * of an unfinished trace that the rest is there, so a sink that may be killed must store them last.
 * write returns false if it cannot store the bytes.
 */
struct pfs_trace_sink {
	bool (*write)(void *context, const uint8_t *bytes, uint32_t size, uint64_t offset);
	void *context;
};

/*
 * struct pfs_trace_writer - writes a trace and allocates no memory, so that a recorder inside
 * malloc can use it. Callers read only failed and info.
 */
struct pfs_trace_writer {
	struct pfs_trace_sink sink;
	int file;                   /* of pfs_trace_writer_open */
	bool failed;                /* something could not be written */
	struct pfs_trace_info info; /* so far; bytes without the buffer's */
	uint32_t live;
	uint32_t used; /* bytes in buffer, with the head of the chunk */
	uint32_t chunk_events;
	struct pfs_trace_event last; /* the next event is encoded relative to it */
	uint8_t buffer[PFS_TRACE_PAYLOAD_MAX + 64];
};

/*
 * pfs_trace_writer_begin - begin a trace; it is unfinished until pfs_trace_writer_finish.
 *
 * Returns   false if the sink failed.
 * Errors    as returned.
 * Progress  as the sink.
 * Order     none: one thread at a time.
 */
bool pfs_trace_writer_begin(struct pfs_trace_writer *self, const struct pfs_trace_sink *sink,
			    const char *program, uint32_t ns_per_tick);

/* Add an event. Ids and threads must be dense, and each object is allocated, then freed. Events of
 * the prelude come first. Progress as the sink. */
void pfs_trace_writer_add(struct pfs_trace_writer *self, const struct pfs_trace_event *event,
			  bool prelude);

/* The size of the file if it were finished now. */
uint64_t pfs_trace_writer_bytes(const struct pfs_trace_writer *self);

/* Write the buffer to the sink, where it can be read however this process ends. */
void pfs_trace_writer_flush(struct pfs_trace_writer *self);

/* Flush, then write the head with all counts; resume can continue the trace. False if anything
 * failed. */
bool pfs_trace_writer_finish(struct pfs_trace_writer *self);

/* After finish: mark the trace as unfinished again. False if the head cannot be written. */
bool pfs_trace_writer_resume(struct pfs_trace_writer *self);

/*
 * pfs_trace_writer_open - begin a file; an existing file is overwritten.
 *
 * Returns   true, or false with the reason in errno.
 * Errors    as returned.
 * Progress  blocking.
 * Order     none: one thread at a time.
 */
bool pfs_trace_writer_open(struct pfs_trace_writer *self, const char *path, const char *program,
			   uint32_t ns_per_tick);

/* After open: finish and close the file. False if anything failed. */
bool pfs_trace_writer_close(struct pfs_trace_writer *self);

#ifdef __cplusplus
}
#endif
#endif
