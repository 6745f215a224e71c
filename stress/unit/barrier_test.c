/*
 * barrier_test.c - the heavy barrier is refused after the start, as a sandbox would. magazine goes
 * on, never gives a record two owners, and is exact again once each of its threads has made a call.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "variants/magazine/magazine.h"
#include "stress/harness/harness.h"

#define PAGES 4u
#define PAGE_RECORDS 32u
#define ALL (PAGES * PAGE_RECORDS)
#define RING 10u

/* From here on membarrier fails, in this thread and those that it starts. Threads that already run
 * are not affected. */
static void forbid_barrier(int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	PFS_CHECK_IS(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	PFS_CHECK_IS(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

struct scene {
	struct pfs_container *container;
	struct pfs_thread *thread, *other;
	_Atomic(uint64_t) taken;
};

static void scene_init(struct scene *self, const struct pfs_case *none)
{
	struct pfs_case at = { pfs_variant_find("magazine"), none->layout };
	struct pfs_config config = pfs_case_config(&at);
	config.page_max = PAGES;
	config.page_records = PAGE_RECORDS;
	self->container = pfs_case_create(&at, &config);
	self->thread = pfs_attach_or_fail(self->container);
	self->other = pfs_attach_or_fail(self->container);
}

static void scene_fini(struct scene *self)
{
	pfs_thread_detach(self->thread);
	pfs_thread_detach(self->other);
	pfs_container_destroy(self->container);
}

static uint32_t take_all(struct pfs_thread *thread, void **records)
{
	uint32_t count = 0;
	struct pfs_claim claim;
	while ((claim = pfs_allocate(thread)).record != NULL) {
		pfs_publish(thread, claim);
		records[count++] = claim.record;
	}
	return count;
}

/* One of two handles has records in its ring; the other one gets them, call by call. */
static void exact_again(const struct pfs_case *none, int error)
{
	struct scene self;
	void *rings[RING], *records[ALL];
	scene_init(&self, none);
	for (uint32_t i = 0; i < RING; i++)
		rings[i] = pfs_allocate_or_fail(self.other);
	for (uint32_t i = 0; i < RING; i++)
		pfs_free(self.other, rings[i]);
	forbid_barrier(error);
	uint32_t count = take_all(self.thread, records);
	PFS_CHECK_IS(count, ALL - RING);                   /* the other's ring is out of reach */
	struct pfs_claim claim = pfs_allocate(self.other); /* it hands over, or has it */
	PFS_CHECK(claim.record != NULL);
	pfs_publish(self.other, claim);
	count += take_all(self.thread, records + count);
	PFS_CHECK_IS(count, ALL - 1);
	/* From now on as ever: what lies in a ring can be had by all. */
	for (uint32_t i = 0; i < count; i++)
		pfs_free(self.other, records[i]);
	PFS_CHECK_IS(take_all(self.thread, records), ALL - 1);
	for (uint32_t i = 0; i < count; i++)
		pfs_free(self.other, records[i]);
	PFS_CHECK_IS(take_all(self.thread, records), ALL - 1);
	PFS_CHECK(pfs_reclaim_now(self.thread) == 0);
	scene_fini(&self);
}

/* A handle is detached while another thread holds `growth`, as if it were mapping a page. The
 * handle's records stay in its ring, where others find them. So do records that the ring's next
 * owner frees, although it has no barrier. */
static void gone_with_records(const struct pfs_case *none)
{
	struct scene self;
	void *rings[RING], *records[ALL];
	scene_init(&self, none);
	for (uint32_t i = 0; i < RING; i++)
		rings[i] = pfs_allocate_or_fail(self.other);
	for (uint32_t i = 0; i < RING; i++)
		pfs_free(self.other, rings[i]);
	struct pfs_thread *unused = pfs_attach_or_fail(self.container);
	pfs_thread_detach(unused);
	pfs_mutex_lock(&self.container->growth);
	pfs_thread_detach(self.other);
	pfs_mutex_unlock(&self.container->growth);
	forbid_barrier(EPERM);
	PFS_CHECK_IS(take_all(self.thread, records), ALL);
	struct pfs_thread *again = pfs_attach_or_fail(self.container);
	PFS_CHECK(again == self.other);
	for (uint32_t i = 0; i < RING; i++)
		pfs_free(again, records[i]);
	PFS_CHECK_IS(take_all(self.thread, records), RING);
	PFS_CHECK(pfs_attach_or_fail(self.container) == unused);
	for (uint32_t i = 0; i < RING; i++)
		pfs_free(unused, records[i]);
	PFS_CHECK_IS(take_all(self.thread, records), RING);
	pfs_thread_detach(unused);
	scene_fini(&self);
}

static void forbidden(const struct pfs_case *none)
{
	exact_again(none, EPERM);
}

static void without_memory(const struct pfs_case *none)
{
	exact_again(none, ENOMEM);
}

static void unknown_call(const struct pfs_case *none)
{
	exact_again(none, ENOSYS);
}

/* Stamps a record, and finds the stamp there: no other owner. */
static void use(struct scene *self, struct pfs_thread *thread, uint64_t stamp)
{
	uint64_t *records[8];
	uint32_t count = 0;
	for (; count < 8; count++) {
		struct pfs_claim claim = pfs_allocate(thread);
		if (claim.record == NULL)
			break;
		records[count] = claim.record;
		*records[count] = stamp + count;
		pfs_publish(thread, claim);
	}
	while (count-- != 0) {
		PFS_CHECK_IS(*records[count], stamp + count);
		pfs_free(thread, records[count]);
	}
	(void)atomic_fetch_add_explicit(&self->taken, 1, memory_order_relaxed);
}

/* The first thread forbids the barrier in the middle. */
static void crowd_body(void *context, uint32_t index)
{
	struct scene *self = context;
	struct pfs_thread *thread = pfs_attach_or_fail(self->container);
	for (uint32_t turn = 0; turn < 30000; turn++) {
		if (index == 0 && turn == 10000)
			forbid_barrier(EPERM);
		use(self, thread, (uint64_t)index << 32 | turn << 4);
		if (turn % 64 == index)
			(void)pfs_reclaim_pass(thread);
	}
	pfs_thread_detach(thread);
}

#define CROWD 20u /* more than there are records for */

/* Records in the ring of a thread that ended are available to others at once. */
static void a_crowd(const struct pfs_case *none)
{
	struct scene self = { .taken = 0 };
	void *records[ALL];
	scene_init(&self, none);
	pfs_run_threads(CROWD, crowd_body, &self);
	PFS_CHECK_IS(take_all(self.thread, records), ALL);
	scene_fini(&self);
}

static const struct pfs_test tests[] = {
	{ .name = "forbidden", .run = forbidden },
	{ .name = "without memory", .run = without_memory },
	{ .name = "unknown call", .run = unknown_call },
	{ .name = "gone with records", .run = gone_with_records },
	{ .name = "a crowd", .run = a_crowd },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
