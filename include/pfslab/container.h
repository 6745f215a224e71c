/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * container.h - lock-free containers of fixed-size records in pages.
 *
 * A record is FREE, DIRTY (its owner writes it) or ALLOCATED (readers may see it). Its version
 * grows by one with each publish. State and version are in the record's word (pfs_lock). A thread
 * attaches to a container once and passes its handle to every call; one thread at a time may use a
 * handle. Any attached thread may free a record.
 *
 *	struct pfs_claim claim = pfs_allocate(thread);      FREE -> DIRTY
 *	... write claim.record ...
 *	pfs_publish(thread, claim);                         DIRTY -> ALLOCATED, version + 1
 *	pfs_free(thread, claim.record);                     ALLOCATED -> FREE
 *
 * It is a bug to free a record that is not ALLOCATED, or to publish one whose word is not the
 * claim's DIRTY word. Such a bug is *caught*: the library prints one line to stderr and aborts.
 *
 * fork. The child may make every call on every container of its parent, whatever the parent's other
 * threads were doing. fork waits until no thread adds a page, runs a reclaim pass, attaches or
 * detaches. In the child:
 *	- the handles of the forking thread stay valid, even inside a read section. Handles that
 *	  other threads attached are detached, unless the forking thread called pfs_thread_adopt:
 *	  their read sections have ended, and attach may return them again. Until then,
 *	  pfs_thread_detach of such a handle does nothing;
 *	- records that other threads owned stay DIRTY or ALLOCATED. A walk finds the ALLOCATED ones,
 *	  and they may be freed. Each thread that was inside allocate, abandon or free may cost one
 *	  record, which can never be allocated again;
 *	- the background thread is restarted by the first attach, detach, added page or reclaim call
 *	  of the child. A child that calls exec never has one;
 *	- pages that a memory source mapped with MAP_SHARED are shared with the parent: two
 *	  processes that use the container overwrite each other's records. Destroying the container
 *	  is safe if the source's unmap does nothing but unmap.
 * A source's map, unmap and resident must not fork. A source with locks and fork handlers of its
 * own must register them before the first container is created. posix_spawn, system and vfork are
 * not affected. After _Fork or a direct clone the child must not use any container.
 *
 * Signal handlers may call pfs_read_begin, pfs_read_end, pfs_version, pfs_bytes_load and
 * pfs_thread_status. With a handle that was attached before and that nothing else uses while the
 * handler runs, they may also call pfs_enter, pfs_leave, pfs_lookup, pfs_lookup_address, pfs_owns,
 * pfs_index, walks, pfs_reopen, pfs_bytes_store, pfs_publish, pfs_abandon and pfs_free. (With
 * mutex_list and malloc, which lock, they may not call the last two.) No other call is safe; an
 * allocation may lock or map memory. Do not longjmp out of a call.
 *
 * Destructors. An atexit handler or a static destructor may destroy a container that no thread uses
 * any more; the library releases nothing before that. A thread must detach before it ends, or its
 * handle is lost until destroy; handles of pfs_thread_current are detached automatically. Destroy
 * all containers before dlclose of the object that the library is linked into; threads may stay.
 */
/*
 * Without words. In the layout bare (PFS_LAYOUT_BARE) without bare_words, a record has no pfs_lock
 * word. It counts as in use unless the policy's index shows it free. Then
 *	- pfs_publish and pfs_reopen do nothing. A double free is detected by the record's bit: by
 *	  exact at once, by magazine when the second free reaches the bits, unless the record was
 *	  allocated again before;
 *	- optimistic reads and weak references do not work: pfs_read_end always returns false,
 *	  pfs_version 0, and pfs_reference_of {PFS_INDEX_NONE, 0}, which finds nothing;
 *	- pfs_lookup, pfs_lookup_address, pfs_owns and PFS_WALK_LIVE may report free records as in
 *	  use: those in a thread's ring or in a block, and those of a page that is being reclaimed.
 *	  They report every record that stays in use during the call, including DIRTY ones;
 *	- pfs_container_live also counts the free records in rings and blocks.
 * The handle of such a container lacks PFS_TRAIT_WORDS, even if its policy has it.
 *
 * If the process has or had a container without record headers (config.layout), calls with a record
 * and no handle (pfs_read_begin, pfs_read_end, pfs_version) find words by address, in every layout.
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

/* A record that the caller owns and has not published: its bytes, and the word that publish and
 * abandon need. record == NULL: no record. */
struct pfs_claim {
	void *record;
	uint32_t dirty_word;
	int32_t word_offset; /* bytes from the record to its word; 0: publish is not inlined */
};

/* The word of a record at the start of an optimistic read. */
struct pfs_glance {
	uint32_t word;
};

#define PFS_INDEX_NONE UINT64_MAX

/* For calls that calls.h defines inline, if the compiler can and PFS_NO_INLINE is not defined. */
#if defined(__GNUC__) && (defined(__cplusplus) || defined(__GNUC_STDC_INLINE__)) && \
	!defined(PFS_NO_INLINE)
#define PFS_INLINED inline
#else
#define PFS_INLINED
#endif

/*
 * pfs_container_create - create a container of one policy, with its preallocated pages.
 *
 * Returns   PFS_OK and *container; otherwise an error, nothing was made, and *message (may be NULL)
 *           has one line.
 * Errors    PFS_BAD_VARIANT (NULL, which pfs_variant_find returns for an unknown name),
 *           PFS_BAD_CONFIG, PFS_NO_NODE, PFS_NO_MEMORY.
 * Progress  blocking (set-up).
 * Order     none: pass the pointer to other threads with your own synchronization.
 */
enum pfs_status pfs_container_create(const struct pfs_variant *variant,
				     const struct pfs_config *config,
				     struct pfs_container **container, struct pfs_message *message);

/*
 * pfs_container_destroy - end the background passes and free all memory. NULL is allowed.
 *
 * Returns   nothing.
 * Errors    none. No thread may be inside a call, use a record or hold a handle (an unused one of
 *           pfs_thread_current may remain).
 * Progress  blocking.
 * Order     none.
 */
void pfs_container_destroy(struct pfs_container *container);

/*
 * pfs_thread_attach - get a handle for the calling thread. The number of handles is not limited;
 * detached ones are used again.
 *
 * Returns   PFS_OK and *thread, or PFS_NO_MEMORY.
 * Errors    PFS_NO_MEMORY; the container is unchanged.
 * Progress  blocking (a mutex of attach and detach only).
 * Order     acquire: with a handle that is used again, the caller sees what its last thread did.
 */
enum pfs_status pfs_thread_attach(struct pfs_container *container, struct pfs_thread **thread);

/*
 * pfs_thread_detach - give the handle back. The thread's records stay as they are.
 *
 * Returns   nothing.
 * Errors    a handle inside a read section is a bug and is caught.
 * Progress  blocking (a mutex of attach and detach only); never waits for a page that is being
 *           mapped.
 * Order     release: the next owner of the handle sees what this thread did.
 */
void pfs_thread_detach(struct pfs_thread *thread);

/*
 * pfs_thread_current - the calling thread's own handle, attached by the first call, detached when
 * the thread ends. For threads whose end the program does not control. In loops, call it once and
 * keep the pointer.
 *
 * Returns   PFS_OK and *thread, the same for each call of a thread; or PFS_NO_MEMORY.
 * Errors    PFS_NO_MEMORY; the container is unchanged. It is a bug to pass the handle to another
 *           thread, or to end the thread inside a read section.
 * Progress  a look-up in the thread's own hash table; the first call as pfs_thread_attach.
 * Order     as pfs_thread_attach.
 *
 * The container may be destroyed before the thread ends. pfs_thread_detach gives the handle back
 * early. The handle is detached after C++'s thread_local destructors, and in unspecified order
 * among those of pthread_key_create. A destructor that may run later must call pfs_thread_current
 * again; that handle is detached in the next round (up to PTHREAD_DESTRUCTOR_ITERATIONS rounds).
 * The main thread's handle stays attached when main returns.
 */
enum pfs_status pfs_thread_current(struct pfs_container *container, struct pfs_thread **thread);

/*
 * pfs_thread_adopt - make the calling thread the owner of a handle that another thread attached.
 *
 * A handle may pass from thread to thread without this call. The owner matters for fork: in the
 * child the handles of all other owners are detached (see fork at the head of this file).
 *
 * Returns   nothing. The previous owner must not use the handle any more.
 * Errors    a handle that is not attached, or is one of pfs_thread_current, is a bug and is caught.
 * Progress  blocking (a mutex of attach and detach only).
 * Order     none: pass the pointer with your own synchronization.
 */
void pfs_thread_adopt(struct pfs_thread *thread);

/*
 * pfs_thread_status - why the last allocation of this handle was refused.
 *
 * Returns   PFS_FULL or PFS_NO_MEMORY after a refusal, until the next one; PFS_OK before the first.
 * Errors    none.
 * Progress  wait-free.
 * Order     none: a field of the thread's own.
 */
enum pfs_status pfs_thread_status(const struct pfs_thread *thread);

/*
 * pfs_thread_migrated - prefer the pages of the NUMA node on which the calling thread now runs.
 *
 * Returns   the handle's node; PFS_NODE_MIXED if it is not known.
 * Errors    none.
 * Progress  wait-free, apart from getcpu.
 * Order     none: a field of the thread's own.
 */
uint32_t pfs_thread_migrated(struct pfs_thread *thread);

/*
 * pfs_allocate - take a free record; add a page if the policy finds none.
 *
 * Returns   the claim, or one with record == NULL: pfs_thread_status says why. What a refusal says
 *           about the container depends on the policy; see docs/explanation/architecture.md.
 * Errors    PFS_FULL; PFS_NO_MEMORY (the next call tries again). Both are counted as lost.
 * Progress  lock-free while a record is found (mutex_list and malloc lock); adding a page takes the
 *           growth lock.
 * Order     acquire: the caller sees what the last owner wrote into the record.
 * Source    named at the head of each policy's file in variants/.
 */
PFS_INLINED struct pfs_claim pfs_allocate(struct pfs_thread *thread);

/*
 * pfs_allocate_existing - take a free record of the existing pages; never add a page.
 *
 * Returns   the claim, or one with record == NULL. A refusal gives the guarantee that the policy's
 *           pfs_allocate gives when it adds a page (exact policies: at one moment of the call no
 *           record was free). It is not counted as lost. Policies without PFS_TRAIT_INDEX have no
 *           pages and always refuse.
 * Errors    PFS_FULL in pfs_thread_status.
 * Progress  as pfs_allocate; if it finds no record it may block on the growth lock, but maps no
 *           memory.
 * Order     as pfs_allocate.
 */
struct pfs_claim pfs_allocate_existing(struct pfs_thread *thread);

/*
 * pfs_allocate_many, pfs_publish_many, pfs_free_many - equivalent to count single calls, in any
 * order. exact and magazine move up to 32 neighbouring records with one locked instruction.
 *
 * Returns   allocate: the number of claims. If it is less than count, one more allocation was
 *           refused, and pfs_thread_status says why. The caller keeps the claims; nothing is
 *           undone.
 * Errors    as the single calls; a record that occurs twice in a batch is freed twice.
 * Progress  as the single calls. A batch is not atomic: other threads see its effects one record or
 *           a few at a time. A thread that stops for ever inside the call strands what it has taken
 *           or not yet freed, and at most 64 of those that it has begun to free.
 * Order     as the single calls.
 */
uint32_t pfs_allocate_many(struct pfs_thread *thread, struct pfs_claim *claims, uint32_t count);
void pfs_publish_many(struct pfs_thread *thread, const struct pfs_claim *claims, uint32_t count);
void pfs_free_many(struct pfs_thread *thread, void *const *records, uint32_t count);

/* pfs_publish - DIRTY -> ALLOCATED, version + 1. A claim whose word is not the record's is a bug
 * and is caught. Wait-free. Release: a reader that sees the record ALLOCATED sees the bytes that
 * were written before. */
PFS_INLINED void pfs_publish(struct pfs_thread *thread, struct pfs_claim claim);

/* pfs_abandon - DIRTY -> FREE, same version: the record was never readable. Errors as pfs_publish,
 * progress as pfs_free. Release: the next owner sees the last bytes. */
void pfs_abandon(struct pfs_thread *thread, struct pfs_claim claim);

/* pfs_reopen - ALLOCATED -> DIRTY, same version, so that the record's owner can change it; publish
 * ends the change and makes the next version. struct pfs_reference says whether weak references
 * survive. A record that is not ALLOCATED is a bug and is caught. Wait-free. Release. */
struct pfs_claim pfs_reopen(struct pfs_thread *thread, void *record);

/*
 * pfs_free - ALLOCATED -> FREE, same version. Any attached thread may call it, with its handle of
 * the record's container.
 *
 * Returns   nothing.
 * Errors    a second free is a bug and is caught, unless two frees of one record at the same moment
 *           both see ALLOCATED. (A compare-and-swap would catch that and cost one more locked
 *           instruction per free: docs/explanation/decisions/free-checks.md.) A handle of another
 *           container is a bug; policies whose only state is the records' words do not notice, and
 *           free the record correctly.
 * Progress  wait-free (exact and magazine: on x86-64, with LL/SC lock-free), except for the
 *           baselines: ck_stack is lock-free, mutex_list and malloc lock.
 * Order     release: the next owner sees the last bytes.
 */
PFS_INLINED void pfs_free(struct pfs_thread *thread, void *record);

/*
 * pfs_enter, pfs_leave - a read section: a page whose record was looked up inside is not unmapped
 * before the section ends. Sections nest. Keep them short: pages wait for them.
 *
 * Returns   nothing.
 * Errors    leave without enter is a bug and is caught, where the policy has PFS_TRAIT_RECLAIM.
 *           Other policies never unmap pages, and the two calls do nothing.
 * Progress  wait-free.
 * Order     enter: seq; leave: release. The proof is in containers/epoch.h.
 * Source    K. Fraser, Practical lock-freedom, 2004; see containers/epoch.h.
 */
void pfs_enter(struct pfs_thread *thread);
void pfs_leave(struct pfs_thread *thread);

/*
 * pfs_lookup - the live record at an index (page * page_records + slot), or NULL.
 *
 * Returns   a record that was ALLOCATED at a moment of the call, or NULL. Inside a read section the
 *           pointer is valid until the section ends.
 * Errors    none: any index is allowed.
 * Progress  wait-free.
 * Order     acquire: the bytes that publish released.
 */
void *pfs_lookup(struct pfs_thread *thread, uint64_t index);

/*
 * pfs_lookup_address - the live record of this container that contains the byte at a pointer, or
 * NULL. The pointer may have any value.
 * pfs_owns - true if the pointer is the first byte of such a record.
 * pfs_record_at - the pointer, if a record of any state begins there; or NULL.
 *
 * Returns   a record that was ALLOCATED at a moment of the call, or NULL. The pointer is
 *           dereferenced only if it lies in a page. Headers and padding between records belong to
 *           no record. Inside a read section the memory stays readable until the section ends.
 * Errors    none. NULL and false if the policy lacks PFS_TRAIT_INDEX.
 * Progress  wait-free.
 * Order     acquire.
 * Cost      four loads: two in the process's map by address, the directory's entry, the word.
 * Source    radix maps of addresses as in tcmalloc's pagemap.h; see containers/page_map.h.
 */
void *pfs_lookup_address(struct pfs_thread *thread, const void *pointer);
bool pfs_owns(struct pfs_thread *thread, const void *pointer);
void *pfs_record_at(struct pfs_thread *thread, const void *pointer);

/*
 * pfs_container_of - the container that a pointer belongs to. Needs no handle; for programs with
 * containers of many sizes.
 *
 * Returns   the container with a page at this address; NULL: there is none.
 * Errors    the pointer must be a record that stays in use during the call, or lie in no page of
 *           any container. Otherwise the call races with a thread that reclaims the page or
 *           destroys the container.
 * Progress  wait-free: four loads.
 * Order     none.
 */
struct pfs_container *pfs_container_of(const void *record);

/* pfs_index - page * page_records + slot of a record that the caller owns or has looked up.
 * PFS_INDEX_NONE if the policy lacks PFS_TRAIT_INDEX, or, in the layout bare, if the record was
 * only looked up and its page has been reclaimed since. Wait-free. Order: none. */
uint64_t pfs_index(struct pfs_thread *thread, const void *record);

/*
 * pfs_tag - the tag of a record that the caller owns, in the layout bare with tag_bytes: bytes
 * outside the record that the program may use. A tag is 0 at first, and later what the previous
 * owner left. The library does not read it.
 *
 * Returns   tag_bytes bytes, aligned to tag_bytes; NULL without tags.
 * Errors    a pointer that is no record of the handle's container is a bug and is caught.
 * Progress  wait-free.
 * Order     as the record's bytes.
 */
void *pfs_tag(struct pfs_thread *thread, const void *record);

/* pfs_version - the number of publishes of the record, including those after pfs_reopen, modulo
 * 2^30; 0 if it has no word. Versions continue when a page is reclaimed and its index is reused.
 * Wait-free. Acquire. */
uint32_t pfs_version(const void *record);

/*
 * A weak reference: names one life of a record, keeps nothing alive, and may be kept for ever. A
 * life begins with a publish and ends with pfs_free. With config.lasting_references, pfs_reopen and
 * the publish after it continue the life. Without it, that publish ends the life for references,
 * because only the version distinguishes lives.
 */
struct pfs_reference {
	uint64_t index;
	uint32_t version;
};

/*
 * pfs_reference_of - the weak reference of a record that the caller owns or has looked up.
 * pfs_lookup_reference - the record and its word, if that life of it has not ended.
 *
 * Returns   of: {PFS_INDEX_NONE, 0}, which finds nothing, if the policy lacks PFS_TRAIT_INDEX or
 *           the records have no words. lookup: NULL; or the record, which was in that life at a
 *           moment of the call, and in *glance its word at that moment. To read the record, copy
 *           its bytes and pass that glance to pfs_read_end, which is true only if the bytes are of
 *           that life. (pfs_read_begin could take the word of a later life.) Inside a read section
 *           the pointer is valid until the section ends. With config.lasting_references the owner
 *           may be changing the record: then pfs_read_end is false, and a later look-up finds it
 *           again. Without it, NULL may also mean that the record is being changed, or was
 *           published again.
 * Errors    none: any reference is allowed. A reference that is exactly 2^30 publishes old matches
 *           a later life. glance may be NULL if nothing is read.
 * Progress  wait-free; with config.lasting_references lock-free: it retries if the record was
 *           published, reopened or freed meanwhile.
 * Order     acquire: the bytes that publish released.
 */
struct pfs_reference pfs_reference_of(struct pfs_thread *thread, const void *record);
void *pfs_lookup_reference(struct pfs_thread *thread, struct pfs_reference reference,
			   struct pfs_glance *glance);

/*
 * pfs_read_begin, pfs_read_end - the optimistic read protocol: begin, copy the bytes, end. The copy
 * is valid only if end returns true.
 *
 * Returns   begin: the word. end: true if the record was ALLOCATED at begin and its word has not
 *           changed since.
 * Errors    none.
 * Progress  wait-free.
 * Order     acquire. Bytes that the owner may change meanwhile must be copied with pfs_bytes_load
 *           and written with pfs_bytes_store, or the read is a data race.
 * Source    H. Boehm, Can seqlocks get along with programming language memory models?, MSPC 2012.
 */
struct pfs_glance pfs_read_begin(const void *record);
bool pfs_read_end(const void *record, struct pfs_glance glance);

/* pfs_bytes_load - copy size_bytes (a multiple of 8) out of a record that may be written meanwhile:
 * acquire loads of 8 bytes. pfs_bytes_store - its counterpart for the owner: release stores.
 * Wait-free. */
void pfs_bytes_load(void *to, const void *record, size_t size_bytes);
void pfs_bytes_store(void *record, const void *from, size_t size_bytes);

/*
 * struct pfs_walk - a visit of all records by index, while other threads allocate and free. A
 * record that is live during the whole walk is visited exactly once. A record that is allocated or
 * freed meanwhile is visited at most once for each life. The walk holds a read section, which it
 * renews at each page: the record that next returned is valid until the next call of next or end.
 */
enum pfs_walk_kind {
	PFS_WALK_LIVE, /* records that are ALLOCATED when the walk reads their word */
	PFS_WALK_ALL   /* every record of every page, including FREE and DIRTY ones */
};
struct pfs_walk {
	struct pfs_thread *thread;
	uint64_t next_index;
	enum pfs_walk_kind kind;
	struct pfs_glance glance; /* the word when next read it; pass it to pfs_read_end */
	uint64_t index;           /* of the record that next returned */
};

/* pfs_walk_begin - start a walk. Detach the handle only after pfs_walk_end. Wait-free. Seq, as
 * pfs_enter. */
void pfs_walk_begin(struct pfs_walk *walk, struct pfs_thread *thread, enum pfs_walk_kind kind);

/* pfs_walk_next - the next record, or NULL at the end. Wait-free: one pass over the pages that are
 * published when it reads the page limit. Acquire. pfs_walk_end - end the walk and its section. */
void *pfs_walk_next(struct pfs_walk *walk);
void pfs_walk_end(struct pfs_walk *walk);

/*
 * pfs_reclaim_pass, pfs_reclaim_now, pfs_reclaim_trim - give pages back to the operating system.
 *
 * pass is what the background thread runs once per period: it marks sparse pages as draining, and
 * reclaims pages that stayed empty, along the curve of decay_passes. now ignores idle_passes and
 * decay_passes: it reclaims every empty page except what headroom_percent, spare_pages and
 * page_prealloc keep. trim reclaims those too. All three free a page that was mapped for growth and
 * not used; pass does so at the second pass that finds it. now and trim wait for readers that are
 * about to leave, by up to 64 more looks.
 *
 * Returns   pages whose memory was given back during this call; 0 if the policy keeps pages, or if
 *           the caller is inside a read section. pass: 0 also if another pass is running.
 * Errors    none.
 * Progress  blocking: now and trim wait for a running pass and for a page that is being mapped.
 *           pass waits for neither, except in the policy reclaiming: it maps pages under the growth
 *           lock, and all three calls take that lock. All wait for a fork in progress. An
 *           allocation waits for a pass only if it found no record, and only while the pass holds
 *           that lock: to empty rings, or to mark or unlink one page. A reader that stays in its
 *           section delays the return of memory, but no caller, no fork and no
 *           pfs_container_counts. At most page_max pages wait for readers (pages_waiting); while
 *           that many wait, empty pages stay in the container.
 * Order     see containers/reclaim.c.
 */
uint32_t pfs_reclaim_pass(struct pfs_thread *thread);
uint32_t pfs_reclaim_now(struct pfs_thread *thread);
uint32_t pfs_reclaim_trim(struct pfs_thread *thread);

/*
 * pfs_container_counts - the metrics, summed over all threads.
 *
 * Returns   *counts. While threads run, each counter has a value that it had at a moment of the
 *           call.
 * Errors    none.
 * Progress  blocking: waits for a page that is being added and for a reclaim pass. While it asks
 *           the system about each page (microseconds per page), pages can be added, background
 *           passes are skipped, and now and trim wait. Not for hot paths.
 * Order     relaxed: exact if the caller has synchronized with the threads' last calls.
 */
void pfs_container_counts(struct pfs_container *container, struct pfs_counts *counts);

/* pfs_container_lost - the number of refused allocations: counts.lost alone. May be called at any
 * rate: wait-free, one load for each handle. Relaxed. */
uint64_t pfs_container_lost(struct pfs_container *container);

/* pfs_container_live - the number of records in use (DIRTY or ALLOCATED), in every build. Each was
 * in use when its word was read; the words are not read at one moment. 0 for policies without
 * PFS_TRAIT_WORDS. One load for each record; blocks while a reclaim pass runs. Relaxed. */
uint64_t pfs_container_live(struct pfs_container *container);

/* pfs_container_config, pfs_container_variant - what it was created with. Wait-free. */
const struct pfs_config *pfs_container_config(const struct pfs_container *container);
const struct pfs_variant *pfs_container_variant(const struct pfs_container *container);

#ifdef __cplusplus
}
#endif

#include <pfslab/calls.h> /* the hot calls, inlined */
#endif
