/*
 * trace_test.c - a memory trace: misuse of guards, limits, and threads against the test's own
 * books.
 *
 * usage: accounts_trace_test misuse|limits|tree|fork|box FOLDER|threads N OPERATIONS SEED
 * Exit 0: passed. 1: failed; a line says where.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pfslab/memory_trace.h>

#include "common_test.h"
#include "memory/box/reader.h"

static struct pfs_books *books;

static struct pfs_owner_sums sums_of(const struct pfs_owner *owner)
{
	struct pfs_owner_sums sums;
	pfs_owner_read(owner, &sums);
	return sums;
}

static void open_books(const char *folder, uint32_t owners_max)
{
	struct pfs_memory_config config = test_config(folder);
	pfs_memory_key key;
	config.trace_owners_max = owners_max;
	books = books_or_exit(&config, "memory/trace/test", &key);
}

/* ---- guards ---- */

static void misuse(void)
{
	struct pfs_owner *one = pfs_owner_register(books, NULL, "one");
	struct pfs_owner_guard guard = { 0, 0, 0 }, copy, other = { 0, 0, 0 }, never = { 0, 0, 0 };
	CHECK(!pfs_owner_end(&never) && !pfs_owner_resize(&never, 1));
	CHECK(pfs_owner_add(one, 100, &guard));
	CHECK(!pfs_owner_add(one, 1, &guard)); /* it holds an add */
	copy = guard;
	CHECK(!pfs_owner_end(&copy) && !pfs_owner_resize(&copy, 0));
	CHECK(!pfs_owner_move(&copy, one));
	CHECK(sums_of(one).own_bytes == 100 && sums_of(one).bad == 4);
	CHECK(pfs_owner_hand(&guard, &other) && !pfs_owner_hand(&guard, &copy));
	CHECK(!pfs_owner_end(&guard) && pfs_owner_end(&other) && !pfs_owner_end(&other));
	CHECK(sums_of(one).own_bytes == 0 && sums_of(one).sum_bytes == 0);
	CHECK(sums_of(one).high_bytes == 100 && sums_of(one).bad == 7);
	/* An older copy overwrites a guard: sums do not go below zero. */
	CHECK(pfs_owner_add(one, 50, &guard));
	copy = guard;
	CHECK(pfs_owner_end(&guard));
	guard = copy;
	CHECK(!pfs_owner_end(&guard) && sums_of(one).own_bytes == 0 && sums_of(one).bad == 8);
	/* It can be reused. */
	CHECK(pfs_owner_add(one, 7, &guard) && sums_of(one).own_bytes == 7);
	CHECK(pfs_owner_end(&guard));
	CHECK(pfs_owner_add(NULL, 7, &guard) && pfs_owner_move(&guard, one));
	CHECK(sums_of(one).own_bytes == 7 && pfs_owner_move(&guard, NULL));
	CHECK(sums_of(one).sum_bytes == 0 && pfs_owner_end(&guard));
}

/* ---- limits ---- */

static struct pfs_owner_guard kept;
static unsigned calls;

static bool make_room(void *context, struct pfs_owner *over, uint64_t bytes)
{
	CHECK(context == &kept && sums_of(over).sum_bytes <= 100 && bytes == 60);
	calls++;
	return pfs_owner_end(&kept);
}

static bool never_room(void *context, struct pfs_owner *over, uint64_t bytes)
{
	(void)context, (void)over, (void)bytes;
	return ++calls != 0;
}

static void limits(void)
{
	struct pfs_owner *top = pfs_owner_register(books, NULL, "top");
	struct pfs_owner *one = pfs_owner_register(books, top, "one");
	struct pfs_owner *two = pfs_owner_register(books, top, "two");
	struct pfs_owner_guard a = { 0, 0, 0 }, b = { 0, 0, 0 };
	pfs_owner_limit(top, 100, PFS_OWNER_REFUSE);
	CHECK(pfs_owner_add(one, 60, &a) && !pfs_owner_add(two, 41, &b));
	CHECK(!pfs_owner_end(&b) && sums_of(two).bad == 0); /* it was refused: harmless */
	CHECK(sums_of(top).refused == 1 && sums_of(two).refused == 0);
	CHECK(sums_of(two).sum_bytes == 0 && sums_of(two).high_bytes == 0);
	CHECK(pfs_owner_add(two, 40, &b) && sums_of(top).sum_bytes == 100);
	CHECK(!pfs_owner_resize(&b, 41) && pfs_owner_resize(&b, 40) && pfs_owner_resize(&b, 39));
	CHECK(pfs_owner_move(&b, one) && sums_of(one).own_bytes == 99); /* below the same limit */
	CHECK(!pfs_owner_add(one, UINT64_MAX, &kept) && !pfs_owner_add(one, 2, &kept));
	CHECK(sums_of(top).sum_bytes == 99 && sums_of(top).high_bytes == 100);
	/* A limit below usage: the bytes stay, adds are refused. */
	pfs_owner_limit(top, 10, PFS_OWNER_REFUSE);
	CHECK(!pfs_owner_add(two, 1, &kept) && pfs_owner_end(&b) && pfs_owner_resize(&a, 10));
	CHECK(!pfs_owner_add(two, 1, &kept) && pfs_owner_resize(&a, 9));
	CHECK(pfs_owner_add(two, 1, &b));
	pfs_owner_limit(top, 0, PFS_OWNER_REFUSE);
	CHECK(pfs_owner_end(&a) && pfs_owner_end(&b) && !pfs_owner_add(two, 1, &a));
	CHECK(pfs_owner_add(two, 0, &a) && pfs_owner_end(&a));
	/* Only reported. */
	pfs_owner_limit(top, 10, PFS_OWNER_REPORT);
	CHECK(pfs_owner_add(two, 11, &a) && sums_of(top).over == 1 && pfs_owner_end(&a));
	CHECK(!pfs_owner_add(two, UINT64_C(1) << 48, &a)); /* above the maximum */
	/* Called. */
	pfs_owner_limit(top, 100, PFS_OWNER_CALL);
	pfs_owner_on_limit(top, make_room, &kept);
	CHECK(pfs_owner_add(two, 50, &kept) && pfs_owner_add(one, 60, &a) && calls == 1);
	CHECK(!pfs_owner_add(one, 60, &b) && calls == 2);
	pfs_owner_on_limit(top, never_room, NULL);
	CHECK(!pfs_owner_add(one, 60, &b) && calls == 5); /* three times, and no more */
	pfs_owner_limit(top, PFS_OWNER_NO_LIMIT, PFS_OWNER_REFUSE);
	CHECK(pfs_owner_add(one, 60, &b) && sums_of(top).limit_bytes == PFS_OWNER_NO_LIMIT);
	CHECK(pfs_owner_end(&a) && pfs_owner_end(&b) && sums_of(top).sum_bytes == 0);
}

/* ---- the tree ---- */

static void tree(void)
{
	struct pfs_owner *at = NULL;
	char name[64];
	memset(name, 'x', sizeof(name));
	name[48] = '\0';
	CHECK(pfs_owner_register(books, NULL, name) == NULL); /* too long */
	name[47] = '\0';
	struct pfs_owner *longest = pfs_owner_register(books, NULL, name);
	CHECK(longest != NULL && pfs_owner_register(books, NULL, name) == longest);
	CHECK(pfs_owner_register(books, longest, name) != longest);
	CHECK(pfs_owner_register(books, NULL, "") == NULL);
	CHECK(pfs_owner_register(books, NULL, "a/b") == NULL);
	for (int depth = 1; depth <= 16; depth++) {
		at = pfs_owner_register(books, at, "deep");
		CHECK(at != NULL);
	}
	CHECK(pfs_owner_register(books, at, "deep") == NULL);
	for (int i = 18; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		CHECK(pfs_owner_register(books, NULL, name) != NULL);
	}
	CHECK(pfs_owner_register(books, NULL, "one too many") == NULL);
	CHECK(atomic_load(&books->box.head->owners_lost) == 1);
	struct pfs_owner_guard guard = { 0, 0, 0 };
	CHECK(pfs_owner_add(at, 5, &guard) && sums_of(longest).sum_bytes == 0);
	for (at = pfs_owner_register(books, NULL, "deep"); at != NULL;
	     at = sums_of(at).own_bytes == 0 ? pfs_owner_register(books, at, "deep") : NULL)
		CHECK(sums_of(at).sum_bytes == 5);
	CHECK(pfs_owner_end(&guard));
}

/* ---- a forked child continues with the parent's state ---- */

static void forked(void)
{
	struct pfs_owner *one = pfs_owner_register(books, NULL, "one");
	struct pfs_owner_guard guard = { 0, 0, 0 }, more = { 0, 0, 0 };
	int status;
	CHECK(pfs_owner_add(one, 100, &guard));
	pid_t child = fork();
	if (child == 0) {
		CHECK(sums_of(one).own_bytes == 100 && pfs_owner_add(one, 11, &more));
		CHECK(sums_of(one).own_bytes == 111 && pfs_owner_end(&guard));
		CHECK(sums_of(one).own_bytes == 11);
		CHECK(pfs_owner_register(books, one, "two") != NULL);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	CHECK(sums_of(one).own_bytes == 100 && pfs_owner_end(&guard));
}

/* ---- by the box: what a reader sees, and a limit from outside ---- */

static void by_box(void)
{
	struct pfs_message message = { "" };
	struct pfs_owner *cache = pfs_owner_register(books, NULL, "cache");
	struct pfs_owner *blocks = pfs_owner_register(books, cache, "blocks");
	struct pfs_owner_guard guard = { 0, 0, 0 }, more = { 0, 0, 0 };
	CHECK(pfs_owner_add(blocks, 700, &guard) && pfs_owner_add(cache, 40, &more));
	struct pfs_reader *reader = pfs_reader_open(pfs_memory_path(books), &message);
	CHECK(reader != NULL && pfs_reader_check(reader, &message));
	struct pfs_snapshot *snapshot = pfs_snapshot_take(reader, 0, &message);
	CHECK(snapshot != NULL && snapshot->owner_count == 2 && snapshot->owners_lost == 0);
	const struct pfs_seen_owner *seen = snapshot->owners;
	CHECK(strcmp(seen[0].name, "cache") == 0 && seen[0].parent == PFS_NONE);
	CHECK(strcmp(seen[1].name, "blocks") == 0 && seen[1].parent == 0);
	CHECK(seen[0].own_bytes == 40 && seen[0].sum_bytes == 740 && seen[1].sum_bytes == 700);
	CHECK(seen[0].high_bytes == 740 && seen[0].limit_bytes == UINT64_MAX);
	pfs_snapshot_free(snapshot);
	CHECK(!pfs_reader_limit(reader, 300, 1, &message));
	CHECK(pfs_reader_limit(reader, 0, 745, &message) && sums_of(cache).limit_bytes == 745);
	CHECK(!pfs_owner_resize(&more, 46) && pfs_owner_resize(&more, 45));
	CHECK(pfs_reader_limit(reader, 0, 0, &message) && !pfs_owner_resize(&more, 46));
	CHECK(pfs_reader_limit(reader, 0, UINT64_MAX, &message) && pfs_owner_resize(&more, 46));
	CHECK(sums_of(cache).limit_bytes == PFS_OWNER_NO_LIMIT && sums_of(cache).refused == 2);
	CHECK(pfs_reader_limit(reader, 0, 9, &message));
	pfs_owner_limit(cache, 800, PFS_OWNER_REFUSE); /* the later call wins */
	CHECK(sums_of(cache).limit_bytes == 800 && pfs_owner_resize(&more, 100));
	pfs_reader_close(reader);
	CHECK(pfs_owner_end(&guard) && pfs_owner_end(&more));
}

/* ---- threads, and books of the test's own ---- */

#define OWNERS 7u /* a tree of two below each, three levels */
#define GUARDS 32u

static struct pfs_owner *owners[OWNERS];
static _Atomic(int64_t) own[OWNERS], refusals;
static struct pfs_owner_guard shared[8];
static _Atomic(uint64_t) shared_adds, shared_ends;
static unsigned long operations, seed;
static uint64_t limit; /* so that about half of the bytes are refused */

struct mine {
	struct pfs_owner_guard guard;
	uint32_t owner; /* OWNERS: none */
	uint64_t bytes;
};

static void change(struct mine *mine, uint64_t *state)
{
	uint32_t to = (uint32_t)(draw(state) % OWNERS);
	uint64_t bytes = draw(state) % 1000;
	if (mine->owner == OWNERS) {
		if (!pfs_owner_add(owners[to], bytes, &mine->guard)) {
			atomic_fetch_add(&refusals, 1);
			return;
		}
		*mine = (struct mine){ mine->guard, to, bytes };
		atomic_fetch_add(&own[to], (int64_t)bytes);
	} else if (draw(state) % 3 == 0) {
		atomic_fetch_sub(&own[mine->owner], (int64_t)mine->bytes);
		CHECK(pfs_owner_end(&mine->guard));
		mine->owner = OWNERS;
	} else if (draw(state) % 2 == 0) {
		if (!pfs_owner_resize(&mine->guard, bytes))
			return;
		atomic_fetch_add(&own[mine->owner], (int64_t)bytes - (int64_t)mine->bytes);
		mine->bytes = bytes;
	} else if (pfs_owner_move(&mine->guard, owners[to])) {
		atomic_fetch_sub(&own[mine->owner], (int64_t)mine->bytes);
		atomic_fetch_add(&own[to], (int64_t)mine->bytes);
		mine->owner = to;
	}
}

static void *work(void *number)
{
	const uint64_t limits[OWNERS] = { limit,      limit / 2,  UINT64_MAX, limit / 4,
					  UINT64_MAX, UINT64_MAX, UINT64_MAX };
	struct mine mine[GUARDS];
	uint64_t state = (uint64_t)(uintptr_t)number * 7919 + seed * 104729 + 1;
	memset(mine, 0, sizeof(mine));
	for (uint32_t i = 0; i < GUARDS; i++)
		mine[i].owner = OWNERS;
	for (unsigned long i = 0; i < operations; i++) {
		change(&mine[draw(&state) % GUARDS], &state);
		/* Guards that all threads use: each add ends once. */
		struct pfs_owner_guard *guard = &shared[draw(&state) % 8];
		if (draw(&state) % 2 == 0)
			atomic_fetch_add(&shared_adds, pfs_owner_add(owners[6], 3, guard));
		else
			atomic_fetch_add(&shared_ends, pfs_owner_end(guard));
		uint32_t at = (uint32_t)(i % OWNERS);
		struct pfs_owner_sums sums = sums_of(owners[at]);
		CHECK(sums.sum_bytes <= limits[at] && sums.own_bytes <= UINT64_C(1) << 40 &&
		      sums.high_bytes >= sums.sum_bytes && sums.high_bytes <= limits[at]);
	}
	for (uint32_t i = 0; i < GUARDS / 2; i++) /* the others stay, to be checked */
		if (mine[i].owner != OWNERS) {
			atomic_fetch_sub(&own[mine[i].owner], (int64_t)mine[i].bytes);
			CHECK(pfs_owner_end(&mine[i].guard));
		}
	return NULL;
}

static void threads(unsigned count)
{
	pthread_t ids[64];
	char name[16];
	CHECK(count <= 64);
	limit = 8000 * (uint64_t)count;
	for (uint32_t i = 0; i < OWNERS; i++) {
		(void)snprintf(name, sizeof(name), "owner%u", i);
		owners[i] = pfs_owner_register(books, i != 0 ? owners[(i - 1) / 2] : NULL, name);
	}
	pfs_owner_limit(owners[0], limit, PFS_OWNER_REFUSE);
	pfs_owner_limit(owners[1], limit / 2, PFS_OWNER_REFUSE);
	pfs_owner_limit(owners[3], limit / 4, PFS_OWNER_REFUSE);
	for (unsigned i = 0; i < count; i++)
		CHECK(pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)(i + 1)) == 0);
	for (unsigned i = 0; i < count; i++)
		CHECK(pthread_join(ids[i], NULL) == 0);
	for (unsigned i = 0; i < 8; i++)
		atomic_fetch_add(&shared_ends, pfs_owner_end(&shared[i]));
	CHECK(atomic_load(&shared_adds) == atomic_load(&shared_ends));
	/* Whether threads are refused depends on the scheduler; this add is. */
	struct pfs_owner_guard over = { 0 };
	CHECK(!pfs_owner_add(owners[0], limit + 1, &over));
	atomic_fetch_add(&refusals, 1);
	CHECK(atomic_load(&shared_adds) != 0);
	for (uint32_t i = OWNERS; i-- > 0;) {
		struct pfs_owner_sums sums = sums_of(owners[i]);
		int64_t below = 0;
		for (uint32_t j = i + 1; j < OWNERS; j++)
			if ((j - 1) / 2 == i)
				below += (int64_t)sums_of(owners[j]).sum_bytes;
		CHECK((int64_t)sums.own_bytes == atomic_load(&own[i]));
		CHECK((int64_t)sums.sum_bytes == atomic_load(&own[i]) + below);
	}
	struct pfs_owner_guard guard = { 0, 0, 0 };
	uint64_t room = limit - sums_of(owners[0]).sum_bytes;
	CHECK(!pfs_owner_add(owners[0], room + 1, &guard));
	CHECK(pfs_owner_add(owners[0], room, &guard));
	(void)printf("%llu bytes are held, %lld adds were refused, peak %llu\n",
		     (unsigned long long)(limit - room), (long long)atomic_load(&refusals),
		     (unsigned long long)sums_of(owners[0]).high_bytes);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {
		{ "misuse", misuse }, { "limits", limits }, { "tree", tree }, { "fork", forked }
	};
	static const struct test_case box = { "box", by_box };
	const char *what = argc > 1 ? argv[1] : "";
	bool has_folder = argc == 3;
	open_books(has_folder ? argv[2] : NULL, has_folder ? 256 : 20);
	if (argc == 5 && strcmp(what, "threads") == 0) {
		operations = strtoul(argv[3], NULL, 10);
		seed = strtoul(argv[4], NULL, 10);
		threads((unsigned)strtoul(argv[2], NULL, 10));
		pfs_memory_close(books);
		return 0;
	}
	if (has_folder ? run_case(&box, 1, what, books)
		       : run_case(cases, sizeof(cases) / sizeof(cases[0]), what, books))
		return 0;
	(void)fprintf(stderr, "usage: accounts_trace_test misuse|limits|tree|fork|"
			      "box FOLDER|threads N OPERATIONS SEED\n");
	return 2;
}
