/*
 * reader.h - the reader's side of the box: find a box, open it, take a snapshot, read rows.
 *
 * Nothing in a box is trusted. Its head is checked once, from a copy. Each record is copied by the
 * optimistic protocol of pfs_lock.h, checked, and only then used. A box contains no addresses, and
 * none is followed. The box of a living program is mapped read-only, that of a dead one is copied.
 * A failure returns a one-line message that names the input and the remedy.
 *
 * One thread at a time may use a box or a snapshot. All calls may block (file I/O).
 *
 * If a live box's file is truncated, its reader refuses it (cut.h). Only the file's owner can do
 * that.
 */
#ifndef PFS_BOX_READER_H
#define PFS_BOX_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfslab/status.h>

#include "memory/box/layout.h"

#define PFS_NONE UINT32_MAX /* no index */
#define PFS_READER_PATH_BYTES 4096u

/* A message of one line. Returns false. */
__attribute__((format(printf, 2, 3))) bool pfs_refuse(struct pfs_message *message,
						      const char *format, ...);

/* ---- the boxes of a folder ---- */

/* What a box says about its program, and what the system says about the box. */
struct pfs_box_info {
	char path[PFS_READER_PATH_BYTES];
	uint32_t pid, parent_pid, uid;
	uint32_t state;       /* enum pfs_box_state, as the program left it */
	bool is_live;         /* the program runs and has it mapped */
	uint64_t start_ticks; /* of the program */
	uint64_t start_realtime_ns;
	uint64_t ticks;            /* number of ticks written so far */
	uint64_t seen_realtime_ns; /* of the last tick, or the start: last known alive */
	uint64_t end_realtime_ns;  /* of a clean end; 0: none */
	uint32_t tick_ms;
	uint32_t instruments_max;
	bool is_on_disk;          /* its resident pages count in rss_file */
	uint32_t corruption;      /* that ended it, enum pfs_box_corruption_kind; 0: none known */
	uint64_t corrupted_bytes; /* of the block; 0: not known */
	char name[64];            /* what the program calls itself */
	char why[128];            /* PFS_BOX_UNCOUNTED: the reason */
	char rule[16];
	char build[32];
	char program[256];
	char command[1024];
};

struct pfs_box_list {
	struct pfs_box_info *boxes; /* the newest start first */
	size_t count;
	struct pfs_box_info
		*notes; /* of processes that were not counted: there is nothing to open */
	size_t note_count;
	size_t refused;         /* files with a box's name that are not boxes */
	struct pfs_message why; /* the first of them */
	char refused_path[PFS_READER_PATH_BYTES];
};

/* pfs_reader_folder - where boxes are: $PFS_MEM_DIR, else /dev/shm/pfslab-<uid>. */
void pfs_reader_folder(char *folder, size_t folder_bytes);

/* pfs_box_list_make - list all boxes of the folder, of living and dead programs; for root without
 * PFS_MEM_DIR also those of all other users, in /dev/shm/pfslab-<uid> and /tmp/pfslab-<uid>.
 * Without a folder the list is empty. False: a folder cannot be read, see message. own: the folder
 * alone. */
bool pfs_box_list_make(struct pfs_box_list *list, struct pfs_message *message);
bool pfs_box_list_own(struct pfs_box_list *list, struct pfs_message *message);
void pfs_box_list_free(struct pfs_box_list *list);

/* pfs_box_list_last - the newest box of a program that did not become another one; if there is
 * none, the newest box; NULL: there are no boxes. */
const struct pfs_box_info *pfs_box_list_last(const struct pfs_box_list *list);

/* ---- why the boxes of dead programs are still there ---- */

/* What is known of a box; its folder is weighed once for all that follow one another. */
struct pfs_keeping {
	bool is_dead;        /* then also: */
	uint64_t held_bytes; /* at its end: counted blocks, own mappings, brk */
	const char *why;     /* it is still there; "": not known */
};
struct pfs_keepings;
struct pfs_keepings *pfs_keepings_begin(void); /* NULL: no memory */
struct pfs_keeping pfs_keepings_of(struct pfs_keepings *self, const char *path);
void pfs_keepings_end(struct pfs_keepings *self);

/* What was removed from the folder for newer boxes. */
struct pfs_removed {
	uint64_t boxes, most_bytes; /* of the one that held most */
	uint64_t last_realtime_ns;
};
struct pfs_removed pfs_boxes_removed(void);

/* What corrupted the memory: "use after free"; "": nothing is known. */
const char *pfs_box_corruption_name(uint32_t kind);

/* pfs_box_died - describe when the program ended: "died between 12:00:01 and 12:00:02", "ended at
 * 12:00:01", "is living"; and of which memory corruption. Local time. Returns text. */
char *pfs_box_died(const struct pfs_box_info *info, char *text, size_t text_bytes);

/* pfs_box_called - the program's short name: its file's, or what it calls itself where that is not
 * how its file's name begins. redis-server's file is redis-check-rdb. */
const char *pfs_box_called(const struct pfs_box_info *info);

/* pfs_box_title - which program: "/usr/bin/redis-check-rdb as redis-server (7)". Returns text. */
char *pfs_box_title(const struct pfs_box_info *info, char *text, size_t text_bytes);

/* ---- one box ---- */

struct pfs_reader;

/*
 * pfs_reader_open - open the box of a TARGET: a process id (only digits; its live box, or else its
 * newest), "last" (the newest start in the folder, living or dead), or a file name.
 *
 * Returns   the box; NULL: failed, see message.
 */
struct pfs_reader *pfs_reader_open(const char *target, struct pfs_message *message);
void pfs_reader_close(struct pfs_reader *self);

/* The box's information as of its opening or of the last pfs_reader_refresh. */
const struct pfs_box_info *pfs_reader_info(const struct pfs_reader *self);

/* pfs_reader_refresh - update the information and check whether the program lives. A box whose
 * program died since then is copied now. False: the box became unreadable. */
bool pfs_reader_refresh(struct pfs_reader *self, struct pfs_message *message);

/* ---- a snapshot: private memory, all references checked ---- */

struct pfs_seen_instrument {
	uint32_t number; /* of its record; its reference is one more */
	uint32_t flags;
	bool is_enabled;
	char name[PFS_BOX_NAME_BYTES];
};

struct pfs_seen_thread {
	uint32_t number, word;
	uint32_t account, user, host; /* indices into the snapshot's arrays; or PFS_NONE */
	uint32_t os_tid;
	uint64_t thread_id;
	uint64_t begun_realtime_ns;
	bool is_instrumented;
	char name[24];
};

/* An account, a user, or a host. */
struct pfs_seen_account {
	uint32_t number, word;
	uint32_t user, host; /* of an account: indices; or PFS_NONE */
	uint64_t current_connections, total_connections;
	bool has_user, has_host; /* false: NULL */
	bool is_missed;          /* its sums moved during every attempt to read them */
	char user_name[PFS_BOX_USER_BYTES];
	char host_name[PFS_BOX_HOST_BYTES];
};

/* A limit of accounts and threads. */
struct pfs_seen_limit {
	bool is_used;           /* or not named: it may apply to any thread */
	uint32_t number, scope; /* enum pfs_box_scope */
	uint64_t limit_bytes;   /* UINT64_MAX: none */
	uint64_t held_bytes;    /* usage never exceeded it; UINT64_MAX: not known */
	uint64_t refused;
	uint64_t last_bytes, last_thread_id;
	uint64_t last_realtime_ns; /* 0: nothing was refused yet */
	uint32_t last_instrument;  /* reference */
	bool has_user, has_host;   /* false: NULL */
	char user[PFS_BOX_USER_BYTES], host[PFS_BOX_HOST_BYTES];
};

/* An owner of a memory trace. */
struct pfs_seen_owner {
	uint32_t number;
	uint32_t parent; /* index, lower than its own; PFS_NONE: at the top */
	uint32_t action; /* 0 refuse, 1 call, 2 report */
	uint64_t own_bytes, sum_bytes, high_bytes;
	uint64_t limit_bytes; /* UINT64_MAX: none */
	uint64_t refused, over, bad;
	char name[PFS_BOX_OWNER_BYTES];
};

/* A row of one of the five tables. The columns are in MySQL's order. */
struct pfs_row {
	enum pfs_box_table table;
	uint32_t who;        /* index: threads, accounts, users, hosts; 0 for global */
	uint32_t instrument; /* index */
	int64_t count_alloc, count_free, bytes_alloc, bytes_free;
	int64_t low_count, current_count, high_count;
	int64_t low_bytes, current_bytes, high_bytes;
	/* HIGH was reached; else it is an upper bound. */
	bool is_high_count_exact, is_high_bytes_exact;
};

struct pfs_snapshot_rows; /* inside */

struct pfs_snapshot {
	struct pfs_box_info info;
	uint64_t taken_realtime_ns;
	uint64_t lost[PFS_LOSTS];
	uint32_t truncates[PFS_TABLES];
	uint64_t truncate_realtime_ns[PFS_TABLES];

	struct pfs_seen_instrument *instruments;
	struct pfs_seen_thread *threads;
	struct pfs_seen_account *accounts, *users, *hosts;
	uint32_t instrument_count, thread_count, account_count, user_count, host_count;
	uint64_t cell_count;       /* cells that the rows sum up */
	uint64_t rows_missed;      /* rows whose sums moved during every attempt to read them */
	uint64_t damaged;          /* invalid records, which were left out */
	struct pfs_message damage; /* the first of them */

	bool has_own;             /* a tick was written; then also: */
	struct pfs_box_own own;   /* of the last one */
	uint64_t own_realtime_ns; /* its time */
	struct pfs_box_mapper *mappers;
	uint32_t mapper_count;
	struct pfs_seen_owner *owners; /* in the order of their numbers: parents first */
	uint32_t owner_count;
	uint64_t owners_lost;
	struct pfs_seen_limit *limits;
	uint32_t limit_count;
	struct pfs_box_arena arenas[PFS_BOX_TICK_ARENAS]; /* of the last tick */
	struct pfs_box_tick *ticks; /* the oldest first; only with PFS_SNAPSHOT_TICKS */
	uint32_t tick_count;
	struct pfs_box_corruption *corruption; /* NULL: none */
	struct pfs_box_module *modules;        /* with PFS_SNAPSHOT_MODULES */
	uint32_t module_count;
	/* Of the heap profile since the start: samples, and those whose stack was walked, which
	 * costs less than unwinding it (memory/profile/stack.h). */
	uint64_t stacks_taken, stacks_walked;

	struct pfs_snapshot_rows *rows; /* with PFS_SNAPSHOT_ROWS; see pfs_snapshot_row */
};

#define PFS_SNAPSHOT_ROWS 1u
#define PFS_SNAPSHOT_TICKS 2u
#define PFS_SNAPSHOT_MODULES 4u

/*
 * pfs_snapshot_take - copy the box's contents. parts: PFS_SNAPSHOT_*. Instruments, threads,
 * accounts, users, hosts, and the last tick's own numbers are always included.
 *
 * Refreshes the box first, so a program that has died is found dead.
 * Returns   the snapshot, which the caller frees; NULL: failed, see message.
 */
struct pfs_snapshot *pfs_snapshot_take(struct pfs_reader *self, unsigned parts,
				       struct pfs_message *message);
void pfs_snapshot_free(struct pfs_snapshot *snapshot);

/* The number of a table's rows: its threads, accounts, users or hosts (1 for global) times the
 * instruments. Rows of zeroes count. */
uint64_t pfs_snapshot_row_count(const struct pfs_snapshot *snapshot, enum pfs_box_table table);

/* pfs_snapshot_row - row i of a table: i = who * instrument_count + instrument. False: no row. */
bool pfs_snapshot_row(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint64_t i,
		      struct pfs_row *row);

/* The index of a reference from a tick or a row base; PFS_NONE: its record no longer exists. */
uint32_t pfs_snapshot_instrument(const struct pfs_snapshot *snapshot, uint32_t reference);
uint32_t pfs_snapshot_account(const struct pfs_snapshot *snapshot, uint32_t reference);

/* ---- what readers write; the program must be alive ---- */

/* From now on this process writes to no box: each call below refuses. Called before there are
 * threads. */
void pfs_reader_never_write(void);

/*
 * pfs_reader_truncate - TRUNCATE a table: set its baseline to now. COUNT_FREE and the freed bytes
 * become 0, COUNT_ALLOC and the allocated bytes become what is in use, LOW and HIGH become CURRENT.
 *
 * The tables inside it are truncated with it, as in MySQL: by thread is inside by account, that
 * inside by user and by host, and all inside global. False: nothing changed, see message.
 */
bool pfs_reader_truncate(struct pfs_reader *self, enum pfs_box_table table,
			 struct pfs_message *message);

/* pfs_reader_enable - switch the counting of an instrument, by its number, on or off. */
bool pfs_reader_enable(struct pfs_reader *self, uint32_t number, bool enabled,
		       struct pfs_message *message);

/* pfs_reader_ask_walk - ask the program's ticker to write a walk report at its next tick. It writes
 * to the file named by the box's path and PFS_BOX_WALK_END, if that exists. */
bool pfs_reader_ask_walk(struct pfs_reader *self, struct pfs_message *message);

/* pfs_limits_are_fine - is the text valid for PFS_MEM_LIMIT, and not empty? */
bool pfs_limits_are_fine(const char *text);

/* pfs_reader_instrument - switch the counting of a thread, by its number and id, on or off. */
bool pfs_reader_instrument(struct pfs_reader *self, uint32_t number, uint64_t thread_id, bool on,
			   struct pfs_message *message);

/* pfs_reader_limit_account - override a limit of memory_limits; UINT64_MAX: no limit. */
bool pfs_reader_limit_account(struct pfs_reader *self, uint32_t number, uint64_t limit_bytes,
			      struct pfs_message *message);

/* pfs_reader_limit - override the limit of an owner, by its number; UINT64_MAX: no limit. */
bool pfs_reader_limit(struct pfs_reader *self, uint32_t number, uint64_t limit_bytes,
		      struct pfs_message *message);

/*
 * pfs_box_row_number - the position of a row's base in PFS_BOX_ROW_BASES: first the threads'
 * records (as many as fit their region), then the accounts', users' and hosts', then one for
 * global; each has instruments_max entries. who: the record's number; 0 for global.
 */
struct pfs_box_rooms {
	uint64_t whos[PFS_TABLES]; /* records that fit the region; global: 1 */
	uint32_t instruments_max;
};

static inline uint64_t pfs_box_row_number(const struct pfs_box_rooms *rooms,
					  enum pfs_box_table table, uint64_t who,
					  uint32_t instrument)
{
	uint64_t before = 0;
	for (int t = 0; t < (int)table; t++)
		before += rooms->whos[t];
	return (before + who) * rooms->instruments_max + instrument;
}

/* Records that fit a region; 0 for a plain array. */
static inline uint64_t pfs_box_room(const struct pfs_box_region *region)
{
	return region->page_bytes == 0 ? 0
				       : region->bytes / region->page_bytes * region->page_records;
}

/* ---- whole files ---- */

/* pfs_reader_check - is the box consistent, and do its sums add up? False: see message. */
bool pfs_reader_check(struct pfs_reader *self, struct pfs_message *message);

/* MySQL's names of the five tables; and the table of such a name, or of a short one: thread,
 * account, user, host, global. PFS_TABLES: unknown name. */
extern const char *const pfs_table_names[PFS_TABLES];
enum pfs_box_table pfs_table_find(const char *name);

#endif
