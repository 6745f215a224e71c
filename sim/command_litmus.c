#include "sim/command_litmus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/litmus.h"

static const char *text_of(bool allowed)
{
	return allowed ? "allowed" : "forbidden";
}

/* Executions of the machine must be executions of RC11, and all of them, but for the lines
 * where the table says that RC11 allows more. */
static bool check_counts(const struct pfs_litmus *litmus, const struct pfs_litmus_graphs *views,
			 const struct pfs_litmus_graphs *axioms)
{
	uint32_t wrong = pfs_litmus_missing(views, axioms);
	uint32_t lost = pfs_litmus_missing(axioms, views);
	bool excepted = litmus->c11 != NULL && strncmp(litmus->c11, "RC11 allows", 11) == 0;
	if (wrong != 0)
		(void)printf("  %s: %u executions that RC11 forbids\n", litmus->name, wrong);
	if ((lost != 0) != excepted)
		(void)printf("  %s: %u executions of RC11 are missing\n", litmus->name, lost);
	return wrong == 0 && (lost != 0) == excepted && axioms->met == (views->met || excepted);
}

static bool check(const struct pfs_litmus *litmus)
{
	static struct pfs_litmus_graphs found[3], axioms; /* used again, never freed */
	struct pfs_litmus_program program;
	bool good = pfs_litmus_parse(litmus, &program) && strlen(litmus->verdicts) == 3;
	if (!good) {
		(void)printf("%-14s its text is wrong\n", litmus->name);
		return false;
	}
	for (int model = 0; model < 3; model++)
		good &= pfs_litmus_run(&program, (enum pfs_machine_model)model, &found[model]) &&
			found[model].met == (litmus->verdicts[model] == 'A');
	pfs_litmus_axioms(&program, &axioms);
	(void)printf("%-14s %-20s %-9s %-9s %-9s %4u", litmus->name, litmus->outcome,
		     text_of(found[0].met), text_of(found[1].met), text_of(found[2].met),
		     found[2].count);
	if (program.has_barrier)
		(void)printf("    -");
	else
		(void)printf(" %4u", axioms.count);
	(void)printf("  %s%s\n", litmus->c11 != NULL ? litmus->c11 : "",
		     good ? "" : "  <-- NOT EXPECTED");
	return (program.has_barrier || check_counts(litmus, &found[2], &axioms)) && good;
}

int pfs_command_litmus(const char *name)
{
	unsigned passed = 0, failed = 0;
	(void)printf("%-14s %-20s %-9s %-9s %-9s %4s %4s\n", "litmus test", "weak outcome", "sc",
		     "tso", "views", "runs", "RC11");
	for (size_t at = 0; at < pfs_litmus_count; at++) {
		if (name != NULL && strcmp(name, pfs_litmus_table[at].name) != 0)
			continue;
		bool good = check(&pfs_litmus_table[at]);
		passed += good;
		failed += !good;
	}
	(void)printf("%u as they should be, %u not\n", passed, failed);
	if (passed + failed == 0) {
		(void)fprintf(stderr, "pfs-sim: litmus %s: no such test; pfs-sim litmus names "
			      "them\n", name);
		return 2;
	}
	return failed != 0;
}
