/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h - exact accounts of memory: which thread, which account, which instrument has how many
 * bytes, kept in a file (the box) that others read while the program runs, and after it was killed.
 *
 * A program opens its books, registers instruments (memory/<module>/<what>), tells when threads
 * begin and end and for whom they work, and says for each block that it allocates and frees how
 * large it is. What it gets for a block, a note of 8 bytes, it keeps with the block; the calls at
 * the end of this file do that in a header of 16 bytes.
 *
 * A block is credited where it was debited, whoever frees it and whenever (rule exact): no row
 * is ever below zero, and rows add up. The rules of the real systems are here, too, to be compared:
 * freer (MySQL 5.7, MariaDB) and global (MySQL 8.0).
 *
 * Calls that get a struct pfs_memory_thread are for the thread whose that is; free may be called
 * with any thread's blocks. No call may be made from a signal handler.
 *
 * fork: the child has books of its own, with a box of its own, which begin with what it inherited.
 *
 * Source: the tables, instruments and rules of MySQL WL#3249; docs/explanation/accounts.md has the
 * protocol.
 */
#ifndef PFSLAB_MEMORY_H
#define PFSLAB_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfslab/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfs_books;         /* the books of a program */
struct pfs_memory_thread; /* one life of a thread in them */

struct pfs_memory_config {
	const char *folder;        /* of the box; NULL: PFS_MEM_DIR, or /dev/shm/pfslab-<uid> */
	const char *rule;          /* exact, freer, global */
	uint32_t instruments_max;  /* 0 .. 1024; performance_schema_max_memory_classes */
	uint32_t threads_max;      /* at once; 1 .. 65536 */
	uint32_t accounts_max;     /* and so many users, and hosts; 0 .. 65536 */
	uint32_t cells_max;        /* a thread's or an account's share of an instrument, each */
	uint32_t trace_owners_max; /* of a memory trace (memory_trace.h); 0 .. 256 */
	uint32_t tick_ms;          /* 0: no ticks but by pfs_memory_tick */
	bool keep;                 /* the box stays when the books are closed */
	bool is_private;           /* no file: nobody else reads it */
	uint32_t profile_lg;       /* a heap profile: one sample in 2 to it bytes; 0: none; of rule
				    * exact alone, and of blocks of pfs_memory_malloc */
	uint32_t stacks_max, contexts_max, samples_max; /* of it; 1 .. 16777216 */
};

/*
 * pfs_memory_config_init - the defaults: rule exact, 250 instruments, 16384 threads, 4096 accounts,
 * 262144 cells, a tick each second, the box goes with a clean end, no profile.
 *
 * Progress  wait-free.
 */
void pfs_memory_config_init(struct pfs_memory_config *config);

/*
 * pfs_memory_open - the books, empty, and their box.
 *
 * Returns   PFS_OK and *memory; or PFS_BAD_CONFIG (a value, the folder, a set-uid program) or
 *           PFS_NO_MEMORY with one line in *message (may be NULL), and nothing was made.
 * Progress  blocking (set-up).
 */
enum pfs_status pfs_memory_open(const struct pfs_memory_config *config, struct pfs_books **memory,
				struct pfs_message *message);

/* pfs_memory_close - the end of the books. No thread may be between its begin and end, or inside
 * a call. The box is removed, or kept and marked as ended. NULL is fine. Blocking. */
void pfs_memory_close(struct pfs_books *memory);

/* pfs_memory_path - the file name of the box; NULL: it is private. */
const char *pfs_memory_path(const struct pfs_books *memory);

/* An instrument; 0: none, what is allocated under it is not counted. */
typedef uint32_t pfs_memory_key;

/*
 * pfs_memory_register - an instrument by its name, memory/<module>/<what>, at most 127 bytes.
 *
 * Returns   its key, the same for the same name; 0: the name is no such one, or all
 *           instruments_max are taken, which is counted as lost.
 * Progress  blocking.
 */
pfs_memory_key pfs_memory_register(struct pfs_books *memory, const char *name);

/* pfs_memory_enable - is what is allocated under an instrument from now on counted? What was
 * counted when it was allocated is counted when it is freed, always. For all threads, each at its
 * next call. Wait-free. */
void pfs_memory_enable(struct pfs_books *memory, pfs_memory_key key, bool enabled);

/*
 * pfs_memory_thread_begin - the calling thread begins a life in the books.
 *
 * user, host: for whom it works; NULL: nobody. instrumented false: nothing that it allocates is
 * counted; what it frees is. Each life has another THREAD_ID.
 * Returns   the life; NULL: no memory, or threads_max are there, which is counted as lost; all
 *           calls take NULL, and what is allocated then is not counted.
 * Progress  blocking.
 */
struct pfs_memory_thread *pfs_memory_thread_begin(struct pfs_books *memory, const char *name,
						  const char *user, const char *host,
						  bool instrumented);

/*
 * pfs_memory_thread_end - the life ends. Its statistics go to its account (else to user and host,
 * else to global), but for those that still have blocks in use: these follow when the last of
 * them is free (rule exact).
 *
 * By any thread, while no call with it is being made. Progress: blocking.
 */
void pfs_memory_thread_end(struct pfs_memory_thread *thread);

/*
 * Limits. What the program, each thread, each account or each user has in use, or an account or a
 * user of a name, may have a limit: the sum of CURRENT_NUMBER_OF_BYTES_USED over all instruments.
 * An allocation that would take one of these above its limit is refused, like one for which there
 * is no memory (MySQL has this as connection_memory_limit and global_connection_memory_limit).
 *
 * Guarantee: what is in use is at no moment above a limit, by not one byte, for all that was
 * allocated since each thread's first call after the limit was set; but for what was resized or
 * claimed by pfs_memory_resized, pfs_memory_claimed and pfs_memory_claim, which tell of what has
 * been done. Refused is only what would be above it together with what is in use at that moment and
 * with resizes that are under way, whose new sizes count beside the old ones until they are done.
 * A lower limit takes nothing away: what is in use stays, and nothing is granted until enough of it
 * is free.
 *
 * Cost: none to a thread without a limit. One with a limit takes a lock for each block that it
 * allocates, one lock for all of them; what it frees costs as before. Where little is left, each
 * allocation adds up the cells of all threads.
 */
enum pfs_memory_scope {
	PFS_MEMORY_PROGRAM = 1,
	PFS_MEMORY_EACH_THREAD,
	PFS_MEMORY_EACH_ACCOUNT, /* that has no limit of its own */
	PFS_MEMORY_EACH_USER,    /* likewise */
	PFS_MEMORY_ACCOUNT,
	PFS_MEMORY_USER
};
#define PFS_MEMORY_NO_LIMIT UINT64_MAX

/*
 * pfs_memory_limit - no more than so many bytes in use, from each thread's next call on.
 *
 * user, host: of PFS_MEMORY_ACCOUNT, and of PFS_MEMORY_USER without host; NULL: none, which is a
 * name as any; of the other scopes NULL. limit_bytes PFS_MEMORY_NO_LIMIT: none; with it a name has
 * none, whatever each one has. What a tool set from outside (UPDATE memory_limits) is passed over.
 * Only of rule exact.
 *
 * Returns   PFS_OK; or PFS_BAD_CONFIG (no such scope, a name that is too long, another rule) or
 *           PFS_NO_MEMORY (28 names have one, or there is no room in the box) with one line in
 *           *message (may be NULL), and nothing has changed.
 * Progress  blocking.
 */
enum pfs_status pfs_memory_limit(struct pfs_books *memory, enum pfs_memory_scope scope,
				 const char *user, const char *host, uint64_t limit_bytes,
				 struct pfs_message *message);

/*
 * pfs_memory_limit_text - limits as text, as in PFS_MEM_LIMIT: SCOPE=SIZE, with a comma between
 * two. SCOPE is program, thread, account, user, account:USER@HOST or user:USER (empty: NULL); SIZE
 * bytes, or with K, M, G, T behind the number, or none.
 *
 * Returns   as pfs_memory_limit; those before the one that is wrong are set.
 */
enum pfs_status pfs_memory_limit_text(struct pfs_books *memory, const char *text,
				      struct pfs_message *message);

/* What the caller keeps of a block that is counted; reference 0: it is not. */
struct pfs_memory_note {
	uint32_t reference;
	uint32_t reserved; /* PFS_MEMORY_REFUSED, or 0 */
};
#define PFS_MEMORY_REFUSED 1u

/*
 * pfs_memory_allocated - a block was allocated: is it counted, and as whose?
 *
 * Not counted if the thread is not instrumented, or the instrument not enabled, or no memory is
 * there for a cell (counted as lost). Where a limit refuses it, reserved is PFS_MEMORY_REFUSED, and
 * reference 0: the caller frees the block, and fails.
 * Progress  wait-free; blocking at a thread's first use of an instrument, and with a limit.
 * Order     the note goes to other threads with the block, by the program's own means.
 */
struct pfs_memory_note pfs_memory_allocated(struct pfs_memory_thread *thread, pfs_memory_key key,
					    size_t size_bytes);

/* pfs_memory_freed - before a block is freed; size_bytes as it was told at its allocation.
 * thread: who frees it. Wait-free; the last block of a life that has ended: lock-free. */
void pfs_memory_freed(struct pfs_books *memory, struct pfs_memory_thread *thread,
		      struct pfs_memory_note note, size_t size_bytes);

/* pfs_memory_resized - a free of so many bytes, and an allocation by the calling thread under
 * the same instrument. A block that was not counted is not counted. */
struct pfs_memory_note pfs_memory_resized(struct pfs_books *memory,
					  struct pfs_memory_thread *thread,
					  struct pfs_memory_note note, size_t before_bytes,
					  size_t after_bytes);

/* pfs_memory_claimed - the block is the calling thread's from now on. As a resize to its size. */
struct pfs_memory_note pfs_memory_claimed(struct pfs_books *memory,
					  struct pfs_memory_thread *thread,
					  struct pfs_memory_note note, size_t size_bytes);

/* pfs_memory_tick - one tick, now: marks, history. Blocking. */
void pfs_memory_tick(struct pfs_books *memory);

/*
 * Blocks of malloc with a header of 16 bytes in front, which holds note and size. As malloc,
 * realloc and free; NULL: no memory, or a limit, and errno is ENOMEM. A pointer that is no such
 * block is a bug; it is caught, unless its header looks like one.
 */
void *pfs_memory_malloc(struct pfs_books *memory, struct pfs_memory_thread *thread,
			pfs_memory_key key, size_t size_bytes);
void *pfs_memory_realloc(struct pfs_books *memory, struct pfs_memory_thread *thread,
			 pfs_memory_key key, void *block, size_t size_bytes);
void pfs_memory_free(struct pfs_books *memory, struct pfs_memory_thread *thread, void *block);
/* The block is the calling thread's from now on; in the heap profile as if it were allocated
 * here. */
void pfs_memory_claim(struct pfs_books *memory, struct pfs_memory_thread *thread, void *block);

#ifdef __cplusplus
}
#endif
#endif
