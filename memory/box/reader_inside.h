/*
 * reader_inside.h - what the files of the reader share.
 *
 * Ordering:  [RB1] words that say what is there: loads, seq  <->  [RB2] truncates: fetch-add, seq
 *            carries: the bases of a TRUNCATE before its epoch
 * The program's such words (page_count, ticks, moves) are stored with release, as layout.h says.
 */
#ifndef PFS_READER_INSIDE_H
#define PFS_READER_INSIDE_H

#include "containers/pfs_lock.h"
#include "memory/box/reader.h"

#define PFS_KINDS PFS_BOX_KINDS
#define PFS_BOX_BYTES_MAX (UINT64_C(8) << 30)

struct pfs_reader {
	struct pfs_box_info info;
	int file;   /* of a living box; -1 */
	char *base; /* its mapping, read-only; of a dead one: a copy */
	uint64_t bytes;
	bool is_copy;
	struct pfs_box_region regions[PFS_KINDS];  /* checked; kind 0: there is none */
	_Atomic(uint32_t) *page_counts[PFS_KINDS]; /* in base */
	struct pfs_box_rooms rooms;
};

uint64_t pfs_realtime_ns(void);

void *pfs_big_malloc(uint64_t bytes); /* for free */

/* ---- files ---- */

/* The box that is in a file, as pfs_reader_open. */
struct pfs_reader *pfs_reader_open_file(const char *path, struct pfs_message *message);
/* Only what it says of itself; false: it is no box. */
bool pfs_box_info_read(const char *path, struct pfs_box_info *info, struct pfs_message *message);

/* An open file of ours that may be a box; -1: as message says. */
int pfs_box_file_open(const char *path, int flags, struct pfs_message *message);
/* <pid>-<start>.box, or with more before .box; not the locks beside them. */
bool pfs_box_is_name(const char *name);
/* Does a program have it? Its lock is held as long as its mapping is there. */
bool pfs_box_file_is_live(int file);
/* Its head, checked: no more of the file is there, or is something else, than it says. */
bool pfs_box_head_read(int file, const char *path, struct pfs_box_head *head,
		       struct pfs_message *message);
void pfs_box_info_of(const struct pfs_box_head *head, const char *path, bool is_live,
		     struct pfs_box_info *info);
/* The lock among tools: exclusive makes its file. -1: there is none, or none to be had. */
int pfs_tools_lock(const struct pfs_reader *self, bool exclusive, struct pfs_message *message);
void pfs_tools_unlock(int lock);

/* The regions of a head fit the file, each other, and this build's records. */
bool pfs_box_regions_check(const struct pfs_box_head *head, const char *path,
			   struct pfs_reader *self, struct pfs_message *message);

/* ---- records ---- */

/* How many records a region has memory for, now. */
uint64_t pfs_reader_records(const struct pfs_reader *self, enum pfs_box_kind kind);

struct pfs_record_place {
	const struct pfs_lock *lock;
	char *bytes;
};
struct pfs_record_place pfs_reader_place(const struct pfs_reader *self, enum pfs_box_kind kind,
					 uint64_t number);

/* Copy a record as one life left it; *word is its. False: it is not in use, or each time changed
 * while it was read (*missed). */
bool pfs_reader_copy(const struct pfs_reader *self, enum pfs_box_kind kind, uint64_t number,
		     void *to, uint32_t *word, bool *missed);

/* Bytes of an array of the readers, which is full of holes: 0 where there are none. */
void pfs_reader_array(const struct pfs_reader *self, enum pfs_box_kind kind, uint64_t offset,
		      void *to, size_t bytes);

/* The same, of many entries that lie near each other: from a page of the array that was read
 * already, for a system call for each was most of what a snapshot of many rows took. An entry is as
 * old as that page: a window begins after the TRUNCATEs whose bases it is asked for. */
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

/* ---- cells, as they were read, and the rows made of them ---- */

struct pfs_seen_marks {
	int64_t high_count, high_bytes, low_count, low_bytes;
};

struct pfs_seen_cell {
	uint32_t number, word;
	uint32_t level;
	uint32_t account_reference; /* as it stands in the box */
	uint32_t instrument;        /* references; pfs_cells_resolve makes them indices */
	uint32_t thread, account, user, host;
	uint32_t epochs[PFS_TABLES];
	int64_t allocs, frees, alloc_bytes, free_bytes;
	struct pfs_seen_marks marks[PFS_TABLES];
};

struct pfs_seen_cells {
	struct pfs_seen_cell *cell;
	uint64_t count, room;
};

/* Which accounts' cells are to be read again. */
struct pfs_cells_wanted {
	bool all;
	const bool *account; /* by reference; room + 1 of them */
	uint64_t account_room;
};

/* Adds the wanted cells to those that are there. False: no memory. */
bool pfs_cells_read(const struct pfs_reader *self, const struct pfs_cells_wanted *wanted,
		    struct pfs_seen_cells *cells, struct pfs_snapshot *snapshot);
/* References become indices of the snapshot's arrays; cells that make no sense go. */
bool pfs_cells_resolve(const struct pfs_reader *self, struct pfs_seen_cells *cells,
		       struct pfs_snapshot *snapshot);
/* Marks of tables that were truncated: from the bases. */
void pfs_cells_rebase(const struct pfs_reader *self, struct pfs_seen_cells *cells,
		      const uint32_t *truncates);

static inline int64_t pfs_cell_count(const struct pfs_seen_cell *cell)
{
	return cell->allocs - cell->frees;
}

static inline int64_t pfs_cell_bytes(const struct pfs_seen_cell *cell)
{
	return cell->alloc_bytes - cell->free_bytes;
}

/* Sums of a row, not reduced by its base. */
struct pfs_reader_group {
	uint32_t who, instrument;
	bool is_missed;
	int64_t allocs, frees, alloc_bytes, free_bytes;
	int64_t base_count, base_bytes;
	struct pfs_seen_marks marks;
};

/* Rows by who and instrument: a hash table of indices. */
struct pfs_groups {
	struct pfs_reader_group *group;
	uint32_t *index; /* PFS_NONE: free */
	uint64_t count, index_mask;
	uint32_t index_bits;
};

struct pfs_snapshot_rows {
	bool is_missed; /* sums moved between accounts, each time */
	struct pfs_seen_cells cells;
	struct pfs_groups tables[PFS_TABLES];
};

bool pfs_groups_init(struct pfs_groups *self, uint64_t room);
void pfs_groups_fini(struct pfs_groups *self);
/* The row of who and instrument, made if it is not there: room says how many may be. */
struct pfs_reader_group *pfs_groups_have(struct pfs_groups *self, uint32_t who,
					 uint32_t instrument);
const struct pfs_reader_group *pfs_groups_find(const struct pfs_groups *self, uint32_t who,
					       uint32_t instrument);

bool pfs_rows_make(const struct pfs_reader *self, struct pfs_snapshot *snapshot);
void pfs_rows_free(struct pfs_snapshot_rows *rows);
/* The record's number and word behind who of a table; global: 0. */
void pfs_row_record(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint32_t who,
		    uint32_t *number, uint32_t *word);

/* ---- a snapshot while it is taken ---- */

struct pfs_taking {
	const struct pfs_reader *reader;
	struct pfs_snapshot *snapshot;
	uint64_t moves; /* of the head */
	uint64_t *account_moves, *user_moves, *host_moves;
	bool *wanted; /* accounts, by reference */
	uint64_t account_room;
};

/* False: no memory. */
bool pfs_take_people(struct pfs_taking *take);
bool pfs_take_instruments(struct pfs_taking *take);
bool pfs_take_ticks(const struct pfs_reader *reader, struct pfs_snapshot *snapshot, bool all);
bool pfs_take_limits(const struct pfs_reader *reader, struct pfs_snapshot *snapshot);
bool pfs_take_mappers(const struct pfs_reader *reader, struct pfs_snapshot *snapshot);
bool pfs_take_owners(const struct pfs_reader *reader, struct pfs_snapshot *snapshot);
bool pfs_take_modules(const struct pfs_reader *reader, struct pfs_snapshot *snapshot);
/* Whoever ended since is not there; and references become indices. */
void pfs_keep_living(struct pfs_taking *take);
void pfs_resolve_people(struct pfs_taking *take);
/* Text of a box: ended, and one line. */
void pfs_take_text(char *to, const char *from, size_t bytes);

/* As pfs_snapshot_take, when the caller has the tools' lock. */
struct pfs_snapshot *pfs_snapshot_take_locked(struct pfs_reader *self, unsigned parts,
					      struct pfs_message *message);

/* A line about a record that makes no sense: counted, the first is kept. */
__attribute__((format(printf, 2, 3))) void pfs_snapshot_damage(struct pfs_snapshot *snapshot,
							       const char *format, ...);
#endif
