/*
 * workload_storm.c - connections come and go, as in a database server that is instrumented.
 *
 * Five containers side by side, one for each kind of record. A worker serves a fixed set of
 * seats. A step takes a random seat: an empty one connects (a thread record, and now and then
 * a new account, user and host, whose records outlive the connection); a taken one runs a
 * statement (nested statement records, freed at once), and disconnects when its life is over.
 * Lives are long-tailed: half end after one statement, the longest take 65536.
 */
#include <stdlib.h>

#include "workload.h"

enum kind { THREAD, ACCOUNT, USER, HOST, STATEMENT, KINDS };
#define SEATS 128
#define NESTED_MAX 4
#define LIFE_BITS 16
#define KEPT_MAX 64
#define RENEW_ONE_IN 16

static const uint32_t record_bytes[KINDS] = {
	[THREAD] = 768, [ACCOUNT] = 320, [USER] = 192, [HOST] = 256, [STATEMENT] = 448,
};
/* Records that one worker holds at most. */
static const uint32_t held_max[KINDS] = {
	[THREAD] = SEATS,      [ACCOUNT] = KEPT_MAX,     [USER] = KEPT_MAX / 2,
	[HOST] = KEPT_MAX / 2, [STATEMENT] = NESTED_MAX,
};

struct seat {
	void *thread;  /* record, or NULL: the seat is empty */
	uint32_t life; /* statements to come */
};

struct storm {
	struct seat seats[SEATS];
	void *kept[KINDS][KEPT_MAX]; /* accounts, users, hosts */
	uint64_t counts[KINDS];      /* records held */
	uint64_t salt;
};

static void configure(const struct pfs_scene *scene, uint32_t container, struct pfs_config *config)
{
	uint64_t most = (uint64_t)held_max[container] * scene->thread_count;
	uint64_t need = (most + config->page_records - 1) / config->page_records;

	pfs_scene_pages(scene, config, 1, (uint32_t)need);
	config->record_size_bytes = record_bytes[container];
	config->record_align_bytes = PFS_BENCH_LINE;
}

static bool prepare(struct pfs_worker *worker)
{
	struct storm *storm = calloc(1, sizeof(*storm));

	worker->own = storm;
	if (storm == NULL)
		return false;
	storm->salt = pfs_worker_salt(worker->index);
	return true;
}

/* A new record, published, or NULL. */
static void *take(struct pfs_worker *worker, enum kind kind, bool timed)
{
	const struct pfs_calls *calls = worker->scene->calls;
	struct storm *storm = worker->own;
	struct pfs_thread *thread = worker->threads[kind];
	struct pfs_claim claim = timed ? pfs_timed_allocate(worker, thread)
				       : calls->allocate(thread);

	if (claim.record == NULL) {
		worker->refused++;
		return NULL;
	}
	pfs_stamp_set(claim.record, storm->salt + kind);
	calls->publish(thread, claim);
	storm->counts[kind]++;
	return claim.record;
}

/* Returns how many records were given back: 0 for NULL. */
static uint64_t give(struct pfs_worker *worker, enum kind kind, void *record)
{
	struct storm *storm = worker->own;

	if (record == NULL)
		return 0;
	if (!pfs_stamp_ok(record, storm->salt + kind))
		pfs_worker_fault(worker, "a live record had two owners");
	worker->scene->calls->free(worker->threads[kind], record);
	storm->counts[kind]--;
	return 1;
}

/* Use one of the records that outlive connections: make it if missing, now and then replace it. */
static uint64_t refer(struct pfs_worker *worker, enum kind kind)
{
	struct storm *storm = worker->own;
	void **entry = &storm->kept[kind][pfs_random_below(&worker->random, held_max[kind])];
	uint64_t given = 0;

	if (*entry != NULL && pfs_random_below(&worker->random, RENEW_ONE_IN) != 0)
		return 0;
	given = give(worker, kind, *entry);
	*entry = take(worker, kind, false);
	return given;
}

static uint64_t connect_seat(struct pfs_worker *worker, struct seat *seat)
{
	uint64_t random = pfs_random_next(&worker->random) | UINT64_C(1) << LIFE_BITS;
	uint64_t given = 0;

	for (enum kind kind = ACCOUNT; kind <= HOST; kind++)
		given += refer(worker, kind);
	seat->thread = take(worker, THREAD, false);
	/* trailing zeros: n with probability 1 in 2^(n+1) */
	seat->life = UINT32_C(1) << __builtin_ctzll(random);
	return given;
}

static uint64_t run_statement(struct pfs_worker *worker, bool timed)
{
	uint64_t random = pfs_random_next(&worker->random) | UINT64_C(1) << (NESTED_MAX - 1);
	uint32_t depth = 1 + (uint32_t)__builtin_ctzll(random);
	void *nested[NESTED_MAX];
	uint64_t given = 0;

	for (uint32_t i = 0; i < depth; i++)
		nested[i] = take(worker, STATEMENT, timed && i == 0);
	for (uint32_t i = depth; i-- > 0;)
		given += give(worker, STATEMENT, nested[i]);
	return given;
}

static uint64_t serve(struct pfs_worker *worker, bool timed)
{
	struct storm *storm = worker->own;
	struct seat *seat = &storm->seats[pfs_random_below(&worker->random, SEATS)];
	uint64_t given = 0;

	if (seat->thread == NULL)
		return connect_seat(worker, seat);
	given = run_statement(worker, timed);
	if (--seat->life == 0) {
		given += give(worker, THREAD, seat->thread);
		seat->thread = NULL;
	}
	return given;
}

static uint64_t step(struct pfs_worker *worker, uint64_t count)
{
	uint64_t done = 0;

	/* bounded by count events, too: one that connects may give nothing back */
	for (uint64_t i = 0; i < count && done < count; i++)
		done += serve(worker, false);
	return done;
}

static void sample(struct pfs_worker *worker)
{
	serve(worker, true);
}

static uint64_t held(const struct pfs_worker *worker, uint32_t container)
{
	return ((const struct storm *)worker->own)->counts[container];
}

static void finish(struct pfs_worker *worker)
{
	struct storm *storm = worker->own;

	for (uint32_t i = 0; i < SEATS; i++)
		give(worker, THREAD, storm->seats[i].thread);
	for (enum kind kind = ACCOUNT; kind <= HOST; kind++)
		for (uint32_t i = 0; i < held_max[kind]; i++)
			give(worker, kind, storm->kept[kind][i]);
	free(storm);
	worker->own = NULL;
}

const struct pfs_workload pfs_workload_storm = {
	.name = "storm",
	.summary = "connections come and go, as in a database server",
	.has_policy = true,
	.threads_multiple = 1,
	.window_ms = PFS_WINDOW_MS,
	.container_count = KINDS,
	.configure = configure,
	.prepare = prepare,
	.step = step,
	.sample = sample,
	.held = held,
	.finish = finish,
};
