/*
 * trace_load.h - recorded traces as the workload replay needs them: in memory, and closed to a
 * cycle.
 *
 * At its end a trace has other objects alive than at its beginning. To be played repeatedly it
 * gets a tail: each object that was not alive at the beginning is freed, and each that was is
 * allocated again, both by the thread that had allocated it.
 */
#ifndef PFS_BENCH_TRACE_LOAD_H
#define PFS_BENCH_TRACE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include <pfslab/trace.h>

#define PFS_REPLAY_NAME_MAX 40

/*
 * An event of the cycle. The events of one id follow each other in its turns: turn 0, 1, 2 ... of
 * the cycle; next is the following turn, 0 after the last one.
 */
struct pfs_replay_event {
	uint32_t id;
	uint32_t thread;
	uint32_t turn;
	uint32_t next;
	bool frees;
};

struct pfs_replay {
	char name[PFS_REPLAY_NAME_MAX + 1]; /* of the file, without folder and ending */
	struct pfs_trace_info info;
	struct pfs_replay_event *prelude; /* [info.prelude], allocations only */
	struct pfs_replay_event *events;  /* [event_count], tail included */
	uint32_t event_count;
};

struct pfs_replays {
	struct pfs_replay *list;
	uint32_t count;
};

/*
 * Load these files; with file_count 0 all *.pfstrace of the folder. PFS_BAD_CONFIG or PFS_NO_MEMORY
 * with a line in *message; call pfs_replays_free in either case.
 */
enum pfs_status pfs_replays_load(struct pfs_replays *self, const char *const *files,
				 uint32_t file_count, const char *folder,
				 struct pfs_message *message);
void pfs_replays_free(struct pfs_replays *self);

/* One worker's part of a cycle, in the order of the trace. */
struct pfs_track_event {
	uint32_t id_and_kind; /* the id, with PFS_TRACK_FREES if it is a free */
	uint32_t turn;
	uint32_t next;
	uint32_t position; /* in the whole cycle */
};
#define PFS_TRACK_FREES (UINT32_C(1) << 31)

struct pfs_track {
	struct pfs_track_event *events; /* the prelude's, then the cycle's */
	uint32_t prelude_count;
	uint32_t event_count; /* of the cycle */
};

/*
 * Distribute the trace's threads over the workers: the busiest first, each to the worker that has
 * least to do. False without memory. Free each track's events, whatever was returned.
 */
bool pfs_tracks_deal(const struct pfs_replay *replay, struct pfs_track *tracks,
		     uint32_t track_count);

#endif
