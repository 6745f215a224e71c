/*
 * limits_test.c - limits of threads, accounts, users and the program, set by calls, by text and
 * from outside: what is refused and what is not. Racing threads never exceed a limit.
 *
 * usage: accounts_limits_test scopes|resize|text|late|moves|fork|box FOLDER
 *        accounts_limits_test threads N OPERATIONS SEED
 * Exit 0: passed. 1: failed; a line says where.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common_test.h"
#include "memory/box/reader.h"

static struct pfs_books *books;
static pfs_memory_key key;

static void open_books(const char *folder)
{
	struct pfs_memory_config config = test_config(folder);
	books = books_or_exit(&config, "memory/limits/test", &key);
}

static struct pfs_memory_thread *begin(const char *user, const char *host)
{
	struct pfs_memory_thread *thread = pfs_memory_thread_begin(books, "t", user, host, true);
	CHECK(thread != NULL);
	return thread;
}

static void limit(enum pfs_memory_scope scope, const char *user, const char *host, uint64_t bytes)
{
	CHECK(pfs_memory_limit(books, scope, user, host, bytes, NULL) == PFS_OK);
}

/* The bytes that the thread can still allocate, exactly. */
static uint64_t room(struct pfs_memory_thread *thread, uint64_t most)
{
	uint64_t least = 0;
	while (least < most) {
		uint64_t middle = most - (most - least) / 2;
		struct pfs_memory_note note = pfs_memory_allocated(thread, key, middle);
		CHECK((note.reference == 0) == (note.reserved == PFS_MEMORY_REFUSED));
		pfs_memory_freed(books, thread, note, middle);
		if (note.reference != 0)
			least = middle;
		else
			most = middle - 1;
	}
	return least;
}

static uint64_t refused(uint32_t number)
{
	return pfs_load_relaxed(&books->limits[number].refused); /* relaxed: shown */
}

/* ---- cases ---- */

static void scopes(void)
{
	struct pfs_memory_thread *one = begin("a", "x"), *two = begin("a", "x");
	struct pfs_memory_thread *other = begin("a", "y"), *nobody = begin(NULL, NULL);
	void *block = pfs_memory_malloc(books, one, key, 300);
	CHECK(room(one, 5000) == 5000); /* no limit */
	limit(PFS_MEMORY_EACH_THREAD, NULL, NULL, 1000);
	CHECK(room(one, 5000) == 700 && room(two, 5000) == 1000 && room(nobody, 5000) == 1000);
	limit(PFS_MEMORY_EACH_ACCOUNT, NULL, NULL, 900);
	CHECK(room(one, 5000) == 600 && room(two, 5000) == 600 && room(other, 5000) == 900);
	limit(PFS_MEMORY_ACCOUNT, "a", "x", 500);
	CHECK(room(two, 5000) == 200 && room(other, 5000) == 900 && room(nobody, 5000) == 900);
	limit(PFS_MEMORY_EACH_USER, NULL, NULL, 450);
	CHECK(room(two, 5000) == 150 && room(other, 5000) == 150);
	limit(PFS_MEMORY_USER, "a", NULL, PFS_MEMORY_NO_LIMIT); /* none: overrides the default */
	CHECK(room(two, 5000) == 200 && room(other, 5000) == 900 && room(nobody, 5000) == 450);
	limit(PFS_MEMORY_PROGRAM, NULL, NULL, 400);
	CHECK(room(other, 5000) == 100 && room(nobody, 5000) == 100);
	/* Blocks of an ended life count for the account until they are freed. */
	pfs_memory_thread_end(one);
	CHECK(room(two, 5000) == 100);
	uint64_t before = refused(PFS_SCOPE_PROGRAM - 1);
	errno = 0;
	CHECK(pfs_memory_malloc(books, two, key, 101) == NULL && errno == ENOMEM);
	CHECK(refused(PFS_SCOPE_PROGRAM - 1) == before + 1);
	CHECK(pfs_load_relaxed(&books->limits[0].last_bytes) == 101 && /* relaxed: both shown */
	      pfs_load_relaxed(&books->limits[0].last_instrument) == key);
	pfs_memory_free(books, two, block);
	CHECK(room(two, 5000) == 400);
	CHECK(pfs_memory_limit(books, PFS_MEMORY_PROGRAM, "a", NULL, 1, NULL) == PFS_BAD_CONFIG);
	CHECK(pfs_memory_limit(books, 7, NULL, NULL, 1, NULL) == PFS_BAD_CONFIG);
	CHECK(pfs_memory_limit(books, PFS_MEMORY_USER, "a", "x", 1, NULL) == PFS_BAD_CONFIG);
}

/* What a life brings into an account counts there, and no longer where it was. */
static void moves(void)
{
	struct pfs_memory_thread *one = begin(NULL, NULL), *two = begin("a", "x");
	limit(PFS_MEMORY_EACH_ACCOUNT, NULL, NULL, 1000);
	CHECK(room(two, 5000) == 1000 && room(one, 5000) == 1000);
	struct pfs_memory_note note = pfs_memory_allocated(one, key, 600);
	CHECK(room(one, 5000) == 400);
	CHECK(pfs_memory_thread_account(one, "a", "x"));
	CHECK(room(two, 5000) == 400 && room(one, 5000) == 400);
	limit(PFS_MEMORY_ACCOUNT, "b", "x", 700);
	CHECK(pfs_memory_thread_account(one, "b", "x"));
	CHECK(room(two, 5000) == 1000 && room(one, 5000) == 100);
	limit(PFS_MEMORY_ACCOUNT, "c", "x", 500);
	CHECK(pfs_memory_thread_account(one, "c", "x")); /* above the limit */
	CHECK(room(one, 5000) == 0);
	pfs_memory_freed(books, two, note, 600);
	CHECK(room(one, 5000) == 500);
	pfs_memory_thread_end(one);
	pfs_memory_thread_end(two);
}

static void resize(void)
{
	struct pfs_memory_thread *one = begin("a", "x"), *two = begin("b", "x");
	limit(PFS_MEMORY_EACH_ACCOUNT, NULL, NULL, 1000);
	char *block = pfs_memory_malloc(books, one, key, 600);
	memset(block, 7, 600);
	CHECK(pfs_memory_realloc(books, one, key, block, 1001) == NULL && errno == ENOMEM);
	CHECK(block[599] == 7 && room(one, 5000) == 400);
	/* The old block makes room for the new one, but not in another account. */
	block = pfs_memory_realloc(books, one, key, block, 1000);
	CHECK(block != NULL && block[599] == 7 && room(one, 5000) == 0);
	struct pfs_memory_note note = pfs_memory_allocated(two, key, 200);
	CHECK(pfs_memory_realloc(books, two, key, block, 900) == NULL && room(two, 5000) == 800);
	block = pfs_memory_realloc(books, two, key, block, 800);
	CHECK(block != NULL && room(one, 5000) == 1000 && room(two, 5000) == 0);
	/* Shrinking is not refused even above a limit; claiming never is. */
	limit(PFS_MEMORY_ACCOUNT, "b", "x", 100);
	block = pfs_memory_realloc(books, two, key, block, 700);
	CHECK(block != NULL && room(two, 5000) == 0);
	limit(PFS_MEMORY_ACCOUNT, "a", "x", 100);
	pfs_memory_claim(books, one, block);
	CHECK(room(one, 5000) == 0);
	pfs_memory_freed(books, one, note, 200);
	CHECK(room(two, 5000) == 100);
	pfs_memory_free(books, two, block);
	CHECK(room(one, 5000) == 100);
}

static bool set(const char *limits)
{
	return pfs_memory_limit_text(books, limits, NULL) == PFS_OK;
}

static void text(void)
{
	struct pfs_memory_thread *one = begin("a", "x"), *nobody = begin(NULL, NULL);
	static const char *const wrong[] = { "thread",
					     "thread=",
					     "thread=1X",
					     "thread=1KB",
					     "x=1",
					     "user:=-1",
					     "account:a=1",
					     "thread=1,,user=2",
					     "thread=99999999999999999999",
					     "program=9999999999T",
					     "account:a@xxxxxxxxxx" };
	struct pfs_message message;
	CHECK(set("thread=4K,account:a@x=3000,account:@=2K"));
	CHECK(room(one, 5000) == 3000 && room(nobody, 5000) == 2048);
	CHECK(set("account:a@x=none,user:=1000,user:a=4095"));
	CHECK(room(one, 5000) == 4095 && room(nobody, 5000) == 1000);
	CHECK(set(""));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(pfs_memory_limit_text(books, wrong[i], &message) == PFS_BAD_CONFIG &&
		      strstr(message.text, "is not a limit") != NULL);
	limit(PFS_MEMORY_EACH_THREAD, NULL, NULL, 4096);
	enum pfs_status status = PFS_OK;
	for (uint64_t i = 0; i < 40 && status == PFS_OK; i++) {
		char name[8];
		(void)snprintf(name, sizeof(name), "u%u", (unsigned)i);
		status = pfs_memory_limit(books, PFS_MEMORY_USER, name, NULL, i, &message);
	}
	CHECK(status == PFS_NO_MEMORY && strstr(message.text, "at most 28") != NULL);
}

/* A limit is set, removed and set again, while threads have blocks allocated without it. */
static void late(void)
{
	struct pfs_memory_thread *one = begin("a", "x"), *two = begin("a", "x"), *new;
	struct pfs_memory_note note = pfs_memory_allocated(one, key, 600);
	limit(PFS_MEMORY_EACH_ACCOUNT, NULL, NULL, 1000);
	CHECK(room(two, 5000) == 400 && room(one, 5000) == 400);
	limit(PFS_MEMORY_EACH_ACCOUNT, NULL, NULL, PFS_MEMORY_NO_LIMIT);
	struct pfs_memory_note more = pfs_memory_allocated(one, key, 1000);
	CHECK(more.reference != 0 && room(two, 5000) == 5000);
	limit(PFS_MEMORY_EACH_ACCOUNT, NULL, NULL, 2000);
	new = begin("a", "x");
	CHECK(room(new, 5000) == 400 && room(two, 5000) == 400 && room(one, 5000) == 400);
	pfs_memory_freed(books, two, note, 600);
	pfs_memory_enable(books, key, false);
	CHECK(pfs_memory_allocated(one, key, 9000).reserved == 0); /* not counted */
	pfs_memory_enable(books, key, true);
	CHECK(room(new, 5000) == 1000);
	pfs_memory_freed(books, two, more, 1000);
	CHECK(room(one, 5000) == 2000);
}

static void in_child(void)
{
	struct pfs_memory_thread *one = begin("a", "x");
	struct pfs_memory_note note = pfs_memory_allocated(one, key, 600);
	limit(PFS_MEMORY_EACH_ACCOUNT, NULL, NULL, 1000);
	CHECK(room(one, 5000) == 400);
	pid_t child = fork();
	if (child == 0) {
		CHECK(room(one, 5000) == 400);
		pfs_memory_freed(books, one, note, 600);
		CHECK(room(one, 5000) == 1000);
		_exit(0);
	}
	int status = 0;
	CHECK(waitpid(child, &status, 0) == child && status == 0 && room(one, 5000) == 400);
}

/* Limits set from outside, and what a reader shows. */
static void box(void)
{
	struct pfs_memory_thread *one = begin("a", "x");
	struct pfs_message message;
	struct pfs_reader *reader = pfs_reader_open(pfs_memory_path(books), &message);
	CHECK(reader != NULL && !pfs_reader_limit_account(reader, 32, 1, &message));
	limit(PFS_MEMORY_ACCOUNT, "a", "x", 1000);
	CHECK(room(one, 5000) == 1000);
	CHECK(pfs_reader_limit_account(reader, 4, 700, &message) && room(one, 5000) == 700);
	CHECK(pfs_reader_limit_account(reader, 1, 600, &message) && room(one, 5000) == 600);
	CHECK(pfs_memory_allocated(one, key, 601).reserved == PFS_MEMORY_REFUSED);
	struct pfs_snapshot *snapshot = pfs_snapshot_take(reader, 0, &message);
	CHECK(snapshot != NULL && snapshot->limit_count == 5 && snapshot->damaged == 0);
	const struct pfs_seen_limit *each = &snapshot->limits[1], *own = &snapshot->limits[4];
	CHECK(each->limit_bytes == 600 && each->refused != 0 && each->last_bytes == 601 &&
	      each->last_instrument == key && each->last_thread_id != 0);
	CHECK(own->limit_bytes == 700 && own->scope == PFS_SCOPE_ACCOUNT && own->has_host &&
	      strcmp(own->user, "a") == 0 && strcmp(own->host, "x") == 0);
	CHECK(snapshot->limits[0].limit_bytes == UINT64_MAX && snapshot->limits[0].refused == 0);
	pfs_snapshot_free(snapshot);
	CHECK(pfs_reader_limit_account(reader, 1, UINT64_MAX, &message) && room(one, 5000) == 700);
	limit(PFS_MEMORY_ACCOUNT, "a", "x", 300); /* the later call of the program wins */
	CHECK(room(one, 5000) == 300);
	pfs_reader_close(reader);
}

/* ---- threads ---- */

#define LIMIT 100000u
#define HELD 64u

static atomic_uint_fast64_t held, most;

struct worker {
	pthread_t native;
	uint32_t seed, operations;
	uint64_t refusals;
};

/* A lower bound of usage: raised after the books count, lowered before. */
static void note_in_use(uint64_t bytes)
{
	uint64_t now = atomic_fetch_add(&held, bytes) + bytes, seen = atomic_load(&most);
	CHECK(now <= LIMIT);
	while (seen < now && !atomic_compare_exchange_weak(&most, &seen, now))
		;
}

static void *work(void *context)
{
	struct worker *self = context;
	void *blocks[HELD] = { NULL };
	uint64_t bytes[HELD] = { 0 };
	struct pfs_memory_thread *thread = begin("a", "x");
	for (uint32_t i = 0; i < self->operations; i++) {
		self->seed = self->seed * 1664525 + 1013904223;
		uint32_t at = self->seed >> 8 & (HELD - 1), size = (self->seed >> 14 & 8191) + 1;
		bool is_resize = blocks[at] != NULL && (self->seed >> 30) == 0;
		uint64_t before = bytes[at];
		atomic_fetch_sub(&held, before); /* at most */
		bytes[at] = 0;
		if (!is_resize) {
			pfs_memory_free(books, thread, blocks[at]);
			blocks[at] = NULL;
		}
		void *got = is_resize ? pfs_memory_realloc(books, thread, key, blocks[at], size)
				      : pfs_memory_malloc(books, thread, key, size);
		self->refusals += got == NULL;
		if (got != NULL)
			blocks[at] = got;
		bytes[at] = got != NULL ? size : is_resize ? before : 0;
		note_in_use(bytes[at]);
		if (i % 512 == 511) { /* a new life; the account keeps the old one's blocks */
			pfs_memory_thread_end(thread);
			thread = begin("a", "x");
		}
	}
	for (uint32_t at = 0; at < HELD; at++) {
		atomic_fetch_sub(&held, bytes[at]);
		pfs_memory_free(books, thread, blocks[at]);
	}
	pfs_memory_thread_end(thread);
	return NULL;
}

static void threads(uint32_t count, uint32_t operations, uint32_t seed)
{
	struct worker *workers = calloc(count, sizeof(*workers));
	uint64_t refusals = 0;
	limit(PFS_MEMORY_ACCOUNT, "a", "x", LIMIT);
	limit(PFS_MEMORY_EACH_THREAD, NULL, NULL, LIMIT / 2);
	for (uint32_t i = 0; i < count; i++) {
		workers[i] = (struct worker){ .seed = seed + i, .operations = operations / count };
		CHECK(pthread_create(&workers[i].native, NULL, work, &workers[i]) == 0);
	}
	for (uint32_t i = 0; i < count; i++) {
		CHECK(pthread_join(workers[i].native, NULL) == 0);
		refusals += workers[i].refusals;
	}
	CHECK(refused(1) + refused(4) == refusals && refusals != 0 && held == 0);
	struct pfs_memory_thread *thread = begin("a", "x");
	limit(PFS_MEMORY_EACH_THREAD, NULL, NULL, PFS_MEMORY_NO_LIMIT);
	CHECK(room(thread, 2 * LIMIT) == LIMIT);
	(void)printf("%u threads: at most %llu of %u bytes, %llu refused\n", count,
		     (unsigned long long)most, LIMIT, (unsigned long long)refusals);
	free(workers);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = { { "scopes", scopes }, { "resize", resize },
						  { "text", text },     { "late", late },
						  { "moves", moves },   { "fork", in_child },
						  { "box", box } };
	const char *name = argc > 1 ? argv[1] : "";
	open_books(argc == 3 ? argv[2] : NULL);
	if (argc == 5 && strcmp(name, "threads") == 0) {
		threads((uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
		pfs_memory_close(books);
		return 0;
	}
	if (run_case(cases, sizeof(cases) / sizeof(cases[0]), name, books))
		return 0;
	(void)fprintf(stderr, "usage: accounts_limits_test scopes|resize|text|late|moves|fork|"
			      "box FOLDER|threads N OPERATIONS SEED\n");
	return 2;
}
