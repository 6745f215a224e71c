/*
 * reader_profile.h - a reader's copy of a box's profile, in private memory, with all references
 * checked. As in reader.h, nothing in a box is trusted, and one thread at a time may call.
 */
#ifndef PFS_BOX_READER_PROFILE_H
#define PFS_BOX_READER_PROFILE_H

#include "memory/box/profile.h"
#include "memory/box/reader.h"

struct pfs_seen_stack {
	uint32_t depth;
	bool is_cut;
	uint64_t made_realtime_ns; /* the addresses refer to the files mapped at that time */
	uint64_t *frames;          /* leaf first: return addresses */
};

struct pfs_seen_context {
	uint32_t stack;      /* index; PFS_NONE */
	uint32_t instrument; /* index of snapshot->instruments; PFS_NONE */
	uint64_t thread_id;  /* 0: threads without a record */
	uint32_t os_tid;
	uint64_t samples;                /* since the start */
	uint64_t unwound;                /* of these: their stacks were unwound, and not walked */
	double objects, bytes;           /* that the samples stand for; since the start */
	double used_objects, used_bytes; /* of those in use */
	double peak_objects, peak_bytes; /* of those in use at the peak */
	char thread_name[16];
	char user_name[32];
	char host_name[32];
};

/* A sampled block in use. */
struct pfs_seen_sample {
	uint32_t context; /* index; PFS_NONE */
	uint64_t bytes, interval, taken_realtime_ns, address;
	double objects; /* that it stands for; times bytes: the bytes that it stands for */
};

/* What a stack held at a moment of the history. */
struct pfs_seen_held {
	uint32_t stack; /* index */
	uint32_t blocks;
	uint64_t bytes;
};

struct pfs_seen_moment {
	uint64_t number, realtime_ns;
	uint64_t no_stack_bytes, others_bytes; /* as in struct pfs_box_moment */
	uint64_t others_most;                  /* a stack that is not here held at most so much */
	uint32_t others;
	uint32_t count;
	struct pfs_seen_held *stacks;
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
	uint64_t peak_realtime_ns; /* when the samples in use stood for the most bytes; 0: never */
	double peak_bytes;         /* that they stood for */
	bool peak_is_now;
	struct pfs_seen_moment *moments; /* whole ones, the oldest first */
	uint32_t moment_count;
	uint64_t missed; /* records that changed each time they were read */
};

/* Was the program started with a profile? */
bool pfs_profile_is_there(const struct pfs_reader *self);

/*
 * pfs_profile_take - copy the profile. A box without a profile gives an empty one.
 *
 * Returns   the profile, which the caller frees; NULL: failed, see message.
 */
struct pfs_seen_profile *pfs_profile_take(struct pfs_reader *self, struct pfs_message *message);
void pfs_profile_free(struct pfs_seen_profile *profile);

/* pfs_profile_switch - switch sampling on or off, and set its mean interval to 2^lg bytes (lg 0: as
 * the program was started). False: nothing changed, see message. */
bool pfs_profile_switch(struct pfs_reader *self, bool active, unsigned lg,
			struct pfs_message *message);

#endif
