/*
 * timed_curves_test.c - the machine in virtual time compared with published figures of real ones.
 */
#include <stdio.h>

#include "sim/tests/expect_where.h"
#include "sim/timed/timed_curves.h"

/* Both lists: entries that are known to differ must differ, so that no list hides an agreement. */
static void test_curves(void)
{
	const struct pfs_curve *curve;
	for (uint32_t at = 0; (curve = pfs_curve_at(at)) != NULL; at++) {
		for (uint32_t i = 0; i < 4 && curve->points[i].threads != 0; i++) {
			const struct pfs_curve_point *point = &curve->points[i];
			struct pfs_contend_answer answer = { 0 };
			EXPECT(pfs_curve_measure(curve, point->threads, 2, &answer) &&
				       (answer.ns >= point->low_ns / (1 + curve->tolerance) &&
					answer.ns <= point->high_ns * (1 + curve->tolerance)) ==
					       (curve->differs == NULL),
			       "%s, %u threads: %.1f ns", curve->name, point->threads, answer.ns);
		}
	}
}

static void test_relations(void)
{
	const struct pfs_relation *relation;
	for (uint32_t at = 0; (relation = pfs_relation_at(at)) != NULL; at++) {
		double times = 0;
		EXPECT(pfs_relation_measure(relation, 2, &times) &&
			       (times >= relation->low && times <= relation->high) ==
				       (relation->differs == NULL),
		       "%s: %.2f times, not %.2f to %.2f", relation->name, times, relation->low,
		       relation->high);
	}
}

static int run(int argc, char **argv)
{
	(void)argc, (void)argv;
	test_curves();
	test_relations();
	if (failures == 0)
		(void)printf("published curves: all as told\n");
	return failures != 0;
}

int main(int argc, char **argv)
{
	return pfs_timed_in_place(run, argc, argv);
}
