/*
 * layout.h - the box: a file in which a program keeps its accounts, and others read them.
 *
 * The program maps it once, at its full length, and only writes. A reader maps or copies it, and
 * trusts nothing in it. It is sparse: each page is allocated when it is first needed. It contains
 * no addresses: a reference is a record's number plus one; 0 means no record.
 *
 *	head     PFS_BOX_PAGE bytes     written by the program
 *	control  PFS_BOX_PAGE bytes     the only part that a reader may write; any value in it is
 * safe for the program regions  as the head's table says, each from a multiple of PFS_BOX_PAGE on
 *
 * Records. A region of records is the pages of a container with the layout bare and with words:
 * page p lies at offset + p * page_bytes, and is [records][words]. Record r is in page
 * r / page_records at slot r % page_records: its bytes at slot * record_bytes, its pfs_lock word at
 * words_offset + slot * 4. Pages are added in the order of their numbers and are never given back.
 * Read a record by the optimistic protocol of pfs_lock.h: glance, load the bytes, confirm.
 *
 * Regions without words (page_records 0) are plain arrays; PFS_BOX_TICKS, PFS_BOX_MOMENTS,
 * PFS_BOX_MAPPERS and PFS_BOX_LIMITS are, written by the program, and PFS_BOX_CELL_BASES,
 *PFS_BOX_ROW_BASES and PFS_BOX_SWITCHES are, written by readers alone.
 *
 * All numbers are little-endian, of this machine's width and alignment.
 *
 * Ordering:  [J5] generation: fetch-add, seq  <->  [J8] an owner looks: load, acquire
 *            carries: truncates, and everything else that was changed before it
 *            [J9] corruption: store, release    <->  [J10] a reader: load, acquire
 *            carries: the record of PFS_BOX_CORRUPTION
 */
#ifndef PFS_BOX_LAYOUT_H
#define PFS_BOX_LAYOUT_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "containers/atomic.h"

#define PFS_BOX_MAGIC "pfsbox\r\n"
#define PFS_BOX_VERSION 4u
#define PFS_BOX_PAGE 4096u
#define PFS_BOX_REGIONS_MAX 24u
#define PFS_BOX_INSTRUMENTS_MAX 1024u
#define PFS_BOX_OWNERS_MAX 256u
#define PFS_BOX_PEOPLE_MAX 65536u /* threads; accounts, users and hosts, each */
#define PFS_BOX_CELLS_MAX (1u << 24)
#define PFS_BOX_LIMITS_MAX 32u
#define PFS_BOX_NAME_BYTES 128u /* of an instrument's name (EVENT_NAME) */
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
	PFS_BOX_SWITCHES,    /* struct pfs_box_switch, by the threads' numbers; readers' */
	PFS_BOX_MOMENTS,     /* struct pfs_box_moment, by pfs_moment_place: profile.h */
	PFS_BOX_CORRUPTION,  /* struct pfs_box_corruption; memory only where there was any */
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
	PFS_BOX_ENDED,    /* the program ended, and the box is kept */
	PFS_BOX_EXECED,   /* the program went on as another one */
	PFS_BOX_UNCOUNTED /* a forked child that counts nothing: no regions, `why` says the reason
			   */
};

struct pfs_box_region {
	uint32_t kind; /* enum pfs_box_kind; readers pass over those they do not know */
	uint32_t record_bytes;
	uint64_t offset; /* in the file; a multiple of PFS_BOX_PAGE */
	uint64_t bytes;
	uint32_t page_records; /* 0: a plain array, without words */
	uint32_t page_bytes;
	uint32_t words_offset;        /* in a page */
	_Atomic(uint32_t) page_count; /* release, when the page has memory */
};

enum pfs_box_lost {
	PFS_LOST_INSTRUMENTS, /* names without a record; memory_classes_lost */
	PFS_LOST_THREADS,     /* lives without a record, which are not counted */
	PFS_LOST_ACCOUNTS,
	PFS_LOST_USERS,
	PFS_LOST_HOSTS,
	PFS_LOST_CELLS,    /* allocations that were not counted: no cell was left */
	PFS_LOST_MEMORY,   /* how often the system refused memory for the box */
	PFS_LOST_FOREIGN,  /* frees of blocks that were never counted, e.g. older than the box */
	PFS_LOST_STACKS,   /* samples without a stack: no record was left */
	PFS_LOST_CONTEXTS, /* samples missing from context sums: no record was left */
	PFS_LOST_SAMPLES,  /* samples missing from the profile: no record was left */
	PFS_LOST_MODULES,  /* mapped files without a record */
	PFS_LOST_MAPPED,   /* ranges of the program's own mappings that did not fit */
	PFS_LOST_SAMPLE_BYTES, /* that the samples of PFS_LOST_SAMPLES stand for */
	PFS_LOST_THREAD_BYTES, /* allocated by lives without a record, in all */
	PFS_LOSTS
};

/* The program's own memory at a tick. All in bytes, except blocks. */
struct pfs_box_own {
	uint64_t tracked;   /* requested bytes of the counted blocks */
	uint64_t blocks;    /* number of these blocks */
	uint64_t headers;   /* headers in front of them */
	uint64_t allocated; /* class bytes of all blocks, counted or not; 0: not known */
	uint64_t cached, slab_free, dirty, metadata, mapped; /* of the allocator; 0: not known */
	uint64_t box;                                        /* of the box, resident */
	uint64_t accounts;                                   /* private memory of the accounts */
	uint64_t rss, rss_anon, rss_file, rss_shmem;         /* from /proc/self/status */
	/* A measurement, which may be older than the tick; measured_realtime_ns 0: never. Down to
	 * measured_moved: from /proc/self/status at its end, and by how much rss changed meanwhile.
	 * Below: from the page tables; resident, except program_mapped. */
	uint64_t measured_realtime_ns;
	uint64_t measured_rss, measured_rss_file, measured_rss_shmem, measured_moved;
	uint64_t heap;           /* mapped by the allocator and the accounts, without the box */
	uint64_t library;        /* .data and .bss of libpfsmem */
	uint64_t program_mapped; /* mapped by the program itself, without a file */
	uint64_t program_mapped_resident;
	uint64_t stacks;        /* of the threads that were seen */
	uint64_t files_changed; /* private pages of mapped files, such as .data */
	uint64_t brk;           /* the program's heap of brk, which the allocator does not use */
};

/* What the samples in use stand for, and when that was highest: profile.h. Any thread writes it. */
struct pfs_box_peak {
	_Atomic(uint64_t) sampled;     /* bytes, now */
	_Atomic(uint64_t) bytes;       /* at the last mark */
	_Atomic(uint64_t) realtime_ns; /* of the last mark; 0: none yet */
	_Atomic(uint64_t) marks;       /* marks so far */
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
	char rule[16];           /* how frees are credited: exact, freer, global, global_at_once */
	char build[32];
	uint32_t region_count;
	_Atomic(uint32_t) has_headers; /* blocks have headers instead of tags beside the slab; this
					* cache line is seldom written */
	uint32_t instruments_max;      /* columns of PFS_BOX_ROW_BASES */
	uint32_t tick_ms;              /* 0: no ticks */
	uint32_t profile_lg;           /* log2 of the mean bytes between samples; 0: no profile */
	_Atomic(uint32_t) owners_lost; /* owners of a memory trace without a record */
	uint32_t is_on_disk;           /* its resident pages count in rss_file; else in rss_shmem */
	_Atomic(uint64_t) ticks;       /* release, when a tick is written */
	_Atomic(uint64_t) moments;     /* [PM1] release, when a moment is written */
	_Atomic(uint64_t) end_realtime_ns; /* of a clean end */
	_Atomic(uint64_t) moves; /* odd while sums move between cells of different accounts */
	_Atomic(uint64_t) lost[PFS_LOSTS];
	struct pfs_box_peak peak;
	_Atomic(uint64_t) held; /* bytes at the end, plus 1, as keep.c found it; 0: not weighed */
	/* Memory corruption that ended the program; [J9] when its record is written. 0: none. */
	_Atomic(uint32_t) corruption; /* enum pfs_box_corruption_kind */
	uint32_t spare;
	uint64_t corrupted_bytes; /* of the block; 0: not known */
	char name[64];          /* what the program calls itself: the file name of its argv[0] */
	char why[128];          /* PFS_BOX_UNCOUNTED: the reason */
	char program[256];      /* its file */
	char command[1024];     /* arguments, separated by spaces, cut */
	struct pfs_box_region regions[PFS_BOX_REGIONS_MAX];
};
_Static_assert(sizeof(struct pfs_box_head) <= PFS_BOX_PAGE, "the head is one page");

struct pfs_box_control {
	_Atomic(uint32_t) generation;            /* changes when anything below changes; never 0 */
	_Atomic(uint32_t) truncates[PFS_TABLES]; /* TRUNCATEs so far */
	_Atomic(uint32_t) profile_off;           /* bit 0: no samples are taken */
	_Atomic(uint32_t) profile_lg; /* 1 to 62: as in the head; else the head's value */
	_Atomic(uint32_t) walks;      /* walk reports requested so far */
	_Atomic(uint32_t) switches;   /* not 0: PFS_BOX_SWITCHES has memory, and is to be read */
	_Atomic(uint32_t) spare[6];
	_Atomic(uint8_t) enabled[PFS_BOX_INSTRUMENTS_MAX]; /* by number; bit 0 */
	_Atomic(uint64_t) truncate_realtime_ns[PFS_TABLES];
	/* By number: a limit plus 1; 0: the limit in the owner's record applies. */
	_Atomic(uint64_t) owner_limits[PFS_BOX_OWNERS_MAX];
	_Atomic(uint64_t) limits[PFS_BOX_LIMITS_MAX]; /* the same for accounts and threads */
};
_Static_assert(sizeof(struct pfs_box_control) <= PFS_BOX_PAGE, "the control area is one page");

/* A reader changed something in the control area: make all owners look at it. */
static inline void pfs_box_announce(struct pfs_box_control *control)
{
	(void)pfs_fetch_add_seq(&control->generation, 1); /* [J5] seq, pairs with [J8] */
}

/* Appended to a box's path: the file for a walk report. The requester creates it. */
#define PFS_BOX_WALK_END ".walk"

/* Registered once, never removed. Its number is that of its record. */
struct pfs_box_instrument {
	char name[PFS_BOX_NAME_BYTES]; /* ended by 0 */
	uint32_t flags;
	uint32_t spare[15];
};
_Static_assert(sizeof(struct pfs_box_instrument) == 192, "whole lines");

/* One life of a thread: from begin to end. */
struct pfs_box_thread {
	uint64_t thread_id; /* never used again in a box */
	uint64_t begun_realtime_ns;
	uint32_t os_tid;
	uint32_t account, user, host; /* references; account 0: no record was left */
	uint32_t is_instrumented;
	uint32_t spare;
	char name[24];
};
_Static_assert(sizeof(struct pfs_box_thread) == 64, "a line");

/* INSTRUMENTED of a thread, as a reader set it. Any value is safe for the program. */
struct pfs_box_switch {
	_Atomic(uint64_t) value; /* thread_id * 2, plus 1 if it is on; of another life: not set */
};

/* An account, a user, or a host. */
struct pfs_box_account {
	uint64_t current_connections; /* threads now */
	uint64_t total_connections;   /* threads so far */
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
 * The counts of one instrument for one life of a thread, an account, a user, a host, or global.
 *
 * CURRENT_COUNT = allocs - frees - foreign frees, and the same for bytes; the difference is signed.
 * A row of a table is a sum over cells:
 *	thread    the thread's cell
 *	account   the account's, and those of its threads, including ended lives until their last
 *	          block is free
 *	user      the user's, its accounts' rows, and the cells of its threads without an account
 *	host      as for users
 *	global    the global one, all accounts' rows, and all cells of threads without an account
 * In a thread's cell marks[t] are its marks for table t. In the cell of an account, a user, a host,
 * and in the global one, marks[t].high_* is the sum of the high marks of the cells that were added
 * to it since the last tick, and marks[t].low_* is the highest estimate up to that tick:
 *	its HIGH = max(low_*, high_* + sum of the high marks of the remaining cells)
 * and the rows above sum these. The low mark of a cell that was added to another is 0. In the cell
 * of an ended life, marks[t].high_* above the thread's table are what was in use at the last tick,
 * because such a cell only loses blocks.
 * If epochs[t] differs from control.truncates[t], the cell has not changed its marks since that
 * TRUNCATE: the marks of a thread's cell are then those in PFS_BOX_CELL_BASES, all others are 0. If
 * they are equal, the high mark of a thread's cell is at least the value in PFS_BOX_CELL_BASES,
 * because other threads may have freed since the TRUNCATE; and a low mark is at most the current
 * value, because an owner looks at it when it allocates.
 *
 * Read the frees by other threads (word, foreign_bytes) first, then frees, then allocs. Then no
 * difference is below zero under the rule exact.
 */
struct pfs_cell {
	/* Cache line written by the thread alone; for other levels, under the desk. */
	alignas(PFS_LINE) _Atomic(uint64_t) allocs;
	_Atomic(uint64_t) alloc_bytes;
	_Atomic(uint64_t) frees;
	_Atomic(uint64_t) free_bytes;
	_Atomic(uint64_t) trap_count; /* when allocs - frees is above it, a mark may have to rise */
	_Atomic(uint64_t) trap_bytes;
	_Atomic(uint64_t) sample_at; /* alloc_bytes of the next sample; 0: to be drawn */
	_Atomic(uint32_t) seen;      /* control.generation when marks were last looked at */
	uint32_t tag;                /* its own, as in the tags of its blocks */
	/* Cache line written by any thread. */
	alignas(PFS_LINE) _Atomic(uint64_t) word; /* foreign frees, or K - blocks left */
	_Atomic(uint64_t) foreign_bytes;
	/* Written once, except owner; and the three below if the life gets another account. */
	alignas(PFS_LINE) _Atomic(uint32_t) owner; /* the thread's reference; 0: has ended */
	uint32_t level;                            /* enum pfs_cell_level */
	uint32_t instrument;                       /* reference */
	uint32_t thread;              /* reference, also after its end; 0: of no thread */
	uint32_t account, user, host; /* references; 0: none */
	_Atomic(uint32_t) next;       /* in the list of cells to fold */
	uint32_t reference;           /* its own */
	uint32_t line;                /* its own, as in the notes of its blocks, see books.h */
	uint32_t sample_lg;           /* the owner's: profile_lg when sample_at was drawn */
	_Atomic(uint32_t) epochs[PFS_TABLES];
	struct pfs_marks marks[PFS_TABLES];
};
_Static_assert(sizeof(struct pfs_cell) == 384, "whole lines");

/* word of a cell, with K = PFS_CELL_ENDED: the foreign frees of a running life, or K - blocks left
 * of an ended one. (docs/explanation/accounts.md) */
#define PFS_CELL_ENDED (UINT64_C(1) << 62)

/* A tick: the state of the memory at one moment. */
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
#define PFS_BOX_ARENA_OTHERS UINT32_MAX /* the sum of all that did not fit */
struct pfs_box_arena {
	uint32_t reference;            /* its number plus 1; 0: none; or PFS_BOX_ARENA_OTHERS */
	uint32_t threads;              /* bound to it */
	char pool[PFS_BOX_POOL_BYTES]; /* its thread pool; ended by 0; empty: none */
	/* Bytes. allocated: blocks of its slabs, and large ones; cached: blocks in its threads'
	 * rings, also of other arenas; resident: active, plus free but not yet purged. */
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
	_Atomic(uint64_t) gone_realtime_ns; /* when it was unmapped; 0: it is mapped */
	uint8_t build_id[32];
	uint32_t build_id_bytes;
	uint32_t spare;
	char path[432];
};
_Static_assert(sizeof(struct pfs_box_module) == 512, "whole lines");

/*
 * Memory corruption, as the allocator found it: an access to a guarded block, or a wrong pointer
 * given to a call. Written once, by a thread of a program that is about to end, so it has the files
 * that its stacks are in with it. head.corruption says whether it is there.
 */
enum pfs_box_corruption_kind {
	PFS_BOX_OVERFLOW = 1,
	PFS_BOX_UNDERFLOW,
	PFS_BOX_USE_AFTER_FREE,
	PFS_BOX_DOUBLE_FREE,
	PFS_BOX_INVALID_POINTER,
	PFS_BOX_CORRUPTION_KINDS
};
enum pfs_box_trace_of {
	PFS_BOX_TRACE_HERE,
	PFS_BOX_TRACE_ALLOCATED,
	PFS_BOX_TRACE_FREED,
	PFS_BOX_TRACES
};
#define PFS_BOX_TRACE_FRAMES 24u
#define PFS_BOX_TRACE_MODULES 24u
struct pfs_box_trace {
	uint32_t os_tid; /* 0: there is no trace */
	uint32_t depth, is_cut;
	uint32_t spare;
	char thread[16];                       /* its name */
	uint64_t frames[PFS_BOX_TRACE_FRAMES]; /* return addresses, the innermost first; the first
						* of an access is the instruction's own */
};
struct pfs_box_corruption {
	uint32_t kind;
	uint32_t access; /* 0: not known, 1: it read, 2: it wrote */
	uint64_t realtime_ns;
	uint64_t address;            /* accessed, found damaged, or given to the call */
	uint64_t block, block_bytes; /* 0: not known */
	char call[24]; /* that got the pointer, or found the damage; empty: an access */
	struct pfs_box_trace traces[PFS_BOX_TRACES];
	struct pfs_box_module modules[PFS_BOX_TRACE_MODULES]; /* up to the first without an end */
};

/* What a library or the program maps itself without a file: ranges and mapped now, resident as last
 * measured. */
#define PFS_BOX_MAPPERS_MAX 64u
struct pfs_box_mapper {
	char name[PFS_BOX_NAME_BYTES]; /* memory/<library>/mmap; ended by 0 */
	uint64_t ranges;
	uint64_t mapped, resident;     /* bytes */
	uint64_t measured_mapped;      /* mapped when resident was measured */
	uint64_t measured_realtime_ns; /* 0: never */
	uint64_t spare[3];
};
_Static_assert(sizeof(struct pfs_box_mapper) == 192, "whole lines");

/*
 * An owner of a memory trace: a named node of a tree, registered once, never removed. Its parent
 * has a lower number. Numbers are bytes. At rest, sum = own + the children's sums, and reserved =
 * sum. A program that was killed during an add leaves a difference of that add's bytes.
 */
#define PFS_BOX_OWNER_DEPTH 16u
#define PFS_BOX_OWNER_MOST (UINT64_C(1) << 62)
struct pfs_box_owner {
	alignas(PFS_LINE) _Atomic(uint64_t) reserved; /* sum, plus adds in progress */
	_Atomic(uint64_t) own;
	_Atomic(uint64_t) sum;     /* never above a limit that refuses */
	_Atomic(uint64_t) high;    /* the most that sum ever was */
	_Atomic(uint64_t) limit;   /* PFS_BOX_OWNER_MOST: none. control.owner_limits overrides it */
	_Atomic(uint64_t) refused; /* adds refused by this limit */
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
 * A limit on the bytes in use by the program, a thread, an account or a user. Only the limit and
 * its refusals change after creation. control.limits overrides it. The first four always exist.
 */
enum pfs_box_scope {
	PFS_SCOPE_PROGRAM = 1,
	PFS_SCOPE_EACH_THREAD,
	PFS_SCOPE_EACH_ACCOUNT, /* without a limit of its own */
	PFS_SCOPE_EACH_USER,    /* the same */
	PFS_SCOPE_ACCOUNT,      /* the one of this name */
	PFS_SCOPE_USER
};
#define PFS_BOX_NO_LIMIT UINT64_MAX
struct pfs_box_limit {
	_Atomic(uint64_t) bytes;   /* or PFS_BOX_NO_LIMIT */
	_Atomic(uint64_t) refused; /* allocations */
	/* The last refusal. */
	_Atomic(uint64_t) last_bytes, last_thread_id, last_realtime_ns;
	_Atomic(uint32_t) last_instrument; /* reference; 0: none yet */
	_Atomic(uint32_t) scope;           /* 0: no limit */
	uint16_t has_user, has_host;       /* 0: NULL */
	_Atomic(uint32_t) is_used;         /* of a named one: a thread was subject to it */
	_Atomic(uint64_t) held; /* bytes in use never exceeded held - 1; 0: no such bound */
	char user_name[PFS_BOX_USER_BYTES]; /* ended by 0 */
	char host_name[PFS_BOX_HOST_BYTES];
};
_Static_assert(sizeof(struct pfs_box_limit) == 384, "whole lines");

/* The current values of a cell at a TRUNCATE of table t. Only readers write and read it. */
struct pfs_box_cell_base {
	uint32_t cell_word;          /* the cell's pfs_lock word: its life */
	uint32_t epochs[PFS_TABLES]; /* control.truncates[t] after it; 0: none */
	struct {
		uint64_t count, bytes;
	} current[PFS_TABLES];
};

/* What a TRUNCATE subtracts from a row's COUNT_ALLOC and COUNT_FREE, and from its sums of bytes. */
struct pfs_box_row_base {
	uint32_t record_word; /* of the thread, account, user or host; global: 0 */
	uint32_t epoch;
	uint64_t count, bytes;
};

#endif
