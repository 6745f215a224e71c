/*
 * ck_epochs.c - Concurrency Kit's epochs, whose code is in the library and not in its headers: here
 * as `apt-get source ck` has it, in the folder that CK_SOURCE names.
 *
 * PACKAGE libck-dev 0.7.1, $CK_SOURCE/src/ck_epoch.c
 * BUILD -DCK_USE_CC_BUILTINS=1 -include ck_pr_c11.h -I$CK_SOURCE/src
 * RUN by_store --memory tso --no-races: found assertion !ck_pr_load_int(&found->is_gone)
 * RUN by_store --memory sc --no-races: complete
 * RUN by_exchange --memory tso --no-races: complete
 * RUN by_fence --memory tso --no-races: complete
 * RUN synchronize --memory tso --no-races: complete
 * RUN in_callback --memory sc --no-races: found assertion !ck_pr_load_int(&found->is_gone)
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -include ck_pr_c11.h -I$CK_SOURCE/src
 * RUN synchronize --no-races: complete
 * RUN by_fence --no-races: found assertion !ck_pr_load_int(&found->is_gone)
 *
 * by_store: a defect, on x86, too. Who unlinks by a plain store and then calls has loaded the epoch
 * before others can see what it stored; if the epoch then goes on, a reader that begins finds the
 * object, and the next poll has it freed. An exchange instead of the store mends it on x86.
 * by_fence: a defect where memory is weaker than x86's, though a fence is behind it. A reader
 * that begins loads the epoch behind its fence (ck_epoch.h:157), and what it reads may be loaded
 * before that: it is counted for a later epoch than what it found was there in.
 * in_callback: a defect everywhere. What a callback retires can come to a bucket that the same poll
 * empties next, though a reader has it.
 */
#include <ck_epoch.c>

#include <pfslab/check.h>

struct object {
	ck_epoch_entry_t entry; /* first */
	int is_gone;
};
static ck_epoch_t epoch;
static ck_epoch_record_t reader, writer, poller, helper;
static struct object objects[3], *current, *other;

static void retire(ck_epoch_entry_t *entry)
{
	ck_pr_store_int(&((struct object *)entry)->is_gone, 1);
}

/* A read section: what it found is there until the end. */
static void read(void *argument)
{
	ck_epoch_begin(&reader, NULL);
	struct object *found = ck_pr_load_ptr(&current);
	pfs_check_assert(!ck_pr_load_int(&found->is_gone));
	ck_epoch_end(&reader, NULL);
}

static void read_other(void *argument)
{
	ck_epoch_begin(&reader, NULL);
	struct object *found = ck_pr_load_ptr(&other);
	if (found != NULL)
		pfs_check_assert(!ck_pr_load_int(&found->is_gone));
	ck_epoch_end(&reader, NULL);
}

/* In a section of its own, so that the epoch goes on. */
static void tick(void *argument)
{
	ck_epoch_begin(&helper, NULL);
	(void)ck_epoch_poll(&poller);
	ck_epoch_end(&helper, NULL);
}

static void unlink_by_store(void *argument)
{
	ck_pr_store_ptr(&current, &objects[1]);
	ck_epoch_call(&writer, &objects[0].entry, retire);
	(void)ck_epoch_poll(&writer);
}

static void unlink_by_exchange(void *argument)
{
	(void)ck_pr_fas_ptr(&current, &objects[1]);
	ck_epoch_call(&writer, &objects[0].entry, retire);
	(void)ck_epoch_poll(&writer);
	(void)ck_epoch_poll(&writer);
}

static void unlink_by_fence(void *argument)
{
	ck_pr_store_ptr(&current, &objects[1]);
	ck_pr_fence_memory();
	ck_epoch_call(&writer, &objects[0].entry, retire);
	(void)ck_epoch_poll(&writer);
	(void)ck_epoch_poll(&writer);
}

static void unlink_and_wait(void *argument)
{
	ck_pr_store_ptr(&current, &objects[1]);
	ck_epoch_synchronize(&writer);
	retire(&objects[0].entry);
}

static void begin(void (*body)(void *))
{
	ck_epoch_init(&epoch);
	ck_epoch_register(&epoch, &reader, NULL);
	ck_epoch_register(&epoch, &writer, NULL);
	ck_epoch_register(&epoch, &poller, NULL);
	ck_epoch_register(&epoch, &helper, NULL);
	current = &objects[0];
	pfs_check_thread(body, 0);
}

PFS_CHECK_SCENARIO(by_store)
{
	begin(read);
	pfs_check_thread(unlink_by_store, 0);
	pfs_check_thread(tick, 0);
}

PFS_CHECK_SCENARIO(by_exchange)
{
	begin(read);
	pfs_check_thread(unlink_by_exchange, 0);
	pfs_check_thread(tick, 0);
}

PFS_CHECK_SCENARIO(by_fence)
{
	begin(read);
	pfs_check_thread(unlink_by_fence, 0);
	pfs_check_thread(tick, 0);
}

PFS_CHECK_SCENARIO(synchronize)
{
	begin(read);
	pfs_check_thread(unlink_and_wait, 0);
}

/* A callback that retires something more. */
static void retire_both(ck_epoch_entry_t *entry)
{
	retire(entry);
	(void)ck_pr_fas_ptr(&other, NULL);
	ck_epoch_call(&writer, &objects[2].entry, retire);
}

static void poll_writer(void *argument)
{
	(void)ck_epoch_poll(&writer);
}

PFS_CHECK_SCENARIO(in_callback)
{
	begin(read_other);
	other = &objects[2];
	ck_epoch_call(&writer, &objects[0].entry, retire_both);
	tick(NULL);
	pfs_check_thread(poll_writer, 0);
}
