/*
 * pfs_litmus.c - pfs-litmus: what each memory model allows of litmus tests, and of random programs.
 *
 * The executions that `views` finds are compared with those that the axioms of RC11 allow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command_line.h"
#include "base/random.h"
#include "check/litmus/litmus.h"
#include "check/machine/model.h"

/* Executions of the machine must be executions of RC11, and all of them. */
static bool check_counts(const struct pfs_litmus *litmus, const struct pfs_litmus_graphs *views,
			 const struct pfs_litmus_graphs *axioms)
{
	uint32_t wrong = pfs_litmus_missing(views, axioms);
	uint32_t lost = pfs_litmus_missing(axioms, views);
	if (wrong != 0)
		(void)printf("  %s: %u executions that RC11 forbids\n", litmus->name, wrong);
	if (lost != 0)
		(void)printf("  %s: %u executions of RC11 are missing\n", litmus->name, lost);
	return wrong == 0 && lost == 0 && axioms->met == views->met;
}

static bool check(const struct pfs_litmus *litmus)
{
	/* Used again, never freed. */
	static struct pfs_litmus_graphs found, views, axioms;
	struct pfs_litmus_program program;
	size_t judged = strspn(litmus->verdicts, "AF");
	bool good = true;
	if (!pfs_litmus_parse(litmus, &program) || judged > PFS_MEMORY_MODELS) {
		(void)printf("%-14s its text is wrong\n", litmus->name);
		return false;
	}
	(void)printf("%-14s %-20s", litmus->name, litmus->outcome);
	for (uint32_t at = 0; at < PFS_MEMORY_MODELS; at++) {
		const struct pfs_memory_model *model = pfs_memory_models[at];
		struct pfs_litmus_graphs *graphs = model == &pfs_model_views ? &views : &found;
		good &= pfs_litmus_run(&program, model, graphs) &&
			(at >= judged || graphs->met == (litmus->verdicts[at] == 'A'));
		(void)printf(" %-9s", graphs->met ? "allowed" : "forbidden");
	}
	pfs_litmus_axioms(&program, &axioms);
	(void)printf(" %4u", views.count);
	if (program.has_barrier)
		(void)printf("    -");
	else
		(void)printf(" %4u", axioms.count);
	(void)printf(" %s%s\n", litmus->verdicts + judged, good ? "" : "  <-- NOT EXPECTED");
	return (program.has_barrier || check_counts(litmus, &views, &axioms)) && good;
}

/* ---- random programs ---- */

#ifndef PROGRAMS
#define PROGRAMS 2000u
#endif
#define PROGRAM_EVENTS 7u
#define SEED 20261121u

enum orders { WITHOUT_SEQ, ONLY_SEQ, ANY_ORDER, HALF_SEQ, SEQ_FENCES, SEQ_BOTH, VALID };

static uint8_t draw_order(enum orders orders, uint64_t *random)
{
	bool half = orders == HALF_SEQ || orders == SEQ_BOTH;
	if (orders == ONLY_SEQ || (half && pfs_random_below(random, 2) == 0))
		return PFS_SIM_SEQ;
	return (uint8_t)pfs_random_below(random, PFS_SIM_SEQ + (orders == ANY_ORDER));
}

static void draw_event(struct pfs_litmus_program *program, uint32_t thread, enum orders orders,
		       uint64_t *random)
{
	static const uint8_t kinds[] = { PFS_SIM_LOAD,  PFS_SIM_STORE,    PFS_SIM_LOAD,
					 PFS_SIM_STORE, PFS_SIM_EXCHANGE, PFS_SIM_ADD,
					 PFS_SIM_CAS };
	struct pfs_litmus_event *event = &program->events[program->event_count++];
	/* A seq compare-and-swap that fails is relaxed. */
	uint32_t kind_count = sizeof(kinds) - (orders == ONLY_SEQ);
	*event = (struct pfs_litmus_event){ .kind = kinds[pfs_random_below(random, kind_count)],
					    .order = draw_order(orders, random),
					    .thread = (uint8_t)thread,
					    .location = (uint8_t)pfs_random_below(random, 3),
					    .reg = PFS_LITMUS_NO_EVENT,
					    .value = 1 + pfs_random_below(random, 2),
					    .expected = pfs_random_below(random, 3) };
	if (pfs_litmus_reads(event->kind))
		event->reg = (uint8_t)program->reg_count++;
}

static void add_seq_fence(struct pfs_litmus_program *program, uint32_t thread)
{
	program->events[program->event_count++] =
		(struct pfs_litmus_event){ .kind = PFS_SIM_FENCE,
					   .order = PFS_SIM_SEQ,
					   .thread = (uint8_t)thread,
					   .location = PFS_LITMUS_NO_LOCATION,
					   .reg = PFS_LITMUS_NO_EVENT };
	program->has_fence = program->has_seq_fence = true;
}

static void draw(struct pfs_litmus_program *program, uint32_t number, enum orders orders,
		 uint64_t *random)
{
	if (orders == VALID) {
		pfs_litmus_draw(program, SEED, number);
		return;
	}
	*program = (struct pfs_litmus_program){ .thread_count = 2 + pfs_random_below(random, 3) };
	for (uint32_t thread = 0; thread < program->thread_count; thread++) {
		uint32_t count = 1 + pfs_random_below(random, 3);
		for (uint32_t i = 0; i < count && program->event_count < PROGRAM_EVENTS; i++) {
			bool fences = orders == SEQ_FENCES || orders == SEQ_BOTH;
			if (fences && i != 0 && pfs_random_below(random, 4) != 0)
				add_seq_fence(program, thread);
			draw_event(program, thread, orders, random);
		}
	}
}

/* Nothing that RC11 forbids, and all that it allows. */
static bool check_random(enum orders orders, const char *what)
{
	static struct pfs_litmus_graphs views, axioms;
	char text[PFS_LITMUS_TEXT];
	uint64_t random = SEED + (uint64_t)orders;
	uint32_t programs = 0, graphs = 0;
	for (; programs < PROGRAMS; programs++) {
		struct pfs_litmus_program program;
		draw(&program, programs, orders, &random);
		bool ended = pfs_litmus_run(&program, &pfs_model_views, &views);
		pfs_litmus_axioms(&program, &axioms);
		uint32_t wrong = pfs_litmus_missing(&views, &axioms);
		uint32_t lost = pfs_litmus_missing(&axioms, &views);
		graphs += axioms.count;
		if (ended && wrong == 0 && lost == 0)
			continue;
		(void)printf("%s: %u executions that RC11 forbids, %u of RC11 are missing%s\n",
			     what, wrong, lost, ended ? "" : ", the search did not end");
		pfs_litmus_write(&program, text);
		(void)printf("  %s\n", text);
		return false;
	}
	(void)printf("%u random programs %s: %u executions of RC11, all of them, none else\n",
		     programs, what, graphs);
	return true;
}

/* ---- outcomes ---- */

static void print_outcome(const struct pfs_litmus_program *program,
			  const struct pfs_litmus_outcome *outcome)
{
	static const char names[] = "xyzw";
	for (uint32_t reg = 0; reg < program->reg_count; reg++)
		(void)printf(" r%u=%u", reg, outcome->registers[reg]);
	for (uint32_t where = 0; where < PFS_LITMUS_LOCATIONS; where++)
		(void)printf(" %c=%u", names[where], outcome->final[where]);
	(void)printf("\n");
}

/* The program, and for each memory model its executions and their outcomes. */
static bool print_outcomes(const struct pfs_litmus_program *program)
{
	static struct pfs_litmus_graphs found; /* used again, never freed */
	char text[PFS_LITMUS_TEXT];
	pfs_litmus_write(program, text);
	(void)printf("%s\n", text);
	for (uint32_t model = 0; model < PFS_MEMORY_MODELS; model++) {
		const char *name = pfs_memory_models[model]->name;
		if (!pfs_litmus_run(program, pfs_memory_models[model], &found)) {
			(void)printf(" %s: the search did not end\n", name);
			return false;
		}
		(void)printf(" %s: %llu executions, %u outcomes\n", name,
			     (unsigned long long)found.executions, found.outcome_count);
		for (uint32_t i = 0; i < found.outcome_count; i++)
			print_outcome(program, &found.outcomes[i]);
	}
	return true;
}

static int run_outcomes(const char *name)
{
	bool good = true;
	for (size_t at = 0; at < pfs_litmus_count; at++) {
		struct pfs_litmus_program program;
		if (name != NULL && strcmp(name, pfs_litmus_table[at].name) != 0)
			continue;
		good &= pfs_litmus_parse(&pfs_litmus_table[at], &program) &&
			print_outcomes(&program);
	}
	return good ? 0 : 1;
}

static int run_drawn(uint64_t seed, uint64_t count)
{
	bool good = true;
	for (uint32_t number = 0; number < count; number++) {
		struct pfs_litmus_program program;
		pfs_litmus_draw(&program, seed, number);
		good &= print_outcomes(&program);
	}
	return good ? 0 : 1;
}

static int run(const char *name)
{
	unsigned passed = 0, failed = 0;
	(void)printf("%-14s %-20s", "litmus test", "weak outcome");
	for (uint32_t at = 0; at < PFS_MEMORY_MODELS; at++)
		(void)printf(" %-9s", pfs_memory_models[at]->name);
	(void)printf(" %4s %4s\n", "runs", "RC11");
	for (size_t at = 0; at < pfs_litmus_count; at++) {
		if (name != NULL && strcmp(name, pfs_litmus_table[at].name) != 0)
			continue;
		bool good = check(&pfs_litmus_table[at]);
		passed += good;
		failed += !good;
	}
	if (name == NULL) {
		failed += !check_random(WITHOUT_SEQ, "without seq");
		failed += !check_random(ONLY_SEQ, "of seq alone");
		failed += !check_random(ANY_ORDER, "of any orders");
		failed += !check_random(HALF_SEQ, "of which half is seq");
		failed += !check_random(SEQ_FENCES, "with seq fences, without seq operations");
		failed += !check_random(SEQ_BOTH, "with seq fences, of which half is seq");
		failed += !check_random(VALID, "with fences");
	}
	(void)printf("%u as they should be, %u not\n", passed, failed);
	return failed != 0;
}

static bool is_known(const char *name)
{
	for (size_t at = 0; at < pfs_litmus_count; at++)
		if (strcmp(name, pfs_litmus_table[at].name) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	uint64_t count = 0, seed = 1;
	bool outcomes = false;
	const struct pfs_option options[] = {
		PFS_SWITCH_OPTION("outcomes", &outcomes,
				  "print each program, its executions, and "
				  "what they come to, with each memory"),
		PFS_NUMBER_OPTION("random", "N", &count, 1, 10000000,
				  "the same of N random "
				  "programs"),
		PFS_NUMBER_OPTION("seed", "S", &seed, 0, UINT32_MAX, "of --random; default 1"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-litmus", .words = "[NAME]", .words_max = 1,
		.options = options, .option_count = sizeof(options) / sizeof(options[0]),
		.about = "checks what each memory model allows of litmus tests, of one or of all, "
			 "and of random programs",
		.after = "exit 0: all as it should be. 1: not. 2: bad usage.\n",
	};
	/* clang-format on */
	int next = 0, status = pfs_command_line_read(&line, argc, argv, &next);
	if (status != PFS_GO_ON)
		return status;
	if (argv[next] != NULL && !is_known(argv[next]))
		return pfs_command_refuse(line.program, PFS_EXIT_WRONG_USE,
					  "'%.80s': no such test; pfs-litmus lists them",
					  argv[next]);
	if (argv[next] != NULL && count != 0)
		return pfs_command_refuse(line.program, PFS_EXIT_WRONG_USE,
					  "--random generates its programs; leave out '%.80s'",
					  argv[next]);
	if (count != 0)
		return run_drawn(seed, count);
	return outcomes ? run_outcomes(argv[next]) : run(argv[next]);
}
