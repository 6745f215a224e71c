/*
 * reader_inside.h - internal declarations, shared by the reader's files.
 *
 * Ordering:  [RB1] counters of what is there: loads, seq  <->  [RB2] truncates: fetch-add, seq
 *            carries: a TRUNCATE's bases before its epoch
 * The program stores its counters of this kind (page_count, ticks, moves) with release.
 */
#ifndef PFS_READER_INSIDE_H
#define PFS_READER_INSIDE_H

#include "containers/pfs_lock.h"
#include "memory/box/cut.h"
#include "memory/box/reader.h"

#define PFS_KINDS PFS_BOX_KINDS
#define PFS_BOX_BYTES_MAX (UINT64_C(8) << 30)

struct pfs_reader {
	struct pfs_box_info info;
	int file;   /* of a living box; -1 */
	char *base; /* its mapping, read-only; of a dead one: a copy */
	uint64_t bytes;
	bool is_copy;
	struct pfs_cut cut;                        /* of a living box */
	struct pfs_box_region regions[PFS_KINDS];  /* checked; kind 0: there is none */
	_Atomic(uint32_t) *page_counts[PFS_KINDS]; /* in base */
	struct pfs_box_rooms rooms;
};

/* A private copy of an entry needs no atomic load. */
#define PFS_PLAIN(type, word) (*(const type *)(const void *)&(word))

void *pfs_big_malloc(uint64_t bytes); /* release by free */

/* A living box whose file was truncated since it was mapped reads as zeroes: what was read is to be
 * dropped. False: as message says. */
bool pfs_reader_is_whole(struct pfs_reader *self, struct pfs_message *message);

/* ---- files ---- */

/* Opens the box in a file, like pfs_reader_open. */
struct pfs_reader *pfs_reader_open_file(const char *path, struct pfs_message *message);
/* Reads only a box's information; false: the file is not a box. */
bool pfs_box_info_read(const char *path, struct pfs_box_info *info, struct pfs_message *message);

/* Opens a file of this user that may be a box; nothing but a regular file is opened. -1: failed,
 * see message. */
int pfs_box_file_open(const char *path, int flags, struct pfs_message *message);

/* Is it another user's, whom root must not trust to leave its length as it is? */
bool pfs_box_file_is_foreign(int file);
/* Is its program about to write its head? */
bool pfs_box_file_is_unready(const char *path);
/* <pid>-<start>.box, or with more text before .box; not the lock files next to them. */
bool pfs_box_is_name(const char *name);
/* Does a program have it mapped? The mapping holds the file's lock. */
bool pfs_box_file_is_live(int file);
/* Reads and checks the head: the magic, the version, and the limits on what it says. */
bool pfs_box_head_read(int file, const char *path, struct pfs_box_head *head,
		       struct pfs_message *message);
void pfs_box_info_of(const struct pfs_box_head *head, const char *path, bool is_live,
		     struct pfs_box_info *info);
/* Locks against other tools; exclusive creates the lock file. -1: no file, or no lock. */
int pfs_tools_lock(const struct pfs_reader *self, bool exclusive, struct pfs_message *message);
void pfs_tools_unlock(int lock);

/* Checks that a head's regions fit the file, do not overlap, and have this build's record sizes. */
bool pfs_box_regions_check(const struct pfs_box_head *head, const char *path,
			   struct pfs_reader *self, struct pfs_message *message);

/* ---- records ---- */

/* The number of records for which a region has memory now. */
uint64_t pfs_reader_records(const struct pfs_reader *self, enum pfs_box_kind kind);

struct pfs_record_place {
	const struct pfs_lock *lock;
	char *bytes;
};
struct pfs_record_place pfs_reader_place(const struct pfs_reader *self, enum pfs_box_kind kind,
					 uint64_t number);

/* Copies a record consistently, of one life; *word is its lock word. False: it is not in use, or it
 * changed during every attempt (*missed). */
bool pfs_reader_copy(const struct pfs_reader *self, enum pfs_box_kind kind, uint64_t number,
		     void *to, uint32_t *word, bool *missed);

/* All records of a kind, converted by take, which may drop one. */
struct pfs_records {
	void *array;
	uint64_t stride; /* of the array; the caller sets it */
	uint32_t count;
	uint32_t *index_of; /* by reference, reference_max + 1 of them; or PFS_NONE */
	uint64_t reference_max, missed;
};
typedef bool pfs_record_take(void *context, uint64_t number, uint32_t word, const void *from,
			     void *to);
/* False: no memory. The caller frees array and index_of, also then. */
bool pfs_records_take(const struct pfs_reader *self, enum pfs_box_kind kind,
		      struct pfs_records *records, pfs_record_take *take, void *context);

/* Reads a part of a sparse array of the readers; holes read as 0. */
void pfs_reader_array(const struct pfs_reader *self, enum pfs_box_kind kind, uint64_t offset,
		      void *to, size_t bytes);

/* The same for many entries near each other, through a cached page: a system call for each entry
 * took most of the time of a snapshot of many rows. An entry is as old as its page, so a window
 * must begin after the TRUNCATEs whose bases are read. */
struct pfs_reader_window {
	uint64_t offset;
	bool is_read;
	uint8_t bytes[PFS_BOX_PAGE];
};
void pfs_reader_array_near(const struct pfs_reader *self, enum pfs_box_kind kind, uint64_t offset,
			   void *to, size_t bytes, struct pfs_reader_window *window);

static inline struct pfs_box_head *pfs_reader_head(const struct pfs_reader *self)
{
	return (struct pfs_box_head *)(void *)self->base;
}

static inline struct pfs_box_control *pfs_reader_control(const struct pfs_reader *self)
{
	return (struct pfs_box_control *)(void *)(self->base + PFS_BOX_PAGE);
}

/* ---- cells as they were read, and the rows computed from them ---- */

struct pfs_seen_marks {
	int64_t high_count, high_bytes, low_count, low_bytes;
};

struct pfs_seen_cell {
	uint32_t number, word;
	uint32_t level;
	uint32_t account_reference; /* as in the box */
	uint32_t instrument;        /* references; pfs_cells_resolve turns them into indices */
	uint32_t thread, account, user, host;
	uint32_t epochs[PFS_TABLES];
	int64_t allocs, frees, alloc_bytes, free_bytes;
	struct pfs_seen_marks marks[PFS_TABLES];
};

struct pfs_seen_cells {
	struct pfs_seen_cell *cell;
	uint64_t count, room;
};

/* The accounts whose cells are to be read again. */
struct pfs_cells_wanted {
	bool all;
	const bool *account; /* by reference; room + 1 of them */
	uint64_t account_room;
};

/* Appends the wanted cells. False: no memory. */
bool pfs_cells_read(const struct pfs_reader *self, const struct pfs_cells_wanted *wanted,
		    struct pfs_seen_cells *cells, struct pfs_snapshot *snapshot);
/* Turns references into indices of the snapshot's arrays; drops invalid cells. */
bool pfs_cells_resolve(const struct pfs_reader *self, struct pfs_seen_cells *cells,
		       struct pfs_snapshot *snapshot);
/* Computes the marks of truncated tables from the bases. */
void pfs_cells_rebase(const struct pfs_reader *self, struct pfs_seen_cells *cells,
		      const uint32_t *truncates);

/* Sums are computed unsigned, because those of a hostile box may overflow. */
static inline void pfs_raise_by(int64_t *value, int64_t by)
{
	*value = (int64_t)((uint64_t)*value + (uint64_t)by);
}

static inline int64_t pfs_less(int64_t one, int64_t other)
{
	return (int64_t)((uint64_t)one - (uint64_t)other);
}

static inline int64_t pfs_larger(int64_t one, int64_t other)
{
	return one > other ? one : other;
}

/* Sums of a row, before its base is subtracted. */
struct pfs_reader_group {
	uint32_t who, instrument;
	bool is_missed;
	int64_t allocs, frees, alloc_bytes, free_bytes;
	int64_t base_count, base_bytes;
	struct pfs_seen_marks marks;
	int64_t reached_count, reached_bytes; /* the largest value that is known to have been */
};

/* Rows by who and instrument: a hash table of indices. */
struct pfs_groups {
	struct pfs_reader_group *group;
	uint32_t *index; /* PFS_NONE: free */
	uint64_t count, index_mask;
	uint32_t index_bits;
};

struct pfs_snapshot_rows {
	bool is_missed; /* sums moved between accounts during every attempt */
	struct pfs_seen_cells cells;
	struct pfs_groups tables[PFS_TABLES];
};

bool pfs_groups_init(struct pfs_groups *self, uint64_t room);
void pfs_groups_fini(struct pfs_groups *self);
/* The row of who and instrument; created if missing, up to the room of pfs_groups_init. */
struct pfs_reader_group *pfs_groups_have(struct pfs_groups *self, uint32_t who,
					 uint32_t instrument);
const struct pfs_reader_group *pfs_groups_find(const struct pfs_groups *self, uint32_t who,
					       uint32_t instrument);

/* Bytes in use of a row never exceeded this, because a limit held. INT64_MAX: not known. */
int64_t pfs_rows_held_bytes(const struct pfs_snapshot *snapshot, int table, uint32_t who);

bool pfs_rows_make(const struct pfs_reader *self, struct pfs_snapshot *snapshot);
void pfs_rows_free(struct pfs_snapshot_rows *rows);
/* The number and word of the record of a table's who; global: 0. */
void pfs_row_record(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint32_t who,
		    uint32_t *number, uint32_t *word);

/* ---- a snapshot while it is taken ---- */

/* Accounts, users, hosts. */
#define PFS_PARTIES 3
struct pfs_parties {
	enum pfs_box_kind kind;
	struct pfs_seen_account **first;
	uint32_t *count;
};

static inline struct pfs_parties pfs_parties_at(struct pfs_snapshot *self, int i)
{
	const struct pfs_parties all[PFS_PARTIES] = {
		{ PFS_BOX_ACCOUNTS, &self->accounts, &self->account_count },
		{ PFS_BOX_USERS, &self->users, &self->user_count },
		{ PFS_BOX_HOSTS, &self->hosts, &self->host_count },
	};
	return all[i];
}

struct pfs_taking {
	const struct pfs_reader *reader;
	struct pfs_snapshot *snapshot;
	uint64_t moves;                     /* of the head */
	uint64_t *party_moves[PFS_PARTIES]; /* as pfs_parties_at */
	bool *wanted;                       /* accounts, by reference */
	uint64_t account_room;
};

/* False: no memory. */
bool pfs_take_people(struct pfs_taking *take);
bool pfs_take_instruments(struct pfs_taking *take);
bool pfs_take_ticks(const struct pfs_reader *reader, struct pfs_snapshot *snapshot, bool all);
bool pfs_take_limits(const struct pfs_reader *reader, struct pfs_snapshot *snapshot);
bool pfs_take_mappers(const struct pfs_reader *reader, struct pfs_snapshot *snapshot);
bool pfs_take_corruption(const struct pfs_reader *reader, struct pfs_snapshot *snapshot);
bool pfs_take_owners(const struct pfs_reader *reader, struct pfs_snapshot *snapshot);
bool pfs_take_modules(const struct pfs_reader *reader, struct pfs_snapshot *snapshot);
void pfs_take_stacks(const struct pfs_reader *reader, struct pfs_snapshot *snapshot);
/* The moments of the history of stacks that are whole, the oldest first, with references; room for
 * PFS_MOMENTS_KEPT. False: no memory. The caller frees the stacks of count moments, also then. */
struct pfs_seen_moment;
bool pfs_take_moments(const struct pfs_reader *reader, struct pfs_seen_moment *moments,
		      uint32_t *count);
/* Drops entries whose records have ended; turns references into indices. */
void pfs_keep_living(struct pfs_taking *take);
void pfs_resolve_people(struct pfs_taking *take);
/* Copies text from a box: terminated, and made one line. */
void pfs_take_text(char *to, const char *from, size_t bytes);

/* Like pfs_snapshot_take; the caller holds the tools' lock. */
struct pfs_snapshot *pfs_snapshot_take_locked(struct pfs_reader *self, unsigned parts,
					      struct pfs_message *message);

/* Reports an invalid record: all are counted, the first message is kept. */
__attribute__((format(printf, 2, 3))) void pfs_snapshot_damage(struct pfs_snapshot *snapshot,
							       const char *format, ...);
#endif
