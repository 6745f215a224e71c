/*
 * recording.h - what a machine keeps of a traced execution; trace.h writes and prints it.
 */
#ifndef PFS_SIM_RECORDING_H
#define PFS_SIM_RECORDING_H

#include <stdint.h>

#define PFS_NAME_BYTES 512

/* A call of a thread begins or ends before a step: a row of its own in a trace. */
struct pfs_trace_note {
	uint32_t step;
	uint32_t thread;
	char text[128];
};
#define PFS_TRACE_NOTES_MAX 256u

struct pfs_step;
struct pfs_writer;

struct pfs_recording {
	struct pfs_step *steps;
	char **names;               /* of the address of each step; NULL: none */
	uint32_t room;              /* of both */
	uint32_t named;             /* names that were set, also by earlier executions */
	uint32_t writers_round;     /* resets; a writer of another round does not count */
	struct pfs_writer *writers; /* last step that wrote an address */
	uint32_t mark_count;
	struct pfs_trace_note marks[PFS_TRACE_NOTES_MAX]; /* further ones are dropped */
};

#endif
