/*
 * trace_load.c - see trace_load.h.
 */
#define _DEFAULT_SOURCE 1 /* scandir */
#include "trace_load.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command_line.h"

#define ENDING ".pfstrace"
#define NONE UINT32_MAX

/* What the ids are while a trace is read. */
struct census {
	uint32_t *first; /* [objects]: thread that allocated it in the prelude, or NONE */
	uint32_t *owner; /* [objects]: thread that allocated what is alive now, or NONE */
	uint32_t *turns; /* [objects]: events of the cycle so far */
};

/* The file's name as part of a benchmark's name. */
static void name_of(char *name, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t size = 0;

	base = base != NULL ? base + 1 : path;
	for (; base[size] != '\0' && size < PFS_REPLAY_NAME_MAX; size++) {
		if (strcmp(base + size, ENDING) == 0)
			break;
		unsigned char c = (unsigned char)base[size];
		name[size] = isalnum(c) || c == '-' || c == '.' ? (char)c : '_';
	}
	name[size] = '\0';
}

static void add(struct pfs_replay *self, struct census *census, uint32_t id, uint32_t thread,
		bool frees)
{
	self->events[self->event_count++] = (struct pfs_replay_event){
		.id = id,
		.thread = thread,
		.turn = census->turns[id]++,
		.frees = frees,
	};
	census->owner[id] = frees ? NONE : thread;
}

static enum pfs_status read_events(struct pfs_replay *self, struct census *census,
				   struct pfs_trace_reader *reader, struct pfs_message *message)
{
	struct pfs_trace_event event;
	enum pfs_status status = PFS_OK;

	for (uint64_t i = 0;; i++) {
		status = pfs_trace_reader_next(reader, &event, message);
		if (status != PFS_OK)
			return status == PFS_FULL ? PFS_OK : status;
		if (i >= self->info.prelude) {
			add(self, census, event.id, event.thread, event.kind == PFS_TRACE_FREE);
			continue;
		}
		self->prelude[i] = (struct pfs_replay_event){ .id = event.id,
							      .thread = event.thread };
		census->first[event.id] = census->owner[event.id] = event.thread;
	}
}

static void add_tail(struct pfs_replay *self, struct census *census)
{
	/* frees first: so no more is ever alive than in the trace */
	for (uint32_t id = 0; id < self->info.objects; id++)
		if (census->owner[id] != NONE && census->first[id] == NONE)
			add(self, census, id, census->owner[id], true);
	for (uint32_t id = 0; id < self->info.objects; id++)
		if (census->owner[id] == NONE && census->first[id] != NONE)
			add(self, census, id, census->first[id], false);
	for (uint32_t i = 0; i < self->event_count; i++) {
		struct pfs_replay_event *event = &self->events[i];
		event->next = event->turn + 1 == census->turns[event->id] ? 0 : event->turn + 1;
	}
}

static enum pfs_status load_events(struct pfs_replay *self, struct pfs_trace_reader *reader,
				   struct pfs_message *message)
{
	size_t objects = self->info.objects;
	struct census census = {
		.first = malloc((objects + 1) * sizeof(uint32_t)),
		.owner = malloc((objects + 1) * sizeof(uint32_t)),
		.turns = calloc(objects + 1, sizeof(uint32_t)),
	};
	enum pfs_status status = PFS_NO_MEMORY;

	self->prelude = calloc(self->info.prelude + 1, sizeof(*self->prelude));
	self->events = calloc(self->info.events + objects + 1, sizeof(*self->events));
	if (census.first != NULL && census.owner != NULL && census.turns != NULL &&
	    self->prelude != NULL && self->events != NULL) {
		memset(census.first, 0xFF, (objects + 1) * sizeof(uint32_t));
		memset(census.owner, 0xFF, (objects + 1) * sizeof(uint32_t));
		status = read_events(self, &census, reader, message);
	} else {
		pfs_say_why(message, status, "no memory for trace %.60s", self->name);
	}
	if (status == PFS_OK)
		add_tail(self, &census);
	free(census.first);
	free(census.owner);
	free(census.turns);
	return status;
}

static enum pfs_status load(struct pfs_replay *self, const char *path, struct pfs_message *message)
{
	struct pfs_trace_reader *reader = NULL;
	enum pfs_status status = pfs_trace_reader_open(path, &reader, message);

	if (status != PFS_OK)
		return status;
	name_of(self->name, path);
	self->info = *pfs_trace_reader_info(reader);
	if (self->info.events > UINT32_MAX / 4)
		status = pfs_say_why(message, PFS_BAD_CONFIG,
				     "trace %.120s: too many events (%llu); cut it with pfs-trace",
				     path, (unsigned long long)self->info.events);
	else
		status = load_events(self, reader, message);
	pfs_trace_reader_close(reader);
	if (status == PFS_OK && self->event_count == 0)
		status = pfs_say_why(message, PFS_BAD_CONFIG,
				     "trace %.160s: no events in it; record it "
				     "again",
				     path);
	return status;
}

static int is_trace(const struct dirent *entry)
{
	size_t size = strlen(entry->d_name), ending = strlen(ENDING);

	return size > ending && strcmp(entry->d_name + size - ending, ENDING) == 0;
}

static enum pfs_status add_file(struct pfs_replays *self, const char *path,
				struct pfs_message *message)
{
	struct pfs_replay *larger = realloc(self->list, (self->count + 1) * sizeof(*larger));

	if (larger == NULL)
		return pfs_say_why(message, PFS_NO_MEMORY, "no memory for trace %.120s", path);
	self->list = larger;
	memset(&larger[self->count], 0, sizeof(*larger));
	return load(&larger[self->count++], path, message);
}

/* The traces that are installed with this program, wherever it was installed. */
static const char *find_folder(char *found, size_t found_bytes, const char *otherwise)
{
	char own[2048];
	ssize_t got = readlink("/proc/self/exe", own, sizeof(own) - 1);
	own[got > 0 ? got : 0] = '\0';
	char *slash = strrchr(own, '/');
	if (slash == NULL)
		return otherwise;
	*slash = '\0';
	snprintf(found, found_bytes, "%s/../share/pfslab/traces", own);
	return access(found, R_OK) == 0 ? found : otherwise;
}

static enum pfs_status load_folder(struct pfs_replays *self, const char *folder,
				   struct pfs_message *message)
{
	struct dirent **entries = NULL;
	char path[4096], found[2100];
	enum pfs_status status = PFS_OK;

	folder = find_folder(found, sizeof(found), folder);
	int count = scandir(folder, &entries, is_trace, alphasort);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%.3000s/%s", folder, entries[i]->d_name);
		if (status == PFS_OK)
			status = add_file(self, path, message);
		free(entries[i]);
	}
	free(entries);
	if (count <= 0)
		return pfs_say_why(message, PFS_BAD_CONFIG,
				   "no traces in '%.120s': name one with "
				   "--trace=FILE, or choose other --workloads than replay",
				   folder);
	return status;
}

enum pfs_status pfs_replays_load(struct pfs_replays *self, const char *const *files,
				 uint32_t file_count, const char *folder,
				 struct pfs_message *message)
{
	enum pfs_status status = PFS_OK;

	for (uint32_t i = 0; i < file_count && status == PFS_OK; i++)
		status = add_file(self, files[i], message);
	return file_count != 0 ? status : load_folder(self, folder, message);
}

void pfs_replays_free(struct pfs_replays *self)
{
	for (uint32_t i = 0; i < self->count; i++) {
		free(self->list[i].prelude);
		free(self->list[i].events);
	}
	free(self->list);
	*self = (struct pfs_replays){ .count = 0 };
}

struct load_of {
	uint32_t thread;
	uint32_t events;
};

static int compare_loads(const void *left, const void *right)
{
	const struct load_of *a = left, *b = right;

	if (a->events != b->events)
		return a->events < b->events ? 1 : -1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* track_of[thread], from loads[thread]; sums has room for each track. */
static void deal(struct load_of *loads, uint32_t thread_count, uint32_t *sums, uint32_t track_count,
		 uint32_t *track_of)
{
	qsort(loads, thread_count, sizeof(*loads), compare_loads);
	for (uint32_t i = 0; i < thread_count; i++) {
		uint32_t least = 0;
		for (uint32_t t = 1; t < track_count; t++)
			if (sums[t] < sums[least])
				least = t;
		track_of[loads[i].thread] = least;
		sums[least] += loads[i].events;
	}
}

static bool fill(const struct pfs_replay *replay, struct pfs_track *tracks, uint32_t track_count,
		 const uint32_t *track_of)
{
	for (uint64_t i = 0; i < replay->info.prelude; i++)
		tracks[track_of[replay->prelude[i].thread]].prelude_count++;
	for (uint32_t i = 0; i < replay->event_count; i++)
		tracks[track_of[replay->events[i].thread]].event_count++;
	for (uint32_t t = 0; t < track_count; t++) {
		size_t count = (size_t)tracks[t].prelude_count + tracks[t].event_count;
		tracks[t].events = calloc(count + 1, sizeof(*tracks[t].events));
		if (tracks[t].events == NULL)
			return false;
		tracks[t].prelude_count = 0;
		tracks[t].event_count = 0;
	}
	for (uint64_t i = 0; i < replay->info.prelude; i++) {
		struct pfs_track *track = &tracks[track_of[replay->prelude[i].thread]];
		track->events[track->prelude_count++].id_and_kind = replay->prelude[i].id;
	}
	for (uint32_t i = 0; i < replay->event_count; i++) {
		const struct pfs_replay_event *event = &replay->events[i];
		struct pfs_track *track = &tracks[track_of[event->thread]];
		track->events[track->prelude_count + track->event_count++] =
			(struct pfs_track_event){
				.id_and_kind = event->id | (event->frees ? PFS_TRACK_FREES : 0),
				.turn = event->turn,
				.next = event->next,
				.position = i,
			};
	}
	return true;
}

bool pfs_tracks_deal(const struct pfs_replay *replay, struct pfs_track *tracks,
		     uint32_t track_count)
{
	uint32_t thread_count = replay->info.threads;
	struct load_of *loads = calloc((size_t)thread_count + 1, sizeof(*loads));
	uint32_t *sums = calloc((size_t)track_count + 1, sizeof(*sums));
	uint32_t *track_of = calloc((size_t)thread_count + 1, sizeof(*track_of));
	bool done = false;

	memset(tracks, 0, track_count * sizeof(*tracks));
	if (loads != NULL && sums != NULL && track_of != NULL) {
		for (uint32_t i = 0; i < thread_count; i++)
			loads[i].thread = i;
		for (uint32_t i = 0; i < replay->event_count; i++)
			loads[replay->events[i].thread].events++;
		deal(loads, thread_count, sums, track_count, track_of);
		done = fill(replay, tracks, track_count, track_of);
	}
	free(loads);
	free(sums);
	free(track_of);
	return done;
}
