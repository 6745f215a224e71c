/*
 * reader_profile.h - the profile of a box as whoever asks sees it: private memory, all references
 * checked. As in reader.h nothing in a box is trusted, and one thread at a time may call.
 */
#ifndef PFS_BOX_READER_PROFILE_H
#define PFS_BOX_READER_PROFILE_H

#include "memory/box/profile.h"
#include "memory/box/reader.h"

struct pfs_seen_stack {
	uint32_t depth;
	bool is_cut;
	uint64_t made_realtime_ns; /* the files are those that were there then */
	uint64_t *frames;          /* leaf first: return addresses */
};

struct pfs_seen_context {
	uint32_t stack;      /* index; PFS_NONE */
	uint32_t instrument; /* index of snapshot->instruments; PFS_NONE */
	uint64_t thread_id;  /* 0: of threads that found no room */
	uint32_t os_tid;
	uint64_t samples;      /* since the beginning */
	double objects, bytes; /* they stand for; since the beginning */
	char thread_name[16];
	char user_name[32];
	char host_name[32];
};

/* A sampled block in use. */
struct pfs_seen_sample {
	uint32_t context; /* index; PFS_NONE */
	uint64_t bytes, interval, taken_realtime_ns, address;
	double objects; /* that it stands for; bytes: that times bytes */
};

struct pfs_seen_profile {
	bool is_there; /* the program was started with it */
	bool is_active;
	uint64_t interval;             /* now */
	struct pfs_snapshot *snapshot; /* of the same moment: instruments, threads, modules, info */
	struct pfs_seen_stack *stacks;
	struct pfs_seen_context *contexts;
	struct pfs_seen_sample *samples;
	uint32_t stack_count, context_count, sample_count;
	uint64_t missed; /* records that changed each time they were read */
};

/*
 * pfs_profile_take - the profile now. A box without one has none of all, which is fine.
 *
 * Returns   the profile, to be freed; NULL: as message says.
 */
struct pfs_seen_profile *pfs_profile_take(struct pfs_reader *self, struct pfs_message *message);
void pfs_profile_free(struct pfs_seen_profile *profile);

/* pfs_profile_switch - are samples taken, from now on, and at which mean of 2^lg bytes (0: as the
 * program was started)? False: nothing was changed, as message says. */
bool pfs_profile_switch(struct pfs_reader *self, bool active, unsigned lg,
			struct pfs_message *message);

#endif
