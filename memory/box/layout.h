/*
 * layout.h - the box: a file in which a program keeps its accounts, and others read them.
 *
 * The program maps it once, at its full length, and only writes; whoever asks maps or copies it,
 * and trusts nothing in it. It is sparse: a page of it exists from when it is first needed. No
 * address stands in it: a reference is a record's number plus one, 0 is none.
 *
 *	head     PFS_BOX_PAGE bytes     written by the program
 *	control  PFS_BOX_PAGE bytes     all that a reader may write; every value of it is safe
 *	                                for the program
 *	regions  as the head's table says, each from a multiple of PFS_BOX_PAGE on
 *
 * Records. A region of records is what a container of the layout bare, with words, has for pages:
 * page p lies at offset + p * page_bytes, and is [records][words]. Record r is in page
 * r / page_records at slot r % page_records: its bytes at slot * record_bytes, its pfs_lock word at
 * words_offset + slot * 4. Pages come in the order of their numbers, and none goes back.
 * Read a record by the optimistic protocol of pfs_lock.h: glance, load the bytes, confirm.
 *
 * Regions without words (page_records 0) are plain arrays; PFS_BOX_TICKS, PFS_BOX_MAPPERS and
 * PFS_BOX_LIMITS are, written by the program, and PFS_BOX_CELL_BASES and PFS_BOX_ROW_BASES are,
 * written by readers alone.
 *
 * All numbers are little-endian, of this machine's width and alignment.
 *
 * Ordering:  [J5] generation: fetch-add, seq  <->  [J8] an owner looks: load, acquire
 *            carries: truncates, and whatever else was changed before it
 */
#ifndef PFS_BOX_LAYOUT_H
#define PFS_BOX_LAYOUT_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "containers/atomic.h"

#define PFS_BOX_MAGIC "pfsbox\r\n"
#define PFS_BOX_VERSION 2u
#define PFS_BOX_PAGE 4096u
#define PFS_BOX_REGIONS_MAX 24u
#define PFS_BOX_INSTRUMENTS_MAX 1024u
#define PFS_BOX_OWNERS_MAX 256u
#define PFS_BOX_LIMITS_MAX 32u
#define PFS_BOX_NAME_BYTES 128u /* of an instrument, as EVENT_NAME */
#define PFS_BOX_OWNER_BYTES 48u
#define PFS_BOX_USER_BYTES 64u
#define PFS_BOX_HOST_BYTES 256u

enum pfs_box_kind {
	PFS_BOX_NONE,
	PFS_BOX_INSTRUMENTS, /* struct pfs_box_instrument */
	PFS_BOX_THREADS,     /* struct pfs_box_thread */
	PFS_BOX_ACCOUNTS,    /* struct pfs_box_account */
	PFS_BOX_USERS,       /* struct pfs_box_account, without a host */
	PFS_BOX_HOSTS,       /* struct pfs_box_account, without a user */
	PFS_BOX_CELLS,       /* struct pfs_cell */
	PFS_BOX_TICKS,       /* struct pfs_box_tick, a ring of PFS_BOX_TICKS_KEPT */
	PFS_BOX_CELL_BASES,  /* struct pfs_box_cell_base, by the cells' numbers; readers' */
	PFS_BOX_ROW_BASES,   /* struct pfs_box_row_base, see pfs_box_row_number; readers' */
	PFS_BOX_MODULES,     /* struct pfs_box_module, in the order of loading */
	PFS_BOX_STACKS,      /* struct pfs_box_stack; this and the next two: profile.h */
	PFS_BOX_CONTEXTS,    /* struct pfs_box_context */
	PFS_BOX_SAMPLES,     /* struct pfs_box_sample, in the region behind the cells' */
	PFS_BOX_MAPPERS,     /* struct pfs_box_mapper; the first without a name is the end */
	PFS_BOX_OWNERS,      /* struct pfs_box_owner */
	PFS_BOX_LIMITS,      /* struct pfs_box_limit; the first without a scope is the end */
	PFS_BOX_KINDS
};

/* The five tables, and what a TRUNCATE resets. */
enum pfs_box_table {
	PFS_TABLE_THREAD,
	PFS_TABLE_ACCOUNT,
	PFS_TABLE_USER,
	PFS_TABLE_HOST,
	PFS_TABLE_GLOBAL,
	PFS_TABLES
};

enum pfs_box_state {
	PFS_BOX_MAKING,
	PFS_BOX_LIVE,
	PFS_BOX_ENDED, /* the program ended, and the box is kept */
	PFS_BOX_EXECED /* the program went on as another one */
};

struct pfs_box_region {
	uint32_t kind; /* enum pfs_box_kind; readers pass over those they do not know */
	uint32_t record_bytes;
	uint64_t offset; /* in the file; a multiple of PFS_BOX_PAGE */
	uint64_t bytes;
	uint32_t page_records; /* 0: a plain array, without words */
	uint32_t page_bytes;
	uint32_t words_offset;        /* in a page */
	_Atomic(uint32_t) page_count; /* release, when the page's memory is there */
};

enum pfs_box_lost {
	PFS_LOST_INSTRUMENTS, /* names that found no record; memory_classes_lost */
	PFS_LOST_THREADS,
	PFS_LOST_ACCOUNTS,
	PFS_LOST_USERS,
	PFS_LOST_HOSTS,
	PFS_LOST_CELLS,    /* allocations that were not counted, for there was no cell */
	PFS_LOST_MEMORY,   /* times that the system refused memory for the box */
	PFS_LOST_FOREIGN,  /* frees of blocks that never were: from before the start, ... */
	PFS_LOST_STACKS,   /* samples whose stack found no record: they have none */
	PFS_LOST_CONTEXTS, /* samples that are in no context's sums, for it found no record */
	PFS_LOST_SAMPLES,  /* samples that found no record, and are in no profile */
	PFS_LOST_MODULES,  /* files that were mapped and found no record */
	PFS_LOST_MAPPED,   /* ranges of the program's own mappings that found no room */
	PFS_LOSTS
};

/* What the program says of its own memory, at a tick. All in bytes. */
struct pfs_box_own {
	uint64_t tracked;   /* asked for, by blocks that are counted */
	uint64_t blocks;    /* how many these are */
	uint64_t headers;   /* in front of them */
	uint64_t allocated; /* by the allocator's classes, counted or not; 0: not known */
	uint64_t cached, slab_free, dirty, metadata, mapped; /* of the allocator; 0: not known */
	uint64_t box;                                        /* of the box, resident */
	uint64_t accounts;                                   /* private memory of the accounts */
	uint64_t rss, rss_anon, rss_file, rss_shmem;         /* as the system says */
	/* Found in the page tables; measured_realtime_ns 0: not looked for. Resident but mapped. */
	uint64_t measured_realtime_ns;
	uint64_t heap;           /* what allocator and accounts have mapped, but the box */
	uint64_t library;        /* .data and .bss of the library that counts */
	uint64_t program_mapped; /* addresses that the program maps itself, without a file */
	uint64_t program_mapped_resident;
	uint64_t stacks;        /* of threads that were seen */
	uint64_t files_changed; /* of files that are mapped, what is the program's alone: .data */
	uint64_t brk;           /* the program's heap of brk, which the allocator does not use */
};

struct pfs_box_head {
	char magic[8];
	uint32_t version;
	uint32_t head_bytes; /* PFS_BOX_PAGE */
	uint64_t file_bytes;
	uint32_t pid, parent_pid;
	uint64_t start_ticks; /* field 22 of /proc/PID/stat */
	uint64_t start_realtime_ns;
	uint8_t boot_id[16];
	uint32_t uid;
	_Atomic(uint32_t) state; /* enum pfs_box_state */
	char rule[16];           /* how blocks are credited: exact, freer, global */
	char build[32];
	uint32_t region_count;
	_Atomic(uint32_t) has_headers; /* blocks have a header, and are not tagged beside the slab;
					* in a line that is seldom written */
	uint32_t instruments_max;      /* columns of PFS_BOX_ROW_BASES */
	uint32_t tick_ms;              /* 0: no ticks */
	uint32_t profile_lg;           /* mean bytes between samples are 2 to it; 0: no profile */
	_Atomic(uint32_t) owners_lost; /* owners of a memory trace that found no record */
	_Atomic(uint64_t) ticks;       /* release, when a tick is written */
	_Atomic(uint64_t) end_realtime_ns; /* of a clean end */
	_Atomic(uint64_t) moves; /* odd while sums move between cells of different accounts */
	_Atomic(uint64_t) lost[PFS_LOSTS];
	char program[256];
	char command[1024]; /* arguments, separated by spaces, cut */
	struct pfs_box_region regions[PFS_BOX_REGIONS_MAX];
};
_Static_assert(sizeof(struct pfs_box_head) <= PFS_BOX_PAGE, "the head is one page");

struct pfs_box_control {
	_Atomic(uint32_t) generation;            /* changes with anything below; never 0 */
	_Atomic(uint32_t) truncates[PFS_TABLES]; /* TRUNCATEs so far */
	_Atomic(uint32_t) profile_off;           /* bit 0: no samples are taken */
	_Atomic(uint32_t) profile_lg; /* 1 .. 62: mean bytes between samples are 2 to it; else as
				       * the head says */
	_Atomic(uint32_t) walks;      /* reports of a walk that were asked for, so far */
	_Atomic(uint32_t) spare[7];
	_Atomic(uint8_t) enabled[PFS_BOX_INSTRUMENTS_MAX]; /* by number; bit 0 */
	_Atomic(uint64_t) truncate_realtime_ns[PFS_TABLES];
	/* By number: a limit plus 1; 0: as the owner's record says. */
	_Atomic(uint64_t) owner_limits[PFS_BOX_OWNERS_MAX];
	_Atomic(uint64_t) limits[PFS_BOX_LIMITS_MAX]; /* likewise, of accounts and threads */
};
_Static_assert(sizeof(struct pfs_box_control) <= PFS_BOX_PAGE, "the control area is one page");

/* A reader has changed something in the control area: now owners look at it. */
static inline void pfs_box_announce(struct pfs_box_control *control)
{
	(void)pfs_fetch_add_seq(&control->generation, 1); /* [J5] seq, pairs with [J8] */
}

/* Behind a box's path: where the report of a walk is written to, if whoever asks has made it. */
#define PFS_BOX_WALK_END ".walk"

/* Registered once; stays. Its number is that of its record. */
struct pfs_box_instrument {
	char name[PFS_BOX_NAME_BYTES]; /* ended by 0 */
	uint32_t flags;
	uint32_t spare[15];
};
_Static_assert(sizeof(struct pfs_box_instrument) == 192, "whole lines");

/* One life of a thread: from its begin to its end. */
struct pfs_box_thread {
	uint64_t thread_id; /* never used again in a box */
	uint64_t begun_realtime_ns;
	uint32_t os_tid;
	uint32_t account, user, host; /* references; account 0: none could be had */
	uint32_t is_instrumented;
	uint32_t spare;
	char name[24];
};
_Static_assert(sizeof(struct pfs_box_thread) == 64, "a line");

/* An account, a user, or a host. */
struct pfs_box_account {
	uint64_t current_connections; /* threads, now */
	uint64_t total_connections;   /* and ever */
	_Atomic(uint64_t) moves;      /* odd while sums move between its cells */
	uint32_t user, host;          /* references, of an account */
	uint32_t has_user, has_host;  /* 0: NULL */
	uint32_t spare[6];
	char user_name[PFS_BOX_USER_BYTES]; /* ended by 0 */
	char host_name[PFS_BOX_HOST_BYTES];
};
_Static_assert(sizeof(struct pfs_box_account) == 384, "whole lines");

/* Marks of a cell for one table, absolute: not reduced by a TRUNCATE. */
struct pfs_marks {
	_Atomic(uint64_t) high_count, high_bytes;
	_Atomic(uint64_t) low_count, low_bytes;
};

enum pfs_cell_level {
	PFS_CELL_OF_THREAD,
	PFS_CELL_OF_ACCOUNT,
	PFS_CELL_OF_USER,
	PFS_CELL_OF_HOST,
	PFS_CELL_OF_GLOBAL
};

/*
 * What one life of a thread, or an account, a user, a host, or nobody (global) has of one
 * instrument.
 *
 * CURRENT_COUNT = allocs - frees - foreign frees, and so for bytes: the difference is a signed
 * number. A row of a table is the sum over cells:
 *	thread    the thread's cell
 *	account   the account's, and those of its threads; also of ended lives, until their last
 *	          block is free
 *	user      the user's, and all of its accounts' rows; also of threads without an account
 *	host      likewise
 *	global    the global one, all accounts' rows, and all cells of threads without an account
 * Of a cell of a thread marks[t] are for table t. A cell of an account, a user, a host and the
 * global one keeps, for table t, in marks[t].high_* the sum of the high marks of the cells that
 * were added to it since the last tick, and in marks[t].low_* the highest estimate until then:
 *	HIGH of it = max(low_*, high_* + sum of high marks of the cells that are still there)
 * and the rows above sum these. The low mark of a cell that was added to another is 0.
 * Where epochs[t] is not control.truncates[t], the cell has not changed its marks since that
 * TRUNCATE: of a thread's cell the marks are then as PFS_BOX_CELL_BASES says, of others 0. Where it
 * is, the high mark of a thread's cell is at least what PFS_BOX_CELL_BASES says of that TRUNCATE,
 * for others may have freed since then; and a low mark is at most the current value, for an
 * owner looks at it when it allocates.
 *
 * Read what others freed (word, foreign_bytes) first, then frees, then allocs: so no difference is
 * ever below zero under the rule exact.
 */
struct pfs_cell {
	/* The thread's own line; of other levels, under the desk. */
	alignas(PFS_LINE) _Atomic(uint64_t) allocs;
	_Atomic(uint64_t) alloc_bytes;
	_Atomic(uint64_t) frees;
	_Atomic(uint64_t) free_bytes;
	_Atomic(uint64_t) trap_count; /* allocs - frees above: a mark may have to rise */
	_Atomic(uint64_t) trap_bytes;
	_Atomic(uint64_t) sample_at; /* alloc_bytes of the next sample; 0: to be drawn */
	_Atomic(uint32_t) seen;      /* control.generation when marks were last looked at */
	uint32_t tag;                /* its own: what tagged blocks name it by */
	/* Anybody's line. */
	alignas(PFS_LINE) _Atomic(uint64_t) word; /* foreign frees, or K - those still to come */
	_Atomic(uint64_t) foreign_bytes;
	/* Written once; but owner. */
	alignas(PFS_LINE) _Atomic(uint32_t) owner; /* the thread's reference; 0: has ended */
	uint32_t level;                            /* enum pfs_cell_level */
	uint32_t instrument;                       /* reference */
	uint32_t thread;              /* reference, also after the end; 0: of no thread */
	uint32_t account, user, host; /* references; 0: none */
	_Atomic(uint32_t) next;       /* of those that wait to be folded */
	uint32_t reference;           /* its own */
	uint32_t line;                /* its own: what its blocks name it by, see books.h */
	uint32_t sample_lg;           /* the owner's: sample_at was drawn with the mean 2 to it */
	_Atomic(uint32_t) epochs[PFS_TABLES];
	struct pfs_marks marks[PFS_TABLES];
};
_Static_assert(sizeof(struct pfs_cell) == 384, "whole lines");

/* word of a cell: below K the foreign frees of a life that goes on; else K - blocks that are left.
 * (docs/explanation/accounts.md) */
#define PFS_CELL_ENDED (UINT64_C(1) << 62)

/* A tick: what was where at a moment. */
#define PFS_BOX_TICKS_KEPT 3600u
#define PFS_BOX_TICK_INSTRUMENTS 48u
#define PFS_BOX_TICK_ACCOUNTS 16u
struct pfs_box_share {
	uint32_t reference; /* of an instrument or an account; 0: none */
	uint32_t spare;
	uint64_t bytes;
};
/* An arena of the allocator, at a tick. */
#define PFS_BOX_TICK_ARENAS 16u
#define PFS_BOX_POOL_BYTES 16u
#define PFS_BOX_ARENA_OTHERS UINT32_MAX /* the sum of all that found no room */
struct pfs_box_arena {
	uint32_t reference;            /* its number plus 1; 0: none; or PFS_BOX_ARENA_OTHERS */
	uint32_t threads;              /* bound to it */
	char pool[PFS_BOX_POOL_BYTES]; /* of threads whose it is; ended by 0; empty: of none */
	/* Bytes. allocated: out of its slabs and large; cached: of these and of other arenas'
	 * blocks, what is in its threads' rings; resident: active, and free but not yet purged. */
	uint64_t allocated, cached, active, resident, mapped, retained;
};
struct pfs_box_tick {
	uint64_t number; /* from 1 on; tick n is at (n - 1) % PFS_BOX_TICKS_KEPT */
	uint64_t realtime_ns;
	struct pfs_box_own own;
	struct pfs_box_share instruments[PFS_BOX_TICK_INSTRUMENTS]; /* largest first */
	struct pfs_box_share accounts[PFS_BOX_TICK_ACCOUNTS];
	struct pfs_box_arena arenas[PFS_BOX_TICK_ARENAS]; /* up to the first without a reference */
};

/* Where a file of the program is mapped, for names of addresses. */
struct pfs_box_module {
	uint64_t begin, end, file_offset;
	uint64_t loaded_realtime_ns;        /* or seen first */
	_Atomic(uint64_t) gone_realtime_ns; /* another file may be there since; 0: it is there */
	uint8_t build_id[32];
	uint32_t build_id_bytes;
	uint32_t spare;
	char path[432];
};
_Static_assert(sizeof(struct pfs_box_module) == 512, "whole lines");

/* What a library, or the program, maps itself without a file: at the last look. */
#define PFS_BOX_MAPPERS_MAX 64u
struct pfs_box_mapper {
	char name[PFS_BOX_NAME_BYTES]; /* memory/<library>/mmap; ended by 0 */
	uint64_t ranges;
	uint64_t mapped, resident; /* bytes */
	uint64_t spare[5];
};
_Static_assert(sizeof(struct pfs_box_mapper) == 192, "whole lines");

/*
 * An owner of a memory trace: named, in a tree, registered once; stays. Its parent has a lower
 * number. Bytes; where no add is under way, sum is own and the sums of all children, and reserved
 * is sum. A program that was killed in the middle of an add leaves as much of a difference.
 */
#define PFS_BOX_OWNER_DEPTH 16u
#define PFS_BOX_OWNER_MOST (UINT64_C(1) << 62)
struct pfs_box_owner {
	alignas(PFS_LINE) _Atomic(uint64_t) reserved; /* sum, and adds on their way */
	_Atomic(uint64_t) own;
	_Atomic(uint64_t) sum;     /* never above a limit that refuses */
	_Atomic(uint64_t) high;    /* the most that sum ever was */
	_Atomic(uint64_t) limit;   /* PFS_BOX_OWNER_MOST: none. control.owner_limits is before it */
	_Atomic(uint64_t) refused; /* adds, by this limit */
	_Atomic(uint32_t) action;  /* enum pfs_owner_action: refuse, call, report */
	uint32_t parent;           /* reference; 0: none */
	_Atomic(uint64_t) over;    /* adds that were only reported */
	/* Seldom written. */
	_Atomic(uint64_t) bad; /* guards that were used a second time */
	uint64_t spare;
	char name[PFS_BOX_OWNER_BYTES]; /* ended by 0 */
};
_Static_assert(sizeof(struct pfs_box_owner) == 128, "two lines");

/*
 * A limit of what the program, a thread, an account or a user may have in use. Written once but
 * the limit, which control.limits is before, and what it refused. The first four are there from
 * the begin on.
 */
enum pfs_box_scope {
	PFS_SCOPE_PROGRAM = 1,
	PFS_SCOPE_EACH_THREAD,
	PFS_SCOPE_EACH_ACCOUNT, /* that has none of its own */
	PFS_SCOPE_EACH_USER,    /* likewise */
	PFS_SCOPE_ACCOUNT,      /* of this name */
	PFS_SCOPE_USER
};
#define PFS_BOX_NO_LIMIT UINT64_MAX
struct pfs_box_limit {
	_Atomic(uint64_t) bytes;   /* or PFS_BOX_NO_LIMIT */
	_Atomic(uint64_t) refused; /* allocations */
	/* The last one. */
	_Atomic(uint64_t) last_bytes, last_thread_id, last_realtime_ns;
	_Atomic(uint32_t) last_instrument; /* reference; 0: none yet */
	_Atomic(uint32_t) scope;           /* 0: no limit */
	uint32_t has_user, has_host;       /* 0: NULL */
	uint64_t spare;
	char user_name[PFS_BOX_USER_BYTES]; /* ended by 0 */
	char host_name[PFS_BOX_HOST_BYTES];
};
_Static_assert(sizeof(struct pfs_box_limit) == 384, "whole lines");

/* What a TRUNCATE of table t found in a cell: current then. Readers write it, and read it. */
struct pfs_box_cell_base {
	uint32_t cell_word;          /* the cell's pfs_lock word: its life */
	uint32_t epochs[PFS_TABLES]; /* control.truncates[t] after it; 0: none */
	struct {
		uint64_t count, bytes;
	} current[PFS_TABLES];
};

/* What a TRUNCATE takes from COUNT_ALLOC and COUNT_FREE of a row, and from the sums of bytes. */
struct pfs_box_row_base {
	uint32_t record_word; /* of the thread, account, user or host; global: 0 */
	uint32_t epoch;
	uint64_t count, bytes;
};

#endif
