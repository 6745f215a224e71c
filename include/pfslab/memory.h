/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h - exact accounts of memory: how many bytes each thread, account and instrument holds.
 * They are kept in a file (the box) that others can read while the program runs, and after it was
 * killed.
 *
 * A program opens its books and registers instruments (memory/<module>/<what>). It reports when
 * threads begin and end and for whom they work, and the size of each block that it allocates and
 * frees. For each block it gets a note of 8 bytes, which it keeps with the block; the calls at the
 * end of this file keep it in a header of 16 bytes.
 *
 * With the rule exact a free is credited to the row that the allocation was charged to, whichever
 * thread frees the block. No row falls below zero, and rows add up. The rules of the real systems
 * are available for comparison: freer (MySQL 5.7, MariaDB) and global (MySQL 8.0).
 *
 * A call with a struct pfs_memory_thread must be made by that thread; it may free blocks of any
 * thread. No call may be made from a signal handler.
 *
 * fork: the child has its own books and its own box. They begin with what the child inherited.
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
 * Limits. The program, each thread, each account, each user, and an account or user by name can
 * have a limit on usage: the sum of CURRENT_NUMBER_OF_BYTES_USED over all instruments. An
 * allocation that would exceed a limit fails as if there were no memory. (MySQL has
 * connection_memory_limit and global_connection_memory_limit.)
 *
 * Guarantee: usage never exceeds the limit, not even by one byte. It covers what was allocated
 * after each thread's first call that followed the setting of the limit. It does not cover
 * pfs_memory_resized, pfs_memory_claimed and pfs_memory_claim, which report what has already
 * happened. An allocation is refused only if it does not fit at that moment; a resize in progress
 * counts with both its old and its new size. Lowering a limit frees nothing: allocations are
 * refused until enough has been freed.
 *
 * Cost: none for a thread without a limit. A thread with a limit takes one lock, shared by all such
 * threads, for each block that it allocates; frees cost the same as before. Near the limit each
 * allocation adds up the cells of all threads.
 */
enum pfs_memory_scope {
	PFS_MEMORY_PROGRAM = 1,
	PFS_MEMORY_EACH_THREAD,
	PFS_MEMORY_EACH_ACCOUNT, /* that has no limit of its own */
	PFS_MEMORY_EACH_USER,    /* that has no limit of its own */
	PFS_MEMORY_ACCOUNT,
	PFS_MEMORY_USER
};
#define PFS_MEMORY_NO_LIMIT UINT64_MAX

/*
 * pfs_memory_limit - set the most bytes that may be in use, from each thread's next call on.
 *
 * user and host name an account (PFS_MEMORY_ACCOUNT), user alone a user (PFS_MEMORY_USER); NULL
 * stands for the empty name. For the other scopes both are NULL. limit_bytes PFS_MEMORY_NO_LIMIT
 * removes the limit; for a name it also overrides the limit of its kind. It replaces a limit that a
 * tool has set (UPDATE memory_limits). Only with the rule exact.
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
 * pfs_memory_allocated - report an allocated block; returns the note to keep with it.
 *
 * A block is not counted if the thread is not instrumented, if the instrument is not enabled, or if
 * there is no memory for a cell (that is counted as lost). If a limit refuses the block, reserved
 * is PFS_MEMORY_REFUSED and reference 0: the caller must free the block and fail.
 * Progress  wait-free; blocking at a thread's first use of an instrument, and with a limit.
 * Order     the note goes to other threads with the block, by the program's own means.
 */
struct pfs_memory_note pfs_memory_allocated(struct pfs_memory_thread *thread, pfs_memory_key key,
					    size_t size_bytes);

/* pfs_memory_freed - before a block is freed; size_bytes as it was told at its allocation.
 * thread: who frees it. Wait-free; the last block of a life that has ended: lock-free. */
void pfs_memory_freed(struct pfs_books *memory, struct pfs_memory_thread *thread,
		      struct pfs_memory_note note, size_t size_bytes);

/* pfs_memory_resized - a free of before_bytes, and an allocation of after_bytes by the calling
 * thread under the same instrument. A block that was not counted stays uncounted. */
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
