/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace.h - files that hold the life of a program's objects: who allocated what, who freed it.
 *
 * docs/reference/trace-format.md describes the bytes. A reader has the whole file in memory and
 * checks everything that a damaged file could break: what it hands out is balanced and complete.
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
#define PFS_TRACE_OBJECTS_MAX (UINT32_C(1) << 28) /* alive at once */

enum pfs_trace_kind { PFS_TRACE_ALLOCATE, PFS_TRACE_FREE };

/* An object is known by its id from its allocation to its free; ids are used again. */
struct pfs_trace_event {
	uint64_t time;   /* ticks since the recording began; never falls */
	uint64_t size;   /* bytes that were asked for; 0 in a free */
	uint32_t thread; /* 0 .. threads - 1 */
	uint32_t id;     /* 0 .. objects - 1 */
	enum pfs_trace_kind kind;
};

struct pfs_trace_info {
	char program[PFS_TRACE_PROGRAM_MAX + 1];
	bool finished; /* else the program was stopped: its last events may be missing */
	uint64_t events;
	uint64_t prelude; /* the first so many events: objects older than the window */
	uint64_t allocations;
	uint64_t frees;
	uint64_t ticks; /* time of the last event */
	uint64_t bytes; /* of the file */
	uint32_t threads;
	uint32_t objects; /* most alive at once */
	uint32_t chunks;
	uint32_t ns_per_tick;
};

struct pfs_trace_reader;

/*
 * pfs_trace_reader_open - take in a file and check its head.
 *
 * Returns   PFS_OK and *reader, or why not, with one line in *message.
 * Errors    PFS_BAD_CONFIG (no file, no trace, another version, damaged: the line names the
 *           first bad byte), PFS_NO_MEMORY.
 * Progress  blocking.
 * Order     none: a reader belongs to one thread.
 */
enum pfs_status pfs_trace_reader_open(const char *path, struct pfs_trace_reader **reader,
				      struct pfs_message *message);

/* NULL is fine. */
void pfs_trace_reader_close(struct pfs_trace_reader *reader);

const struct pfs_trace_info *pfs_trace_reader_info(const struct pfs_trace_reader *reader);

/*
 * pfs_trace_reader_next - the next event.
 *
 * Returns   PFS_OK; PFS_FULL behind the last event, when all counts of the head are found
 *           true; PFS_BAD_CONFIG with a line in *message when the file is damaged.
 * Errors    as returned; the same again at each further call.
 * Progress  wait-free.
 * Order     none.
 */
enum pfs_status pfs_trace_reader_next(struct pfs_trace_reader *reader,
				      struct pfs_trace_event *event, struct pfs_message *message);

/*
 * Where a writer's bytes go. Offset 0 is the head, which comes first and once more at the end;
 * else each begins where the last one ended. A reader of an unfinished trace takes the first
 * four bytes of each for the sign that the rest is there, so a sink that may be killed puts
 * them last. False if the bytes cannot be put there.
 */
struct pfs_trace_sink {
	bool (*write)(void *context, const uint8_t *bytes, uint32_t size, uint64_t offset);
	void *context;
};

/*
 * struct pfs_trace_writer - writes a file, without memory of its own: a recorder inside
 * malloc uses it. Its owner looks at failed and info only.
 */
struct pfs_trace_writer {
	struct pfs_trace_sink sink;
	int file;                   /* of pfs_trace_writer_open */
	bool failed;                /* something could not be written */
	struct pfs_trace_info info; /* so far; bytes without what is buffered */
	uint32_t live;
	uint32_t used; /* bytes in buffer, the head of the chunk among them */
	uint32_t chunk_events;
	struct pfs_trace_event last; /* what the next event is written relative to */
	uint8_t buffer[PFS_TRACE_PAYLOAD_MAX + 64];
};

/*
 * pfs_trace_writer_begin - begin a trace; until finish it says unfinished.
 *
 * Returns   false if the sink failed.
 * Errors    as returned.
 * Progress  as the sink.
 * Order     none: one thread at a time.
 */
bool pfs_trace_writer_begin(struct pfs_trace_writer *self, const struct pfs_trace_sink *sink,
			    const char *program, uint32_t ns_per_tick);

/* The caller sees to it that ids and threads are dense and the life of an object is
 * allocate, then free. Events of prelude come first. */
void pfs_trace_writer_add(struct pfs_trace_writer *self, const struct pfs_trace_event *event,
			  bool prelude);

/* How long the file would be if it were finished now. */
uint64_t pfs_trace_writer_bytes(const struct pfs_trace_writer *self);

/* Put what is buffered into the sink: it can be read from there, however this process ends. */
void pfs_trace_writer_flush(struct pfs_trace_writer *self);

/* Flush, then the head with all counts; it may go on by resume. False if anything failed. */
bool pfs_trace_writer_finish(struct pfs_trace_writer *self);

/* After finish: the trace is unfinished again. False if the head cannot be written. */
bool pfs_trace_writer_resume(struct pfs_trace_writer *self);

/*
 * pfs_trace_writer_open - begin a file; what was in it is lost.
 *
 * Returns   true, or false with the reason in errno.
 * Errors    as returned.
 * Progress  blocking.
 * Order     none: one thread at a time.
 */
bool pfs_trace_writer_open(struct pfs_trace_writer *self, const char *path, const char *program,
			   uint32_t ns_per_tick);

/* After open: finish, and close the file. False if anything failed. */
bool pfs_trace_writer_close(struct pfs_trace_writer *self);

#ifdef __cplusplus
}
#endif
#endif
