/*
 * reader.h - boxes as whoever asks sees them: find one, open it, take a snapshot, read rows.
 *
 * Nothing in a box is trusted: its head is checked once, from a copy; each record is copied by the
 * optimistic protocol of pfs_lock.h, checked, and only then used; no address stands in a box, and
 * none is followed. A living program's box is mapped read-only, a dead one's is copied. What fails,
 * fails with one line that names the input and the mend.
 *
 * Who calls may be one thread at a time for each box and each snapshot. All calls block (files).
 *
 * A live box that somebody makes shorter raises SIGBUS in who reads it; only its owner can do that.
 */
#ifndef PFS_BOX_READER_H
#define PFS_BOX_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfslab/status.h>

#include "memory/box/layout.h"

#define PFS_NONE UINT32_MAX /* an index that is none */
#define PFS_READER_PATH_BYTES 4096u

/* A message of one line. Returns false. */
__attribute__((format(printf, 2, 3))) bool pfs_refuse(struct pfs_message *message,
						      const char *format, ...);

/* ---- which boxes there are ---- */

/* What a box says of its program, and what the system says of the box. */
struct pfs_box_info {
	char path[PFS_READER_PATH_BYTES];
	uint32_t pid, parent_pid, uid;
	uint32_t state;       /* enum pfs_box_state, as the program left it */
	bool is_live;         /* the program has it, now */
	uint64_t start_ticks; /* of the program */
	uint64_t start_realtime_ns;
	uint64_t ticks;            /* how many were written */
	uint64_t seen_realtime_ns; /* of the last tick, else of the start: it lived then */
	uint64_t end_realtime_ns;  /* of a clean end; 0: none */
	uint32_t tick_ms;
	uint32_t instruments_max;
	char rule[16];
	char build[32];
	char program[256];
	char command[1024];
};

struct pfs_box_list {
	struct pfs_box_info *boxes; /* the newest start first */
	size_t count;
	size_t refused;         /* files of such a name that are no box */
	struct pfs_message why; /* the first of them */
	char refused_path[PFS_READER_PATH_BYTES];
};

/* pfs_reader_folder - where boxes are: $PFS_MEM_DIR, else /dev/shm/pfslab-<uid>. */
void pfs_reader_folder(char *folder, size_t folder_bytes);

/* pfs_box_list_make - all boxes of the folder, living and dead. No folder: none, which is fine.
 * False: it cannot be read, as message says. */
bool pfs_box_list_make(struct pfs_box_list *list, struct pfs_message *message);
void pfs_box_list_free(struct pfs_box_list *list);

/* pfs_box_died - when its program ended, in words: "died between 12:00:01 and 12:00:02", "ended at
 * 12:00:01", "is living". Local time. Returns text. */
char *pfs_box_died(const struct pfs_box_info *info, char *text, size_t text_bytes);

/* ---- one box ---- */

struct pfs_reader;

/*
 * pfs_reader_open - the box of a TARGET: a process id (only digits; its living box, else its
 * newest), "last" (the newest start in the folder, living or dead), or a file name.
 *
 * Returns   the box; NULL: as message says.
 */
struct pfs_reader *pfs_reader_open(const char *target, struct pfs_message *message);
void pfs_reader_close(struct pfs_reader *self);

/* What stood in it when it was opened, or asked for last by pfs_reader_refresh. */
const struct pfs_box_info *pfs_reader_info(const struct pfs_reader *self);

/* pfs_reader_refresh - look again: does the program live, what does the head say? A box whose
 * program died meanwhile is copied now. False: it became unreadable. */
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
	uint32_t account, user, host; /* indices of the arrays below; PFS_NONE */
	uint32_t os_tid;
	uint64_t thread_id;
	uint64_t begun_realtime_ns;
	bool is_instrumented;
	char name[24];
};

/* An account, a user, or a host. */
struct pfs_seen_account {
	uint32_t number, word;
	uint32_t user, host; /* indices, of an account; PFS_NONE */
	uint64_t current_connections, total_connections;
	bool has_user, has_host; /* false: NULL */
	bool is_missed;          /* its sums moved each time they were read */
	char user_name[PFS_BOX_USER_BYTES];
	char host_name[PFS_BOX_HOST_BYTES];
};

/* A limit of accounts and threads. */
struct pfs_seen_limit {
	uint32_t number, scope; /* enum pfs_box_scope */
	uint64_t limit_bytes;   /* UINT64_MAX: none */
	uint64_t refused;
	uint64_t last_bytes, last_thread_id;
	uint64_t last_realtime_ns; /* 0: none was refused */
	uint32_t last_instrument;  /* reference */
	bool has_user, has_host;   /* false: NULL */
	char user[PFS_BOX_USER_BYTES], host[PFS_BOX_HOST_BYTES];
};

/* An owner of a memory trace. */
struct pfs_seen_owner {
	uint32_t number;
	uint32_t parent; /* index, below its own; PFS_NONE: at the top */
	uint32_t action; /* 0 refuse, 1 call, 2 report */
	uint64_t own_bytes, sum_bytes, high_bytes;
	uint64_t limit_bytes; /* UINT64_MAX: none */
	uint64_t refused, over, bad;
	char name[PFS_BOX_OWNER_BYTES];
};

/* A row of one of the five tables; the columns in the order of MySQL's. */
struct pfs_row {
	enum pfs_box_table table;
	uint32_t who;        /* index: threads, accounts, users, hosts; 0 for global */
	uint32_t instrument; /* index */
	int64_t count_alloc, count_free, bytes_alloc, bytes_free;
	int64_t low_count, current_count, high_count;
	int64_t low_bytes, current_bytes, high_bytes;
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
	uint64_t cell_count;       /* behind the rows */
	uint64_t rows_missed;      /* whose sums moved while they were read, each time */
	uint64_t damaged;          /* records that make no sense, and were left out */
	struct pfs_message damage; /* the first of them */

	bool has_own;             /* a tick was written: */
	struct pfs_box_own own;   /* of the last one */
	uint64_t own_realtime_ns; /* and when */
	struct pfs_box_mapper *mappers;
	uint32_t mapper_count;
	struct pfs_seen_owner *owners; /* by their numbers: parents first */
	uint32_t owner_count;
	uint64_t owners_lost;
	struct pfs_seen_limit *limits;
	uint32_t limit_count;
	struct pfs_box_arena arenas[PFS_BOX_TICK_ARENAS]; /* of the last tick */
	struct pfs_box_tick *ticks; /* the oldest first; only with PFS_SNAPSHOT_TICKS */
	uint32_t tick_count;
	struct pfs_box_module *modules; /* with PFS_SNAPSHOT_MODULES */
	uint32_t module_count;

	struct pfs_snapshot_rows *rows; /* with PFS_SNAPSHOT_ROWS; see pfs_snapshot_row */
};

#define PFS_SNAPSHOT_ROWS 1u
#define PFS_SNAPSHOT_TICKS 2u
#define PFS_SNAPSHOT_MODULES 4u

/*
 * pfs_snapshot_take - what the box has now. parts: PFS_SNAPSHOT_*; instruments, threads, accounts,
 * users, hosts, and the last tick's own are always there.
 *
 * Looks at the box again first: a program that died meanwhile is found dead.
 * Returns   the snapshot, to be freed; NULL: as message says.
 */
struct pfs_snapshot *pfs_snapshot_take(struct pfs_reader *self, unsigned parts,
				       struct pfs_message *message);
void pfs_snapshot_free(struct pfs_snapshot *snapshot);

/* How many rows a table has: everybody of its kind times every instrument, zeroes included. */
uint64_t pfs_snapshot_row_count(const struct pfs_snapshot *snapshot, enum pfs_box_table table);

/* pfs_snapshot_row - row i of a table: i is who * instrument_count + instrument. False: none. */
bool pfs_snapshot_row(const struct pfs_snapshot *snapshot, enum pfs_box_table table, uint64_t i,
		      struct pfs_row *row);

/* The index of a reference of a tick (or of a row base): PFS_NONE: it is not there any more. */
uint32_t pfs_snapshot_instrument(const struct pfs_snapshot *snapshot, uint32_t reference);
uint32_t pfs_snapshot_account(const struct pfs_snapshot *snapshot, uint32_t reference);

/* ---- what readers write; the program must live ---- */

/*
 * pfs_reader_truncate - TRUNCATE of a table: its baseline is now. COUNT_FREE and the freed bytes
 * become 0, COUNT_ALLOC and the allocated bytes what is in use, LOW and HIGH what is CURRENT.
 *
 * The tables inside it go with it, as in MySQL: by thread is inside by account, that inside by user
 * and by host, and all inside global. False: nothing was changed, as message says.
 */
bool pfs_reader_truncate(struct pfs_reader *self, enum pfs_box_table table,
			 struct pfs_message *message);

/* pfs_reader_enable - is what is allocated under an instrument counted, from now on? number: that
 * of struct pfs_seen_instrument. */
bool pfs_reader_enable(struct pfs_reader *self, uint32_t number, bool enabled,
		       struct pfs_message *message);

/* pfs_reader_ask_walk - whoever ticks is to write the report of a walk, at its next tick, into the
 * file of the box's path and PFS_BOX_WALK_END, if that is there. */
bool pfs_reader_ask_walk(struct pfs_reader *self, struct pfs_message *message);

/* pfs_limits_are_fine - is a text limits, as in PFS_MEM_LIMIT, and not empty? */
bool pfs_limits_are_fine(const char *text);

/* pfs_reader_limit_account - a limit of memory_limits, instead of the program's own; UINT64_MAX:
 * none. */
bool pfs_reader_limit_account(struct pfs_reader *self, uint32_t number, uint64_t limit_bytes,
			      struct pfs_message *message);

/* pfs_reader_limit - a limit for an owner, instead of its own; UINT64_MAX: none. number: that of
 * struct pfs_seen_owner. */
bool pfs_reader_limit(struct pfs_reader *self, uint32_t number, uint64_t limit_bytes,
		      struct pfs_message *message);

/*
 * pfs_box_row_number - where the base of a row stands in PFS_BOX_ROW_BASES: the threads' records
 * (as many as their region has room for), then the accounts', users', hosts', one for global;
 * each has instruments_max entries. who: the record's number; 0 for global.
 */
struct pfs_box_rooms {
	uint64_t whos[PFS_TABLES]; /* records that the region has room for; global: 1 */
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

/* How many there are; the region is so many times sizeof(struct pfs_box_row_base). */
static inline uint64_t pfs_box_row_numbers(const struct pfs_box_rooms *rooms)
{
	return pfs_box_row_number(rooms, PFS_TABLE_GLOBAL, 1, 0);
}

/* Records that a region has room for; 0 for one without words. */
static inline uint64_t pfs_box_room(const struct pfs_box_region *region)
{
	return region->page_bytes == 0 ? 0
				       : region->bytes / region->page_bytes * region->page_records;
}

/* ---- whole files ---- */

/* pfs_reader_check - is everything in it consistent, and does it add up? False: what is not. */
bool pfs_reader_check(struct pfs_reader *self, struct pfs_message *message);

/* The five tables' names, MySQL's; and the table of a name, or of its short form: thread, account,
 * user, host, global. PFS_TABLES: no such one. */
extern const char *const pfs_table_names[PFS_TABLES];
enum pfs_box_table pfs_table_find(const char *name);

#endif
