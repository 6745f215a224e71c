/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * container.h - lock-free containers of fixed-size records in pages.
 *
 * A record is FREE, DIRTY (one owner is writing) or ALLOCATED (readable), with a version that
 * grows by one at each publish. A thread attaches to a container once and passes its handle
 * to every call; a handle belongs to one thread at a time. Records may be freed by any
 * attached thread.
 *
 *	struct pfs_claim claim = pfs_allocate(thread);      FREE -> DIRTY
 *	... write claim.record ...
 *	pfs_publish(thread, claim);                         DIRTY -> ALLOCATED, version + 1
 *	pfs_free(thread, claim.record);                     ALLOCATED -> FREE
 *
 * Freeing what is not ALLOCATED, or publishing what is not DIRTY with the claim's word, is a
 * bug of the caller: it is reported on stderr in one line and the process aborts.
 *
 * fork. The child of fork may make every call, on every container that its parent had, whatever
 * the parent's other threads were doing; fork itself waits until none of them is adding a page,
 * in a reclaim pass, attaching or detaching. In the child
 *	- the handles of the forking thread go on, also inside a read section. Those that other
 *	  threads attached (and it did not pfs_thread_adopt) are detached: their sections are over,
 *	  and attach may return them again; until it has, to detach one by hand does nothing;
 *	- records that other threads owned stay as they are, DIRTY or ALLOCATED. A walk finds the
 *	  ALLOCATED ones, and they may be freed. A thread that was inside allocate, abandon or free
 *	  may keep one record more from everybody;
 *	- the background thread is started again by the first attach, detach, added page or reclaim
 *	  call of the child; a child that calls exec never has it;
 *	- pages of a memory source that are mapped MAP_SHARED are the parent's, too: two processes
 *	  that use one container overwrite each other's records. Destroying it is fine if unmap
 *	  only unmaps.
 * map, unmap and resident of a source must not fork; one with locks and fork handlers of its own
 * registers these before the first container is made. posix_spawn, system and vfork do not wait,
 * and copy nothing. After _Fork, or clone by hand, a child must not use any container.
 *
 * Signal handlers may call pfs_read_begin, pfs_read_end, pfs_version, pfs_bytes_load and
 * pfs_thread_status. With a handle that nothing else uses while the handler runs, attached
 * before, also pfs_enter, pfs_leave, pfs_lookup, pfs_lookup_address, pfs_owns, pfs_index, walks,
 * pfs_reopen, pfs_bytes_store, pfs_publish, pfs_abandon and pfs_free (the last two not with
 * mutex_list and malloc, which lock). No other call, and none that allocates: they lock, or ask
 * for memory.
 * Never jump out of a call.
 *
 * Destructors. A container may be destroyed by an atexit handler or a static destructor, as long
 * as no thread uses it any more; nothing of the library is torn down before. A thread that ends
 * must have detached, or its handle is lost until destroy; handles by pfs_thread_current are
 * detached by themselves. Before dlclose of what the library is linked into, destroy all
 * containers; threads may live on.
 */
/*
 * Without words. In the layout bare (PFS_LAYOUT_BARE) without bare_words a record has no pfs_lock
 * word. A record is in use unless the policy's index shows it free. Then
 *	- pfs_publish and pfs_reopen do nothing. A double free is caught by the record's bit:
 *	  by exact at once; by magazine when the second free reaches the bits, unless the record
 *	  was allocated again before;
 *	- optimistic reads and weak references do not work: pfs_read_end always returns false,
 *	  pfs_version 0, and pfs_reference_of {PFS_INDEX_NONE, 0}, which finds nothing;
 *	- pfs_lookup, pfs_lookup_address, pfs_owns and PFS_WALK_LIVE may report free records as
 *	  in use: those in a thread's ring or in a block, and those of a page that is being
 *	  given back. They report every record that stays in use during the call, DIRTY too;
 *	- pfs_container_live also counts the free records in rings and blocks.
 * The handle of such a container lacks PFS_TRAIT_WORDS, even if its policy has it.
 *
 * In a process that has or had a container of the layout bare, calls with a record and no handle
 * (pfs_read_begin, pfs_read_end, pfs_version) look the record up by its address, in every layout.
 */
#ifndef PFSLAB_CONTAINER_H
#define PFSLAB_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pfslab/config.h>
#include <pfslab/counts.h>
#include <pfslab/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfs_container;
struct pfs_thread;
struct pfs_variant;

/* A record that its caller owns and has not published: its bytes, and the dirty word that
 * publish and abandon need. record == NULL: none. */
struct pfs_claim {
	void *record;
	uint32_t dirty_word;
	int32_t word_offset; /* from the record's bytes to its word; 0: publish by a call */
};

/* The word of a record at the start of an optimistic read. */
struct pfs_glance {
	uint32_t word;
};

#define PFS_INDEX_NONE UINT64_MAX

/* Calls that calls.h inlines, where the compiler can and PFS_NO_INLINE does not forbid it. */
#if defined(__GNUC__) && (defined(__cplusplus) || defined(__GNUC_STDC_INLINE__)) && \
	!defined(PFS_NO_INLINE)
#define PFS_INLINED inline
#else
#define PFS_INLINED
#endif

/*
 * pfs_container_create - a container bound to one policy, with its preallocated pages.
 *
 * Returns   PFS_OK and *container, or why not; then nothing was made and *message (may be
 *           NULL) holds one line.
 * Errors    PFS_BAD_VARIANT (NULL, as pfs_variant_find gives for an unknown name),
 *           PFS_BAD_CONFIG, PFS_NO_NODE, PFS_NO_MEMORY.
 * Progress  blocking (set-up).
 * Order     none: hand the pointer over with your own synchronization.
 */
enum pfs_status pfs_container_create(const struct pfs_variant *variant,
				     const struct pfs_config *config,
				     struct pfs_container **container, struct pfs_message *message);

/*
 * pfs_container_destroy - stop the background pass, give back all memory. NULL is fine.
 *
 * Returns   nothing. No thread may be inside a call, hold a handle (but by
 *           pfs_thread_current, and then not use it) or use a record.
 * Errors    none.
 * Progress  blocking.
 * Order     none.
 */
void pfs_container_destroy(struct pfs_container *container);

/*
 * pfs_thread_attach - make the calling thread known to the container.
 *
 * Returns   PFS_OK and *thread, or PFS_NO_MEMORY. Any number of threads may attach; handles
 *           of threads that left are used again.
 * Errors    PFS_NO_MEMORY; the container is unchanged.
 * Progress  blocking (a mutex of attach and detach only).
 * Order     a handle that is used again carries the work of the thread that left it.
 */
enum pfs_status pfs_thread_attach(struct pfs_container *container, struct pfs_thread **thread);

/*
 * pfs_thread_detach - give the handle back. The thread's records stay as they are.
 *
 * Returns   nothing.
 * Errors    a handle inside a read section is a bug and is caught.
 * Progress  blocking (a mutex of attach and detach only); waits for no page that is mapped.
 * Order     see attach.
 */
void pfs_thread_detach(struct pfs_thread *thread);

/*
 * pfs_thread_current - the calling thread's own handle: attached when it first asks, detached
 * by itself when the thread ends. For threads whose end nobody sees. Keep the pointer in loops.
 *
 * Returns   PFS_OK and *thread, the same for each call of a thread; or PFS_NO_MEMORY.
 * Errors    PFS_NO_MEMORY; the container is unchanged. To hand the handle to another thread is
 *           a bug; to end inside a read section, too.
 * Progress  one comparison for each container that the thread used; the first call as attach.
 * Order     as pfs_thread_attach.
 *
 * The container may be destroyed before the thread ends. pfs_thread_detach gives the handle
 * back early. It is detached after C++'s thread_local destructors and among those of
 * pthread_key_create, in no known order: one of these that may run later asks by
 * pfs_thread_current anew, and gets a handle that is detached in the next round (up to
 * PTHREAD_DESTRUCTOR_ITERATIONS rounds). The main thread's stays attached when main returns.
 */
enum pfs_status pfs_thread_current(struct pfs_container *container, struct pfs_thread **thread);

/*
 * pfs_thread_adopt - the calling thread takes a handle over from the thread that attached it.
 *
 * A handle that is handed from thread to thread works without; but fork copies one thread only,
 * and in the child the handles of all others are detached (see fork at the head of this file).
 *
 * Returns   nothing. The thread that had it uses it no more.
 * Errors    a handle that is not attached is a bug and is caught.
 * Progress  blocking (a mutex of attach and detach only).
 * Order     none: hand the pointer over with your own synchronization.
 */
void pfs_thread_adopt(struct pfs_thread *thread);

/*
 * pfs_thread_status - why the last allocation of this thread was refused.
 *
 * Returns   PFS_FULL or PFS_NO_MEMORY after a refusal, until the next one; PFS_OK before the
 *           first one.
 * Errors    none.
 * Progress  wait-free.
 * Order     none: the thread's own field.
 */
enum pfs_status pfs_thread_status(const struct pfs_thread *thread);

/*
 * pfs_thread_migrated - the calling thread may run on another NUMA node than when it attached:
 * look again, so that it prefers the pages near it.
 *
 * Returns   the node of the handle now, PFS_NODE_MIXED where it is not known.
 * Errors    none.
 * Progress  wait-free but for the system's answer to where the caller runs.
 * Order     none: the thread's own field.
 */
uint32_t pfs_thread_migrated(struct pfs_thread *thread);

/*
 * pfs_allocate - take a free record, adding a page if the policy finds none.
 *
 * Returns   the claim, or one with record == NULL: pfs_thread_status says why. What was true
 *           of the container then depends on the policy; see docs/explanation/architecture.md.
 * Errors    PFS_FULL (counted as lost), PFS_NO_MEMORY (counted as lost; the next call tries
 *           again).
 * Progress  lock-free while a record is found; adding a page takes the growth lock.
 * Order     acquire: the caller sees what the last owner wrote into the record.
 */
PFS_INLINED struct pfs_claim pfs_allocate(struct pfs_thread *thread);

/*
 * pfs_allocate_existing - take a free record of the pages there are; never add one.
 *
 * Returns   the claim, or one with record == NULL: what was true then is what pfs_allocate of
 *           the policy says where it adds a page (exact policies: at one moment of the call no
 *           record was free). Not counted as lost. Policies without PFS_TRAIT_INDEX have no
 *           pages, and answer none.
 * Errors    PFS_FULL in pfs_thread_status.
 * Progress  as pfs_allocate, and where it finds none blocking on the growth lock, but never on
 *           memory that is being mapped by this call.
 * Order     as pfs_allocate.
 */
struct pfs_claim pfs_allocate_existing(struct pfs_thread *thread);

/*
 * pfs_allocate_many, pfs_publish_many, pfs_free_many - as many single calls, in any order. exact
 * and magazine take and give up to 32 records, neighbours, by one locked instruction.
 *
 * Returns   allocate: how many claims there are; fewer than count: one more was refused, and
 *           pfs_thread_status says why. What it has is the caller's; nothing is undone.
 * Errors    as the single calls; a record that is twice in one batch is freed twice.
 * Progress  as the single calls; they are no transaction, others see them one by one or a few at
 *           a time. A thread that stops for ever inside keeps what it has taken, or not yet
 *           freed; of those that it has begun to free, at most 64.
 * Order     as the single calls.
 */
uint32_t pfs_allocate_many(struct pfs_thread *thread, struct pfs_claim *claims, uint32_t count);
void pfs_publish_many(struct pfs_thread *thread, const struct pfs_claim *claims, uint32_t count);
void pfs_free_many(struct pfs_thread *thread, void *const *records, uint32_t count);

/* pfs_publish - DIRTY -> ALLOCATED, version + 1. Wait-free. Release: a reader that sees the
 * record ALLOCATED sees the bytes written before. Needs the claim's own word. */
PFS_INLINED void pfs_publish(struct pfs_thread *thread, struct pfs_claim claim);

/* pfs_abandon - DIRTY -> FREE, same version: the record was never readable. Release. */
void pfs_abandon(struct pfs_thread *thread, struct pfs_claim claim);

/* pfs_reopen - ALLOCATED -> DIRTY, same version, by the record's owner, to write it anew;
 * publish ends it, with the next version. Wait-free. Do weak references outlive it? See
 * struct pfs_reference. */
struct pfs_claim pfs_reopen(struct pfs_thread *thread, void *record);

/*
 * pfs_free - ALLOCATED -> FREE, same version. Wait-free for the container's policies.
 * Release: the next owner sees the last bytes.
 *
 * By any attached thread's handle of the record's own container. Another container's is a bug;
 * it is caught where the policy keeps more than the records' words (the strict scans do not, and
 * free the record rightly), and so is a second free. Not always caught are two frees of one
 * record at the same moment: both may see ALLOCATED. A compare-and-swap would tell, for another
 * locked instruction in each free (docs/explanation/decisions/free-checks.md).
 */
PFS_INLINED void pfs_free(struct pfs_thread *thread, void *record);

/*
 * pfs_enter, pfs_leave - a read section: no page whose record was looked up inside is given
 * back before it ends. Sections nest. Keep them short: pages wait for them.
 *
 * Returns   nothing.
 * Errors    leave without enter is a bug and is caught.
 * Progress  wait-free. Where the policy never gives pages back, they do nothing.
 * Order     see containers/epoch.h.
 */
void pfs_enter(struct pfs_thread *thread);
void pfs_leave(struct pfs_thread *thread);

/*
 * pfs_lookup - the live record at an index (page * page_records + slot), or NULL.
 *
 * Returns   a record that was ALLOCATED at a moment of the call, or NULL. Inside a read
 *           section the pointer may be read by the optimistic protocol until the section ends.
 * Errors    any index may be asked for.
 * Progress  wait-free.
 * Order     acquire: the bytes that publish released.
 */
void *pfs_lookup(struct pfs_thread *thread, uint64_t index);

/*
 * pfs_lookup_address - the live record of this container that has the byte at a pointer, which
 * may be anything: the record's first byte, one inside of it, or no record's at all.
 * pfs_owns - is it the first byte of one?
 *
 * Returns   a record that was ALLOCATED at a moment of the call, or NULL. The pointer is
 *           compared, and followed only when it is in a page. Bytes between the records' own
 *           (headers, padding) are no record's.
 * Errors    none. Inside a read section the answer keeps the memory readable until it ends.
 *           NULL and false where the policy lacks PFS_TRAIT_INDEX.
 * Progress  wait-free.
 * Order     acquire.
 * Cost      four loads, however many pages there are: two of a map by address bits that all
 *           containers of the process share, the directory's, the record's word.
 */
void *pfs_lookup_address(struct pfs_thread *thread, const void *pointer);
bool pfs_owns(struct pfs_thread *thread, const void *pointer);

/*
 * pfs_container_of - the container that a pointer belongs to. It needs no handle; for programs
 * with containers of many sizes.
 *
 * Returns   the container that has the pointer in one of its pages; NULL: no container has.
 * Errors    the pointer must be a record that stays in use during the call, or lie in no page of
 *           any container. Otherwise the call races with a thread that gives the page back or
 *           destroys the container.
 * Progress  wait-free: four loads.
 * Order     none.
 */
struct pfs_container *pfs_container_of(const void *record);

/* pfs_index - the index of a record that the caller owns or has looked up; PFS_INDEX_NONE where
 * the policy lacks PFS_TRAIT_INDEX, whose records have none, and in the layout bare where the
 * record was only looked up, and its page was given back since. Wait-free. */
uint64_t pfs_index(struct pfs_thread *thread, const void *record);

/*
 * pfs_tag - the tag of a record that the caller owns, in the layout bare with tag_bytes: bytes
 * beside the page for what a program keeps of each record. Whatever the last owner left is in it;
 * 0 at first. The library never looks at it.
 *
 * Returns   tag_bytes bytes, aligned to that; NULL where there are none.
 * Errors    a pointer that is not a record of the handle's container is a bug and is caught.
 * Progress  wait-free.
 * Order     as the record's bytes.
 */
void *pfs_tag(struct pfs_thread *thread, const void *record);

/* pfs_version - how often the record was published, also after pfs_reopen. Not repeated when a
 * page is given back and its index used again. 30 bits, it wraps. */
uint32_t pfs_version(const void *record);

/*
 * A weak reference: it names one life of a record, keeps nothing, and may be kept for ever. A life
 * begins with a publish and ends with pfs_free. What pfs_reopen and the publish after it do with
 * references depends on config.lasting_references: with it they are of the same life; without it
 * that publish ends the life for references, since only the version tells lives apart.
 */
struct pfs_reference {
	uint64_t index;
	uint32_t version;
};

/*
 * pfs_reference_of - the weak reference of a record that the caller owns or has looked up.
 * pfs_lookup_reference - the record, if that life of it has not ended, and the word that says so.
 *
 * Returns   of: {PFS_INDEX_NONE, 0} where the policy lacks PFS_TRAIT_INDEX, which finds nothing.
 *           lookup: the record, which was in that life at a moment of the call, and in *glance
 *           its word of that moment; or NULL. To read it, copy its bytes and end with that
 *           glance: pfs_read_end is true only if they are of that life. pfs_read_begin would
 *           take the word of a later life. Inside a read section the pointer may be read until
 *           the section ends.
 *           With config.lasting_references the record may be one that its owner is writing anew:
 *           then pfs_read_end is false, and a later look-up finds it again. Without, NULL may
 *           also mean that it is being written, or was published anew.
 * Errors    any reference may be asked for; one of 2^30 publishes ago is mistaken for another.
 *           glance may be NULL, where nothing is read.
 * Progress  wait-free; with config.lasting_references lock-free: again if the record was published,
 *           reopened or freed meanwhile.
 * Order     acquire: the bytes that publish released.
 */
struct pfs_reference pfs_reference_of(struct pfs_thread *thread, const void *record);
void *pfs_lookup_reference(struct pfs_thread *thread, struct pfs_reference reference,
			   struct pfs_glance *glance);

/*
 * pfs_read_begin, pfs_read_end - the optimistic read protocol: begin, read, end; what was
 * read counts only if end says true. Neither waits.
 *
 * Returns   begin: the word; end: true if the record was ALLOCATED at begin and its word has
 *           not changed since.
 * Errors    none.
 * Progress  wait-free.
 * Order     acquire. Bytes that an owner may change meanwhile must be copied with
 *           pfs_bytes_load and written with pfs_bytes_store, or the read is a data race.
 */
struct pfs_glance pfs_read_begin(const void *record);
bool pfs_read_end(const void *record, struct pfs_glance glance);

/* pfs_bytes_load - copy size_bytes (a multiple of 8) from a record that may be written
 * meanwhile, by acquire loads of 8 bytes. pfs_bytes_store - its counterpart for the owner. */
void pfs_bytes_load(void *to, const void *record, size_t size_bytes);
void pfs_bytes_store(void *record, const void *from, size_t size_bytes);

/*
 * struct pfs_walk - a visit of all records by index, while others allocate and free.
 *
 * A record that is live during the whole walk is visited exactly once; one that comes or
 * goes meanwhile at most once for each life. A walk is a read section that is renewed at
 * each page: what next returned is valid until the next call of next or end.
 */
enum pfs_walk_kind {
	PFS_WALK_LIVE, /* records that are ALLOCATED when the walk looks */
	PFS_WALK_ALL   /* every record of every page, also FREE and DIRTY ones */
};
struct pfs_walk {
	struct pfs_thread *thread;
	uint64_t next_index;
	enum pfs_walk_kind kind;
	struct pfs_glance glance; /* the word when next looked: end the optimistic read with it */
	uint64_t index;           /* of the record that next returned */
};

/* pfs_walk_begin - wait-free; the handle must not be detached before pfs_walk_end. */
void pfs_walk_begin(struct pfs_walk *walk, struct pfs_thread *thread, enum pfs_walk_kind kind);

/* pfs_walk_next - the next record, or NULL at the end. Wait-free: one pass over the pages
 * that were published when it looks. */
void *pfs_walk_next(struct pfs_walk *walk);
void pfs_walk_end(struct pfs_walk *walk);

/*
 * pfs_reclaim_pass, pfs_reclaim_now, pfs_reclaim_trim - give pages back to the operating
 * system.
 *
 * pass is what the background thread runs every period: it marks sparse pages for draining
 * and gives back those that stayed empty, along the curve of decay_passes. now does the same
 * without idle_passes and decay_passes: every empty page goes but for what headroom_percent,
 * spare_pages and page_prealloc keep. trim gives back every empty page, those too. All three
 * give back a page that was made for growth and not used: pass at the second pass that finds it.
 * now and trim look up to 64 times more for readers that are about to leave.
 *
 * Returns   pages whose memory went back during this call; 0 where the policy keeps them, or
 *           where the caller is in a read section. pass: also 0 where another thread is in one.
 * Errors    none.
 * Progress  blocking: now and trim wait for a pass that is running, and for a page that is being
 *           mapped; pass waits for neither. All wait for a fork under way. Allocators wait for
 *           none of them, but for the moment of an unlink where they add a page. A reader that
 *           stays in its section delays the memory, never a caller, fork or
 *           pfs_container_counts. What waits for readers is bounded: at most page_max pages
 *           (pages_waiting); while so many wait, empty pages stay in the container.
 * Order     see containers/reclaim.c.
 */
uint32_t pfs_reclaim_pass(struct pfs_thread *thread);
uint32_t pfs_reclaim_now(struct pfs_thread *thread);
uint32_t pfs_reclaim_trim(struct pfs_thread *thread);

/*
 * pfs_container_counts - the metrics so far, summed over all threads.
 *
 * Returns   *counts; while threads run, a value that each counter had at a moment of the call.
 * Errors    none.
 * Progress  blocking: waits for a page that is being added and for a reclaim pass. While the
 *           system is asked about each page (microseconds a page), passes are refused and
 *           pages can be added. Not for hot paths.
 * Order     relaxed: exact once the threads are known to be done.
 */
void pfs_container_counts(struct pfs_container *container, struct pfs_counts *counts);

/* pfs_container_lost - allocations refused so far: the field of that name, by itself. Wait-free,
 * one load a handle; may be asked at any rate. */
uint64_t pfs_container_lost(struct pfs_container *container);

/* pfs_container_live - records in use (DIRTY or ALLOCATED), in every build. Each was so when it
 * was looked at, not all at one moment. One load a record; blocking on reclaim passes alone.
 * 0 for policies without PFS_TRAIT_WORDS. */
uint64_t pfs_container_live(struct pfs_container *container);

/* pfs_container_config - what the container was created with. */
const struct pfs_config *pfs_container_config(const struct pfs_container *container);

/* pfs_container_variant - the policy's table. */
const struct pfs_variant *pfs_container_variant(const struct pfs_container *container);

#ifdef __cplusplus
}
#endif

#include <pfslab/calls.h> /* the hot calls, inlined */
#endif
