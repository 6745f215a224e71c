/*
 * history_test.c - the linear check, on histories made by hand and against a search of all
 * orders on small random ones.
 */
#include "stress/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stress/harness/harness.h"

#define NEVER PFS_STAMP_NEVER
#define OPS_MAX 12u
#define RANDOM_HISTORIES 40000u

static void expect(enum pfs_verdict expected, const struct pfs_life *lives, size_t life_count,
		   const struct pfs_no_free *no_frees, size_t no_free_count, uint64_t records,
		   const struct pfs_span *spans, size_t span_count)
{
	struct pfs_life own_lives[OPS_MAX];
	struct pfs_no_free own_no_frees[OPS_MAX];
	struct pfs_span own_spans[OPS_MAX];
	for (size_t i = 0; i < life_count; i++)
		own_lives[i] = lives[i];
	for (size_t i = 0; i < no_free_count; i++)
		own_no_frees[i] = no_frees[i];
	for (size_t i = 0; i < span_count; i++)
		own_spans[i] = spans[i];
	struct pfs_history history = { own_lives,     life_count, own_no_frees,
				       no_free_count, records,    spans != NULL ? own_spans : NULL,
				       span_count };
	PFS_CHECK_IS(pfs_history_check(&history, NULL), expected);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define EXPECT(verdict, lives, no_frees, records) \
	expect(verdict, lives, COUNT(lives), no_frees, COUNT(no_frees), records, NULL, 0)
#define EXPECT_SPANS(verdict, lives, no_frees, records, spans)                          \
	expect(verdict, lives, COUNT(lives), no_frees, COUNT(no_frees), records, spans, \
	       COUNT(spans))

static void lives_of_one_record(const struct pfs_case *at)
{
	const struct pfs_life apart[] = { { 0, 0, 1, 2, 3 }, { 0, 4, 5, NEVER, NEVER } };
	/* The second allocate begins before the first free has ended: it may come after it. */
	const struct pfs_life meeting[] = { { 0, 0, 1, 3, 5 }, { 0, 2, 4, 6, 7 } };
	/* The second allocate returned before the free was even called: two owners. */
	const struct pfs_life twice[] = { { 0, 0, 1, 5, 6 }, { 0, 2, 3, 7, 8 } };
	const struct pfs_life for_ever[] = { { 0, 0, 1, NEVER, NEVER }, { 0, 2, 3, 4, 5 } };
	(void)at;
	expect(PFS_HISTORY_FINE, NULL, 0, NULL, 0, 3, NULL, 0);
	expect(PFS_HISTORY_FINE, apart, 2, NULL, 0, 1, NULL, 0);
	expect(PFS_HISTORY_FINE, meeting, 2, NULL, 0, 1, NULL, 0);
	expect(PFS_HISTORY_DOUBLE, twice, 2, NULL, 0, 1, NULL, 0);
	expect(PFS_HISTORY_DOUBLE, for_ever, 2, NULL, 0, 1, NULL, 0);
}

static void answers_of_full(const struct pfs_case *at)
{
	const struct pfs_life both[] = { { 0, 0, 1, 8, 9 }, { 1, 2, 3, 10, 11 } };
	const struct pfs_no_free inside[] = { { 4, 5 } };
	const struct pfs_no_free after[] = { { 12, 13 } };
	/* Record 1 may be free only from 10 on: the answer that began before is right. */
	const struct pfs_life early[] = { { 0, 0, 1, NEVER, NEVER }, { 1, 2, 3, 5, 6 } };
	const struct pfs_no_free overlapping[] = { { 4, 9 } };
	const struct pfs_no_free late[] = { { 7, 9 } };
	const struct pfs_life one[] = { { 0, 0, 1, NEVER, NEVER } };
	const struct pfs_no_free then[] = { { 2, 3 } };
	(void)at;
	EXPECT(PFS_HISTORY_FINE, both, inside, 2);
	EXPECT(PFS_HISTORY_FALSE_FULL, both, after, 2);
	EXPECT(PFS_HISTORY_FALSE_FULL, both, inside, 3); /* record 2 was never used */
	EXPECT(PFS_HISTORY_FINE, early, overlapping, 2);
	EXPECT(PFS_HISTORY_FALSE_FULL, early, late, 2);
	EXPECT(PFS_HISTORY_FINE, one, then, 1);
	expect(PFS_HISTORY_FALSE_FULL, NULL, 0, then, 1, 1, NULL, 0);
	expect(PFS_HISTORY_FINE, NULL, 0, then, 1, 0, NULL, 0); /* there is no record */
}

/* The free records take turns: at each moment one is free, so "full" is wrong although each
 * of them was in use at some moment of the call. A scan that misses both answers so. */
static void a_free_record_that_moves(const struct pfs_case *at)
{
	const struct pfs_life lives[] = { { 0, 0, 1, 5, 6 }, /* in use, then free */
					  { 1, 3, 4, NEVER, NEVER } };
	const struct pfs_life moved[] = { { 0, 0, 1, 3, 4 }, { 1, 6, 7, NEVER, NEVER } };
	const struct pfs_no_free scan[] = { { 2, 8 } };
	(void)at;
	EXPECT(PFS_HISTORY_FINE, lives, scan, 2); /* both in use between 4 and 5 */
	EXPECT(PFS_HISTORY_FALSE_FULL, moved, scan, 2);
}

static void records_that_come(const struct pfs_case *at)
{
	const struct pfs_life lives[] = { { 0, 0, 1, NEVER, NEVER }, { 1, 4, 7, NEVER, NEVER } };
	const struct pfs_no_free before[] = { { 2, 3 } };
	const struct pfs_no_free growing[] = { { 3, 6 } };
	const struct pfs_span spans[] = { { 0, 0, NEVER, true }, { 1, 5, NEVER, false } };
	const struct pfs_span always[] = { { 0, 0, NEVER, true }, { 1, 0, NEVER, true } };
	const struct pfs_span late[] = { { 0, 0, NEVER, true }, { 1, 8, NEVER, false } };
	(void)at;
	EXPECT_SPANS(PFS_HISTORY_FINE, lives, before, 2, spans);
	EXPECT_SPANS(PFS_HISTORY_FALSE_FULL, lives, before, 2, always);
	EXPECT_SPANS(PFS_HISTORY_FINE, lives, growing, 2, spans);
	EXPECT_SPANS(PFS_HISTORY_NO_PAGE, lives, growing, 2, late);
}

/* Record 1's page goes and comes back. */
static void records_that_go(const struct pfs_case *at)
{
	const struct pfs_life lives[] = { { 0, 0, 1, NEVER, NEVER },
					  { 1, 2, 3, 4, 6 },
					  { 1, 12, 15, 16, 17 } };
	const struct pfs_no_free between[] = { { 8, 9 } };
	const struct pfs_no_free around[] = { { 10, 14 } };
	const struct pfs_no_free after[] = { { 18, 19 } };
	/* The free has not returned when the page goes: it came before. */
	const struct pfs_span goes[] = { { 0, 0, NEVER, true },
					 { 1, 0, 5, true },
					 { 1, 13, NEVER, false } };
	const struct pfs_span early[] = { { 0, 0, NEVER, true },
					  { 1, 0, 2, true },
					  { 1, 13, NEVER, false } };
	const struct pfs_span in_use[] = { { 0, 0, NEVER, true },
					   { 1, 0, 5, true },
					   { 1, 11, 16, false } };
	const struct pfs_span stays[] = { { 0, 0, NEVER, true }, { 1, 0, NEVER, true } };
	const struct pfs_span for_ever[] = { { 0, 0, 7, true }, { 1, 0, NEVER, true } };
	(void)at;
	EXPECT_SPANS(PFS_HISTORY_FINE, lives, between, 2, goes);
	EXPECT_SPANS(PFS_HISTORY_FINE, lives, around, 2, goes);
	EXPECT_SPANS(PFS_HISTORY_FALSE_FULL, lives, after, 2, goes);
	EXPECT_SPANS(PFS_HISTORY_FALSE_FULL, lives, between, 2, stays);
	EXPECT_SPANS(PFS_HISTORY_NO_PAGE, lives, between, 2, early);
	EXPECT_SPANS(PFS_HISTORY_FINE, lives, between, 2, in_use);
	EXPECT_SPANS(PFS_HISTORY_NO_PAGE, lives, between, 2, for_ever);
}

static void malformed_ones(const struct pfs_case *at)
{
	const struct pfs_life backwards[] = { { 0, 1, 0, 2, 3 } };
	const struct pfs_life freed_early[] = { { 0, 0, 3, 2, 4 } };
	const struct pfs_life half_freed[] = { { 0, 0, 1, 2, NEVER } };
	const struct pfs_life unknown[] = { { 7, 0, 1, 2, 3 } };
	const struct pfs_no_free empty[] = { { 4, 4 } };
	(void)at;
	expect(PFS_HISTORY_MALFORMED, backwards, 1, NULL, 0, 1, NULL, 0);
	expect(PFS_HISTORY_MALFORMED, freed_early, 1, NULL, 0, 1, NULL, 0);
	expect(PFS_HISTORY_MALFORMED, half_freed, 1, NULL, 0, 1, NULL, 0);
	expect(PFS_HISTORY_MALFORMED, unknown, 1, NULL, 0, 1, NULL, 0);
	expect(PFS_HISTORY_MALFORMED, NULL, 0, empty, 1, 1, NULL, 0);
}

/* The search of all orders. An operation: life i's allocate or free, or an answer. */
enum op_kind { OP_ALLOCATE, OP_FREE, OP_NO_FREE, OP_PUBLISH, OP_UNLINK };
struct op {
	enum op_kind kind;
	uint32_t life; /* its own position in the list for an allocate */
	uint64_t record, inv, res;
};

struct small_history {
	struct op ops[OPS_MAX];
	uint32_t op_count;
	uint64_t record_count, exist; /* bits of records that exist from the start */
	bool spans;                   /* or all do, always */
	bool dead[1u << OPS_MAX];     /* sets of done operations that lead nowhere */
};

/* Sets of records, as bits. */
struct state {
	uint64_t used, exist;
};

static bool may_follow(const struct small_history *self, uint32_t done, struct state state,
		       uint32_t i)
{
	const struct op *op = &self->ops[i];
	uint64_t bit = UINT64_C(1) << op->record;
	for (uint32_t j = 0; j < self->op_count; j++) {
		if ((done >> j & 1) == 0 && j != i && self->ops[j].res < op->inv)
			return false; /* j ended before i began, and is not done */
	}
	switch (op->kind) {
	case OP_ALLOCATE: return (state.exist & bit) != 0 && (state.used & bit) == 0;
	case OP_FREE: return (done >> op->life & 1) != 0;
	case OP_PUBLISH: return (state.exist & bit) == 0;
	case OP_UNLINK: return (state.exist & bit) != 0 && (state.used & bit) == 0;
	default: return state.used == state.exist;
	}
}

static struct state after(struct state state, const struct op *op)
{
	uint64_t bit = UINT64_C(1) << op->record;
	switch (op->kind) {
	case OP_ALLOCATE: state.used |= bit; break;
	case OP_FREE: state.used &= ~bit; break;
	case OP_PUBLISH: state.exist |= bit; break;
	case OP_UNLINK: state.exist &= ~bit; break;
	case OP_NO_FREE: break;
	}
	return state;
}

static bool is_linearizable(struct small_history *self, uint32_t done, struct state state)
{
	if (done == (1u << self->op_count) - 1)
		return true;
	if (self->dead[done])
		return false;
	for (uint32_t i = 0; i < self->op_count; i++) {
		if ((done >> i & 1) == 0 && may_follow(self, done, state, i) &&
		    is_linearizable(self, done | 1u << i, after(state, &self->ops[i])))
			return true;
	}
	self->dead[done] = true;
	return false;
}

/* Threads draw stamps in turn. The answer of an operation is random, too, so that good and bad
 * histories are about equally frequent. */
static void draw(struct small_history *self, uint64_t *random, bool spans)
{
	int running[4] = { -1, -1, -1, -1 };
	bool freed[OPS_MAX] = { false };
	uint32_t threads = 2 + pfs_random_below(random, 3), open = 0;
	uint32_t wanted = 3 + pfs_random_below(random, OPS_MAX - 4);
	memset(self, 0, sizeof(*self));
	self->record_count = 1 + pfs_random_below(random, 3);
	self->spans = spans;
	self->exist = (UINT64_C(1) << self->record_count) - 1;
	if (spans)
		self->exist &= pfs_random_below(random, 8);
	uint64_t exist = self->exist;
	for (uint64_t stamp = 0; self->op_count < wanted || open != 0;) {
		uint32_t thread = pfs_random_below(random, threads);
		if (running[thread] >= 0) {
			self->ops[running[thread]].res = stamp++;
			running[thread] = -1;
			open--;
			continue;
		}
		if (self->op_count >= wanted)
			continue;
		struct op op = { .kind = OP_ALLOCATE, .inv = stamp, .res = UINT64_MAX };
		op.life = self->op_count;
		op.record = pfs_random_below(random, (uint32_t)self->record_count);
		uint32_t what = pfs_random_below(random, 10);
		if (what < 5 && self->op_count != 0) {
			uint32_t life = pfs_random_below(random, self->op_count);
			if (self->ops[life].kind != OP_ALLOCATE || freed[life] ||
			    self->ops[life].res > stamp)
				continue;
			freed[life] = true;
			op.kind = OP_FREE;
			op.life = life;
			op.record = self->ops[life].record;
		} else if (what == 9) {
			op.kind = OP_NO_FREE;
		} else if (spans && what >= 7) {
			op.kind = (exist >> op.record & 1) != 0 ? OP_UNLINK : OP_PUBLISH;
			exist ^= UINT64_C(1) << op.record;
			op.res = stamp++;
			self->ops[self->op_count++] = op;
			continue;
		}
		stamp++;
		running[thread] = (int)self->op_count;
		self->ops[self->op_count++] = op;
		open++;
	}
}

/* The spans of a history that was drawn. */
static size_t spans_of(const struct small_history *self, struct pfs_span *spans)
{
	struct pfs_span *open[3] = { NULL };
	size_t count = 0;
	for (uint64_t record = 0; record < self->record_count; record++) {
		if ((self->exist >> record & 1) == 0)
			continue;
		open[record] = &spans[count++];
		*open[record] = (struct pfs_span){ record, 0, NEVER, true };
	}
	for (uint32_t i = 0; i < self->op_count; i++) {
		const struct op *op = &self->ops[i];
		if (op->kind == OP_UNLINK)
			open[op->record]->until = op->inv;
		if (op->kind != OP_PUBLISH)
			continue;
		open[op->record] = &spans[count++];
		*open[op->record] = (struct pfs_span){ op->record, op->inv, NEVER, false };
	}
	return count;
}

static enum pfs_verdict check_linearly(const struct small_history *self)
{
	struct pfs_life lives[OPS_MAX];
	struct pfs_no_free no_frees[OPS_MAX];
	struct pfs_span spans[OPS_MAX + 3];
	uint32_t place[OPS_MAX];
	struct pfs_history history = { lives, 0, no_frees, 0, self->record_count, NULL, 0 };
	for (uint32_t i = 0; i < self->op_count; i++) {
		const struct op *op = &self->ops[i];
		if (op->kind == OP_ALLOCATE) {
			place[i] = (uint32_t)history.life_count;
			lives[history.life_count++] = (struct pfs_life){ op->record, op->inv,
									 op->res, NEVER, NEVER };
		} else if (op->kind == OP_FREE) {
			lives[place[op->life]].free_inv = op->inv;
			lives[place[op->life]].free_res = op->res;
		} else if (op->kind == OP_NO_FREE) {
			no_frees[history.no_free_count++] = (struct pfs_no_free){ op->inv,
										  op->res };
		}
	}
	if (self->spans) {
		history.spans = spans;
		history.span_count = spans_of(self, spans);
	}
	return pfs_history_check(&history, NULL);
}

static void compare_with_all_orders(uint64_t seed, bool with_spans)
{
	static struct small_history history;
	uint32_t met[PFS_HISTORY_NO_MEMORY + 1] = { 0 };
	uint64_t random = seed;
	for (uint32_t i = 0; i < RANDOM_HISTORIES; i++) {
		draw(&history, &random, with_spans);
		enum pfs_verdict verdict = check_linearly(&history);
		struct state first = { 0, history.exist };
		PFS_CHECK_IS(verdict == PFS_HISTORY_FINE, is_linearizable(&history, 0, first));
		met[verdict]++;
	}
	/* All kinds came up often. */
	PFS_CHECK(met[PFS_HISTORY_FINE] > RANDOM_HISTORIES / 20 &&
		  met[PFS_HISTORY_DOUBLE] > RANDOM_HISTORIES / 40 &&
		  met[PFS_HISTORY_FALSE_FULL] > RANDOM_HISTORIES / 50 &&
		  (met[PFS_HISTORY_NO_PAGE] > RANDOM_HISTORIES / 20) == with_spans);
}

static void agrees_with_all_orders(const struct pfs_case *at)
{
	(void)at;
	compare_with_all_orders(20240607, false);
}

static void agrees_where_pages_come_and_go(const struct pfs_case *at)
{
	(void)at;
	compare_with_all_orders(20240608, true);
}

static const struct pfs_test tests[] = {
	{ .name = "history: lives of one record", .run = lives_of_one_record },
	{ .name = "history: answers of full", .run = answers_of_full },
	{ .name = "history: a free record that moves", .run = a_free_record_that_moves },
	{ .name = "history: records that come", .run = records_that_come },
	{ .name = "history: records that go", .run = records_that_go },
	{ .name = "history: malformed ones", .run = malformed_ones },
	{ .name = "history: agrees with all orders", .run = agrees_with_all_orders },
	{ .name = "history: agrees where pages come and go",
	  .run = agrees_where_pages_come_and_go },
};

int main(int argc, char **argv)
{
	return pfs_tests_main(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
