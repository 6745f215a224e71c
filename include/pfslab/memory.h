/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.h - exact accounts of memory: how many bytes each thread, account and instrument holds.
 *
 * The accounts are in a file (the box). Other processes can read it while the program runs
 * and after it was killed.
 *
 * A program opens its books and registers instruments, classes of memory named
 * memory/<module>/<what>. It reports when threads begin and end, for which user they work, and the
 * size of each block that it allocates and frees. For each block it gets a note of 8 bytes, which
 * it keeps with the block; the calls at the end of this file keep it in a header of 16 bytes.
 *
 * The books have a row for each pair of a thread (or account) and an instrument. A rule decides
 * which row a free is credited to. With exact it is the row that was charged for the allocation,
 * whichever thread frees the block: no row falls below zero, and rows add up. The rules of the real
 * systems are available for comparison: freer (MySQL 5.7, MariaDB) and global (newer MySQL 8.0).
 *
 * Only the thread itself may make calls with its struct pfs_memory_thread; it may free blocks of
 * any thread. No call may be made from a signal handler. Calls that do not name a memory order have
 * none beyond their locks.
 *
 * fork: the child has its own books and its own box. They begin with what the child inherited.
 * Without memory for its copy, the child counts nothing: calls return as if there were no room.
 * _Fork and the system call clone run no fork handlers: such a child must not make any call.
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
struct pfs_memory_thread; /* one life of a thread in the books */

struct pfs_memory_config {
	const char *folder;        /* of the box; NULL: PFS_MEM_DIR, or /dev/shm/pfslab-<uid> */
	const char *rule;          /* exact, freer, global or global_at_once */
	uint32_t instruments_max;  /* 0 .. 1024; as performance_schema_max_memory_classes */
	uint32_t threads_max;      /* at a time; 1 .. 65536 */
	uint32_t accounts_max;     /* and as many users and hosts; 0 .. 65536 */
	uint32_t cells_max;        /* one for each pair of a thread or account and an instrument */
	uint32_t trace_owners_max; /* owners of the memory trace (memory_trace.h); 0 .. 256 */
	uint32_t tick_ms;          /* 0: only pfs_memory_tick makes ticks */
	bool keep;                 /* keep the box when the books are closed */
	bool is_private;           /* no file: only this process can read it */
	uint32_t profile_lg;       /* heap profile: one sample in 2^profile_lg bytes; 0: none. Only
				    * with rule exact, and only blocks of pfs_memory_malloc */
	uint32_t stacks_max, contexts_max, samples_max; /* of the profile; 1 .. 16777216 */
};

/*
 * pfs_memory_config_init - set the defaults: rule exact, 250 instruments, 16384 threads, 4096
 * accounts, 262144 cells, a tick each second, the box removed by pfs_memory_close, no profile.
 *
 * Progress  wait-free.
 */
void pfs_memory_config_init(struct pfs_memory_config *config);

/*
 * pfs_memory_open - open empty books and make their box.
 *
 * Returns   PFS_OK and *memory; or an error with one line in *message (may be NULL), and nothing
 *           was made.
 * Errors    PFS_BAD_CONFIG (a value, the folder, a set-uid program), PFS_NO_MEMORY.
 * Progress  blocking (set-up).
 */
enum pfs_status pfs_memory_open(const struct pfs_memory_config *config, struct pfs_books **memory,
				struct pfs_message *message);

/* pfs_memory_close - close the books. Every thread must have ended its life, and none may be inside
 * a call. The box is removed, or kept and marked as ended. NULL is allowed. Blocking. */
void pfs_memory_close(struct pfs_books *memory);

/* pfs_memory_path - the file name of the box; NULL if it is private. Wait-free. */
const char *pfs_memory_path(const struct pfs_books *memory);

/* An instrument. What is allocated under instrument 0 is not counted. */
typedef uint32_t pfs_memory_key;

/*
 * pfs_memory_register - register an instrument by its name, memory/<module>/<what>, at most 127
 * bytes.
 *
 * Returns   its key, the same for the same name; 0: not a valid name, or all instruments_max are
 *           taken (counted as lost).
 * Progress  blocking.
 */
pfs_memory_key pfs_memory_register(struct pfs_books *memory, const char *name);

/* pfs_memory_enable - set whether later allocations under an instrument are counted. A block that
 * was counted when it was allocated is always counted when it is freed. Takes effect at each
 * thread's next call. Wait-free. */
void pfs_memory_enable(struct pfs_books *memory, pfs_memory_key key, bool enabled);

/*
 * pfs_memory_thread_begin - begin a life of the calling thread in the books.
 *
 * user, host: for whom it works; both, or both NULL, name an account. A user without a host is a
 * user alone, a host without a user a host alone. instrumented false: its frees are counted, its
 * allocations are not. Each life has its own THREAD_ID.
 *
 * Returns   the life; NULL: no memory, or threads_max lives exist (counted as lost). Every call
 *           accepts NULL, and then counts no allocation.
 * Progress  blocking.
 */
struct pfs_memory_thread *pfs_memory_thread_begin(struct pfs_books *memory, const char *name,
						  const char *user, const char *host,
						  bool instrumented);

/*
 * pfs_memory_thread_end - end a life. Its statistics are added to its account; without an account,
 * to its user and host; without these, to global. If the life still has blocks in use under an
 * instrument, that instrument's statistics are added when the last of them is freed (rule exact).
 * Any thread may call it while no other call uses this life.
 *
 * Progress  blocking.
 */
void pfs_memory_thread_end(struct pfs_memory_thread *thread);

/*
 * pfs_memory_thread_account - set for whom a life works from here on, as when a connection logs in.
 * All that the life holds and has counted moves from its account to the new one. NULL: no one.
 *
 * Returns   true; false: the life is NULL, or there is no memory for the new account, and nothing
 *           has changed. Another life can then begin instead.
 * Progress  blocking. Usage of the new account may exceed a limit, as by pfs_memory_claimed.
 */
bool pfs_memory_thread_account(struct pfs_memory_thread *thread, const char *user,
			       const char *host);

/*
 * Limits. There can be a limit on usage for the program, for each thread, account or user, and for
 * an account or user by name. Usage is the sum of CURRENT_NUMBER_OF_BYTES_USED over all
 * instruments. An allocation that would exceed a limit fails as if there were no memory. (MySQL has
 * connection_memory_limit and global_connection_memory_limit.)
 *
 * Guarantee: usage never exceeds the limit, not even by one byte. The guarantee covers each
 * thread's allocations after its first call since the limit was set. It does not cover
 * pfs_memory_resized, pfs_memory_claimed and pfs_memory_claim, which report what has already
 * happened. An allocation is refused only if it does not fit at that moment; a resize in progress
 * counts with both its old and its new size. Lowering a limit frees nothing: allocations are
 * refused until enough has been freed.
 *
 * Cost: none for a thread without a limit. A thread with a limit takes one lock, shared by all such
 * threads, for each block that it allocates; frees cost nothing extra. Near the limit each
 * allocation adds up the cells of all threads.
 */
enum pfs_memory_scope {
	PFS_MEMORY_PROGRAM = 1,
	PFS_MEMORY_EACH_THREAD,
	PFS_MEMORY_EACH_ACCOUNT, /* without a limit of its own */
	PFS_MEMORY_EACH_USER,    /* without a limit of its own */
	PFS_MEMORY_ACCOUNT,
	PFS_MEMORY_USER
};
#define PFS_MEMORY_NO_LIMIT UINT64_MAX

/*
 * pfs_memory_limit - set the largest number of bytes in use, from each thread's next call on.
 *
 * user and host name an account (PFS_MEMORY_ACCOUNT), user alone a user (PFS_MEMORY_USER); NULL
 * stands for the empty name. For the other scopes both are NULL. limit_bytes PFS_MEMORY_NO_LIMIT
 * removes the limit; for a name it also overrides the EACH limit. The call replaces a limit that a
 * tool has set (UPDATE memory_limits). Only with the rule exact.
 *
 * Returns   PFS_OK; or an error with one line in *message (may be NULL), and nothing has changed.
 * Errors    PFS_BAD_CONFIG (no such scope, a name that is too long, another rule), PFS_NO_MEMORY
 *           (28 names have limits already, or the box has no room).
 * Progress  blocking.
 */
enum pfs_status pfs_memory_limit(struct pfs_books *memory, enum pfs_memory_scope scope,
				 const char *user, const char *host, uint64_t limit_bytes,
				 struct pfs_message *message);

/*
 * pfs_memory_limit_text - set limits from text, as in PFS_MEM_LIMIT: SCOPE=SIZE, separated by
 * commas. SCOPE is program, thread, account, user, account:USER@HOST or user:USER (an empty name is
 * NULL). SIZE is a number of bytes, may end in K, M, G or T, or is none.
 *
 * Returns   as pfs_memory_limit. Limits before an invalid one remain set.
 * Progress  blocking.
 */
enum pfs_status pfs_memory_limit_text(struct pfs_books *memory, const char *text,
				      struct pfs_message *message);

/* What the caller keeps with a block; reference 0: the block is not counted. */
struct pfs_memory_note {
	uint32_t reference;
	uint32_t reserved; /* PFS_MEMORY_REFUSED or 0 */
};
#define PFS_MEMORY_REFUSED 1u

/*
 * pfs_memory_allocated - report an allocated block; returns the note to keep with it.
 *
 * A block is not counted if the thread is not instrumented, if the instrument is not enabled, or if
 * there is no memory for a cell (counted as lost). If a limit refuses the block, reserved is
 * PFS_MEMORY_REFUSED and reference 0: the caller must free the block and fail.
 *
 * Progress  wait-free; blocking at a thread's first use of an instrument, and with a limit.
 * Order     none: the program passes the note to other threads together with the block.
 */
struct pfs_memory_note pfs_memory_allocated(struct pfs_memory_thread *thread, pfs_memory_key key,
					    size_t size_bytes);

/* pfs_memory_freed - report a block before it is freed; size_bytes as reported when it was
 * allocated. thread is the life that frees it. Wait-free; lock-free for the last block of an ended
 * life. */
void pfs_memory_freed(struct pfs_books *memory, struct pfs_memory_thread *thread,
		      struct pfs_memory_note note, size_t size_bytes);

/* pfs_memory_resized - report a free of before_bytes and an allocation of after_bytes by the
 * calling thread, under the same instrument. A block that was not counted stays uncounted. Progress
 * as pfs_memory_freed and pfs_memory_allocated. */
struct pfs_memory_note pfs_memory_resized(struct pfs_books *memory,
					  struct pfs_memory_thread *thread,
					  struct pfs_memory_note note, size_t before_bytes,
					  size_t after_bytes);

/* pfs_memory_claimed - charge the block to the calling thread: as pfs_memory_resized with an
 * unchanged size. */
struct pfs_memory_note pfs_memory_claimed(struct pfs_books *memory,
					  struct pfs_memory_thread *thread,
					  struct pfs_memory_note note, size_t size_bytes);

/* pfs_memory_tick - make one tick now: marks and history. Blocking. */
void pfs_memory_tick(struct pfs_books *memory);

/*
 * Blocks of malloc with a header of 16 bytes, which holds note and size. They behave as malloc,
 * realloc and free. NULL with errno ENOMEM: no memory, or a limit. Passing a pointer to any other
 * block is a bug; it is caught unless the bytes before it look like a header. Progress: that of
 * malloc, and that of the reports above.
 */
void *pfs_memory_malloc(struct pfs_books *memory, struct pfs_memory_thread *thread,
			pfs_memory_key key, size_t size_bytes);
void *pfs_memory_realloc(struct pfs_books *memory, struct pfs_memory_thread *thread,
			 pfs_memory_key key, void *block, size_t size_bytes);
void pfs_memory_free(struct pfs_books *memory, struct pfs_memory_thread *thread, void *block);
/* pfs_memory_claim - charge the block to the calling thread; the heap profile records it as
 * allocated here. */
void pfs_memory_claim(struct pfs_books *memory, struct pfs_memory_thread *thread, void *block);

#ifdef __cplusplus
}
#endif
#endif
