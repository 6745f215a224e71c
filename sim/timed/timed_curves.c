#include "sim/timed/timed_curves.h"

#include "base/command_line.h"

#include <stdio.h>

#include "containers/message.h"

/* Transfers (l3_ns, node_ns) are computed from the published turns of each machine as in costs.c,
 * and the cost of an operation is the time of one thread. */
/* clang-format off */
static const struct pfs_curve curves[] = {
	{ "xeon-w2145-pass", "wtarreau/atomic-tests, results/xeon-op2: 41 of 39..44", "core:8 pu:2",
	  "two-socket", "l3_ns=58", PFS_CONTEND_PASS_CAS, true, 0.15, { { 2, 39, 44 } }, NULL },
	{ "xeon-w2145-load", "the same, results/xeon-op3: 88 of 82..97", "core:8 pu:2",
	  "two-socket", "l3_ns=58", PFS_CONTEND_PASS_LOAD, true, 0.15, { { 2, 82, 97 } }, NULL },
	{ "epyc-74f3-pass", "the same, lat-epyc-74F3: op 2 inside an L3", "l3:8 core:3 pu:1",
	  "epyc", "l3_ns=29", PFS_CONTEND_PASS_CAS, true, 0.25, { { 2, 18, 25 } }, NULL },
	{ "epyc-74f3-load", "the same, op 3 inside an L3", "l3:8 core:3 pu:1", "epyc", "l3_ns=29",
	  PFS_CONTEND_PASS_LOAD, true, 0.35, { { 2, 19, 36 } }, NULL },
	{ "here-add", "Intel at 2.3 GHz in a guest, two CPUs: fetch-add", "core:2 pu:1",
	  "two-socket", "l3_ns=80", PFS_CONTEND_ADD, true, 0.25,
	  { { 1, 6, 6 }, { 2, 20, 20 } }, NULL },
	{ "here-cas", "the same: load, CAS; success 75..90 %", "core:2 pu:1", "two-socket",
	  "l3_ns=80", PFS_CONTEND_LOAD_CAS, true, 0.25, { { 2, 30, 38 } }, NULL },
	{ "x86-add", "gist of jwbee: fetch-add at 1, 2, 4, 8 CPUs", "core:8 pu:1", "desktop",
	  "rmw_ns=7 l3_ns=27", PFS_CONTEND_ADD, true, 0.25,
	  { { 1, 7, 7 }, { 2, 21, 21 }, { 4, 18, 18 }, { 8, 16, 16 } }, NULL },
	{ "x86-cas", "the same: CAS loop", "core:8 pu:1", "desktop", "rmw_ns=7 l3_ns=27",
	  PFS_CONTEND_CAS, true, 0.7,
	  { { 1, 8.9, 8.9 }, { 2, 51, 51 }, { 4, 65, 65 }, { 8, 104, 104 } }, NULL },
	{ "m4-add", "v-code01/atomcliff, Apple M4: 542, 260, 74, 37 million/s", "l3:2 core:4 pu:1",
	  "graviton", "rmw_ns=1.84 l3_ns=40 node_ns=200 hold_share=0.4 late_share=0",
	  PFS_CONTEND_ADD, true, 0.9,
	  { { 1, 1.84, 1.84 }, { 2, 3.85, 3.85 }, { 4, 13.5, 13.5 }, { 8, 27, 27 } }, NULL },
	{ "ryzen-cas", "wtarreau/atomic-tests, cas-bench-ryzen: 16 threads, success 7..30 %",
	  "l3:2 core:4 pu:2", "desktop", "l3_ns=36 node_ns=172", PFS_CONTEND_LOAD_CAS, true, 0.35,
	  { { 16, 88, 88 } }, NULL },
	{ "lx2-cas", "wtarreau/atomic-tests, cas-bench-lx2, 8 clusters of 2; transfers of lat-lx2",
	  "l3:8 core:2 pu:1", "graviton", "l3_ns=91 node_ns=480", PFS_CONTEND_LOAD_CAS, false,
	  0.45, { { 16, 113, 113 } }, NULL },
	{ "i9-tas", "StarOrpheus/spinlock-benchmark, i9-9980HK, spinlock_simple", "core:8 pu:2",
	  "desktop", "", PFS_CONTEND_TAS, false, 0.35,
	  { { 2, 62.5, 62.5 }, { 4, 82.8, 82.8 }, { 8, 159, 159 }, { 16, 300, 300 } }, NULL },
	{ "i7-cas", "exabytes18/CAS, i7-3720QM: 158, 25, 13, 7.2 million/s", "core:4 pu:2",
	  "desktop", "rmw_ns=5.1", PFS_CONTEND_CAS, false, 1.0,
	  { { 1, 6.3, 6.3 }, { 2, 39.9, 39.9 }, { 4, 76.6, 76.6 } }, NULL },
	{ "i7-cas-siblings", "the same with 8 threads", "core:4 pu:2", "desktop", "rmw_ns=5.1",
	  PFS_CONTEND_CAS, false, 1.0, { { 8, 138.6, 138.6 } },
	  "siblings hand the line to each other too cheaply" },
};
/* clang-format on */

#define SOCKETS "pack:8 [numa] core:10 pu:1"
#define SOCKET "core:64 pu:1"
#define SIBLINGS "core:16 pu:2"
#define BESIDE PFS_TIMED_COMPACT /* threads next to each other */
#define SPREAD PFS_TIMED_SCATTER /* each on the next socket */
#define SERVER(machine, kind, placement, threads)                                 \
	{                                                                         \
		machine, "two-socket", "", PFS_CONTEND_##kind, placement, threads \
	}
#define DESKTOP(kind, threads)                                                    \
	{                                                                         \
		"core:8 pu:1", "desktop", "", PFS_CONTEND_##kind, BESIDE, threads \
	}

#define SOSP13 "David, Guerraoui, Trigonakis, SOSP 2013"
#define OLS12 "Boyd-Wickizer, Kaashoek, Morris, Zeldovich, OLS 2012"
#define LINUX "Linux 2c83e8e9492d, queued lock on a Westmere-EX of 4 sockets"
#define JMH "gist 5d47c42e of puzpuzpuz, Haswell, 32 CPUs, 32 threads"
static const struct pfs_relation relations[] = {
	{ "ticket 8 : 4", "a37h/mipt_acronis_mutexes, 8 CPUs: 14.24, 10.77", true, 1.32, 1.05, 1.65,
	  DESKTOP(TICKET, 8), DESKTOP(TICKET, 4), NULL },
	{ "ticket : mcs, 32", JMH, true, 1.33, 1.05, 1.7, SERVER(SIBLINGS, APART, BESIDE, 32),
	  SERVER(SIBLINGS, MCS, BESIDE, 32), NULL },
	{ "tas : mcs, 32", JMH, false, 3.13, 1.9, 5, SERVER(SIBLINGS, TAS, BESIDE, 32),
	  SERVER(SIBLINGS, MCS, BESIDE, 32), "exchanges without back-off wait too long" },
	{ "mcs 8 : 3 beside", LINUX ": 5759/8, 2324/3", false, 0.93, 0.7, 1.2,
	  SERVER(SOCKETS, MCS, BESIDE, 8), SERVER(SOCKETS, MCS, BESIDE, 3), NULL },
	{ "mcs 4, far : near", LINUX ": 10688, 2890", false, 3.7, 2.1, 6.5,
	  SERVER(SOCKETS, MCS, SPREAD, 4), SERVER(SOCKETS, MCS, BESIDE, 4), NULL },
	{ "mcs 3, far : near", LINUX ": 12242, 2324", false, 5.3, 3, 9.4,
	  SERVER(SOCKETS, MCS, SPREAD, 3), SERVER(SOCKETS, MCS, BESIDE, 3),
	  "its sockets are farther from each other than the preset's" },
	{ "add 2, far : near", SOSP13 ": sockets cost up to 8 times", false, 0, 1.5, 8,
	  SERVER(SOCKETS, ADD, SPREAD, 2), SERVER(SOCKETS, ADD, BESIDE, 2), NULL },
	{ "add 10 : 2, a socket", "SUSECON 2014, performance: smooth in a socket", false, 0, 1, 2.5,
	  SERVER(SOCKETS, ADD, BESIDE, 10), SERVER(SOCKETS, ADD, BESIDE, 2), NULL },
	{ "add 20 : 10, 2 sockets", "the same: with several sockets a huge drop", false, 0, 1.3, 8,
	  SERVER(SOCKETS, ADD, BESIDE, 20), SERVER(SOCKETS, ADD, BESIDE, 10), NULL },
	{ "add 80 : 10, 8 sockets", SOSP13 ", figure 4: falls", false, 0, 1.6, 8,
	  SERVER(SOCKETS, ADD, BESIDE, 80), SERVER(SOCKETS, ADD, BESIDE, 10), NULL },
	{ "cas 80 : 10, 8 sockets", SOSP13 ", figure 4: falls", false, 0, 1.6, 8,
	  SERVER(SOCKETS, CAS, BESIDE, 80), SERVER(SOCKETS, CAS, BESIDE, 10), NULL },
	{ "ticket 64 : 16", OLS12 ": each that waits makes it longer", false, 0, 1.4, 5,
	  SERVER(SOCKET, TICKET, BESIDE, 64), SERVER(SOCKET, TICKET, BESIDE, 16), NULL },
	{ "ticket apart 64 : 16", OLS12 ": the same", false, 0, 1.4, 5,
	  SERVER(SOCKET, APART, BESIDE, 64), SERVER(SOCKET, APART, BESIDE, 16), NULL },
	{ "mcs 64 : 16", OLS12 ": it does not", false, 0, 0.8, 1.25,
	  SERVER(SOCKET, MCS, BESIDE, 64), SERVER(SOCKET, MCS, BESIDE, 16), NULL },
	{ "ticket : mcs, 80", OLS12 ": collapses", false, 0, 1.25, 20,
	  SERVER(SOCKETS, TICKET, BESIDE, 80), SERVER(SOCKETS, MCS, BESIDE, 80), NULL },
	{ "ticket apart : mcs, 80", OLS12 ": collapses", false, 0, 1.1, 20,
	  SERVER(SOCKETS, APART, BESIDE, 80), SERVER(SOCKETS, MCS, BESIDE, 80), NULL },
	{ "tas : mcs, 80", SOSP13 ", figure 5: falls", false, 0, 1.5, 40,
	  SERVER(SOCKETS, TAS, BESIDE, 80), SERVER(SOCKETS, MCS, BESIDE, 80), NULL },
};

const struct pfs_curve *pfs_curve_at(uint32_t at)
{
	return at < sizeof(curves) / sizeof(curves[0]) ? &curves[at] : NULL;
}

const struct pfs_relation *pfs_relation_at(uint32_t at)
{
	return at < sizeof(relations) / sizeof(relations[0]) ? &relations[at] : NULL;
}

/* If there are siblings, each thread gets its own core, as in the original measurements. */
bool pfs_curve_measure(const struct pfs_curve *curve, uint32_t threads, uint64_t seed,
		       struct pfs_contend_answer *answer)
{
	const struct pfs_contend what = { curve->machine, curve->preset,     curve->changes,
					  curve->kind,    PFS_TIMED_SCATTER, threads };
	return pfs_contend(&what, seed, answer);
}

bool pfs_relation_measure(const struct pfs_relation *relation, uint64_t seed, double *times)
{
	struct pfs_contend_answer one, other;
	if (!pfs_contend(&relation->one, seed, &one) ||
	    !pfs_contend(&relation->other, seed, &other))
		return false;
	*times = one.ns / other.ns;
	return true;
}

/* Prints a line for each point. Returns how many are outside, or a negative number on failure. */
static int print_curve(const struct pfs_curve *curve)
{
	int outside = 0;
	for (uint32_t i = 0; i < 4 && curve->points[i].threads != 0; i++) {
		const struct pfs_curve_point *point = &curve->points[i];
		struct pfs_contend_answer answer;
		char published[32];
		if (!pfs_curve_measure(curve, point->threads, 1, &answer))
			return -1;
		bool fits = answer.ns >= point->low_ns / (1 + curve->tolerance) &&
			    answer.ns <= point->high_ns * (1 + curve->tolerance);
		outside += !fits;
		(void)snprintf(published, sizeof(published),
			       point->low_ns < point->high_ns ? "%.4g..%.4g" : "%.4g",
			       point->low_ns, point->high_ns);
		(void)printf("%-16s %7u %12s %8.1f %2.0f..%-3.0f %5.0f%% %-4s %s%s%s\n",
			     curve->name, point->threads, published, answer.ns,
			     100 * answer.success_least, 100 * answer.success_most,
			     100 * curve->tolerance,
			     !fits           ? "NO"
			     : curve->fitted ? "fit"
					     : "yes",
			     i == 0 ? curve->source : "", curve->differs != NULL ? "; known: " : "",
			     curve->differs != NULL ? curve->differs : "");
	}
	return curve->differs == NULL ? outside : outside == 0;
}

static int print_relation(const struct pfs_relation *relation)
{
	double times;
	char published[16] = "-";
	if (!pfs_relation_measure(relation, 1, &times))
		return -1;
	bool fits = times >= relation->low && times <= relation->high;
	if (relation->published > 0)
		(void)snprintf(published, sizeof(published), "%.2f", relation->published);
	(void)printf("%-24s %9s %8.2f %5.2f..%-5.2f %-4s %s%s%s\n", relation->name, published,
		     times, relation->low, relation->high,
		     !fits              ? "NO"
		     : relation->fitted ? "fit"
					: "yes",
		     relation->source, relation->differs != NULL ? "; known: " : "",
		     relation->differs != NULL ? relation->differs : "");
	return relation->differs == NULL ? !fits : fits;
}

int pfs_command_curves(int argc, char **argv)
{
	static const struct pfs_command_line line = {
		.program = "pfs-sim curves",
		.words = "",
		.about = "a contended line: the model beside what was published",
	};
	const struct pfs_curve *curve;
	const struct pfs_relation *relation;
	int outside = 0, more = 0;
	int status = pfs_command_line_read(&line, argc, argv, NULL);
	if (status != PFS_GO_ON)
		return status;
	(void)printf("%-16s %7s %12s %8s %6s %7s %-4s %s\n", "time, ns", "threads", "published",
		     "model", "CAS ok", "within", "", "source");
	for (uint32_t at = 0; more >= 0 && (curve = pfs_curve_at(at)) != NULL; at++)
		outside += (more = print_curve(curve));
	(void)printf("\n%-24s %9s %8s %12s %-4s %s\n", "times as long, threads", "published",
		     "model", "bounds", "", "source");
	for (uint32_t at = 0; more >= 0 && (relation = pfs_relation_at(at)) != NULL; at++)
		outside += (more = print_relation(relation));
	(void)printf("\nTimes are between two operations of all threads together. fit: the costs "
		     "are fitted to it;\nyes: they are not, and the model agrees; NO: it does "
		     "not\n");
	return more < 0 ? 2 : outside != 0;
}
