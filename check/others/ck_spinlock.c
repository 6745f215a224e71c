/*
 * ck_spinlock.c - Concurrency Kit's spin locks.
 *
 * PACKAGE libck-dev 0.7.1, /usr/include/ck_spinlock.h
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -include ck_pr_c11.h
 * RUN cas: complete
 * RUN fas: complete
 * RUN dec: complete
 * RUN ticket: complete
 * RUN clh: complete
 * RUN anderson: complete
 * RUN mcs: found (mcs.h:92); thread 1 writes (atomic) at
 * RUN hclh_one_cluster: found (hclh.h:83); thread 0 writes (atomic)
 * RUN hclh_one_cluster --no-races: found assertion entries == wanted
 * RUN hclh_three --no-races: found assertion entries == wanted
 * RUN hclh_three --memory tso --no-races: complete
 * RUN misused: found (mcs.h:91)
 * BUILD -DCK_USE_CC_BUILTINS=1 -DCK_MD_RMO -DPORT_DEPENDENCIES -include ck_pr_c11.h
 * RUN mcs: complete
 * RUN hclh_two_clusters: complete
 * BUILD -DCK_USE_CC_BUILTINS=1 -include ck_pr_c11.h
 * RUN ticket: unchecked and of 4 to one place
 * RUN ticket --memory sc --no-races: complete
 *
 * mcs: who comes writes to the link of who came before, by an address that it exchanged, without a
 * fence. Machines keep that order; C11 does not.
 * hclh: a defect on machines that are weaker than x86. Who follows another one of its cluster goes
 * in (lines 97 to 105) without the fence that all other ways in have, and by loads of wait,
 * cluster_id and splice that nothing orders. It sees old values of what the lock guards
 * (hclh_one_cluster); and where it sees an old `splice`, it goes in while one of another cluster
 * does (hclh_three). The reads of line 83 are plain, too.
 * ticket, as it is for x86: it adds to one half of a word that others read as a whole, which is
 * outside of C11 and of what `views` can tell.
 */
#include <ck_spinlock.h>
#include <pfslab/check.h>

static int entries, wanted = 2;

/* Not plain: who sees an old value loses an entry, also where races are not looked for. */
static void enter(void)
{
	ck_pr_store_int(&entries, ck_pr_load_int(&entries) + 1);
}

static void check_entries(void *argument)
{
	pfs_check_assert(entries == wanted);
}

/* A lock of one word: name, lock, unlock. */
#define SIMPLE(name)                                        \
	static ck_spinlock_##name##_t name##_lock;          \
	static void body_##name(void *argument)             \
	{                                                   \
		ck_spinlock_##name##_lock(&name##_lock);    \
		enter();                                  \
		ck_spinlock_##name##_unlock(&name##_lock);  \
	}                                                   \
	PFS_CHECK_SCENARIO(name)                            \
	{                                                   \
		ck_spinlock_##name##_init(&name##_lock);    \
		pfs_check_thread(body_##name, 0);           \
		pfs_check_thread(body_##name, 0);           \
		pfs_check_at_rest(check_entries, 0);        \
	}
SIMPLE(cas)
SIMPLE(fas)
SIMPLE(dec)
SIMPLE(ticket)

static ck_spinlock_mcs_t mcs_lock;
static ck_spinlock_mcs_context_t mcs_links[2];

static void body_mcs(void *own)
{
	ck_spinlock_mcs_lock(&mcs_lock, own);
	enter();
	ck_spinlock_mcs_unlock(&mcs_lock, own);
}

PFS_CHECK_SCENARIO(mcs)
{
	ck_spinlock_mcs_init(&mcs_lock);
	pfs_check_thread(body_mcs, &mcs_links[0]);
	pfs_check_thread(body_mcs, &mcs_links[1]);
	pfs_check_at_rest(check_entries, 0);
}

static ck_spinlock_clh_t *clh_lock, clh_unowned, clh_links[2];

static void body_clh(void *own)
{
	ck_spinlock_clh_t *link = own;
	ck_spinlock_clh_lock(&clh_lock, link);
	enter();
	ck_spinlock_clh_unlock(&link);
}

PFS_CHECK_SCENARIO(clh)
{
	ck_spinlock_clh_init(&clh_lock, &clh_unowned);
	pfs_check_thread(body_clh, &clh_links[0]);
	pfs_check_thread(body_clh, &clh_links[1]);
	pfs_check_at_rest(check_entries, 0);
}

static ck_spinlock_anderson_t anderson_lock;
static ck_spinlock_anderson_thread_t anderson_slots[2];

static void body_anderson(void *argument)
{
	ck_spinlock_anderson_thread_t *slot;
	ck_spinlock_anderson_lock(&anderson_lock, &slot);
	enter();
	ck_spinlock_anderson_unlock(&anderson_lock, slot);
}

PFS_CHECK_SCENARIO(anderson)
{
	ck_spinlock_anderson_init(&anderson_lock, anderson_slots, 2);
	pfs_check_thread(body_anderson, 0);
	pfs_check_thread(body_anderson, 0);
	pfs_check_at_rest(check_entries, 0);
}

static ck_spinlock_hclh_t *hclh_global, *hclh_local[2], hclh_unowned[3], hclh_links[3];
static int clusters[3];

static void body_hclh(void *cluster)
{
	ck_spinlock_hclh_t *link = &hclh_links[(int *)cluster - clusters];
	ck_spinlock_hclh_lock(&hclh_global, &hclh_local[*(int *)cluster], link);
	enter();
	ck_spinlock_hclh_unlock(&link);
}

static void begin_hclh(void)
{
	ck_spinlock_hclh_init(&hclh_global, &hclh_unowned[2], -1);
	ck_spinlock_hclh_init(&hclh_local[0], &hclh_unowned[0], 0);
	ck_spinlock_hclh_init(&hclh_local[1], &hclh_unowned[1], 1);
	pfs_check_thread(body_hclh, &clusters[0]);
	pfs_check_thread(body_hclh, &clusters[1]);
	pfs_check_at_rest(check_entries, 0);
}

PFS_CHECK_SCENARIO(hclh_one_cluster)
{
	begin_hclh();
}

PFS_CHECK_SCENARIO(hclh_two_clusters)
{
	clusters[1] = 1;
	begin_hclh();
}

PFS_CHECK_SCENARIO(hclh_three)
{
	clusters[2] = 1;
	wanted = 3;
	begin_hclh();
	pfs_check_thread(body_hclh, &clusters[2]);
}

/* Wrong: one link for two threads. */
PFS_CHECK_SCENARIO(misused)
{
	ck_spinlock_mcs_init(&mcs_lock);
	pfs_check_thread(body_mcs, &mcs_links[0]);
	pfs_check_thread(body_mcs, &mcs_links[0]);
}
