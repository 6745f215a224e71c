/*
 * shim_test.c - a C program that uses every part of the shim and checks what came out.
 *
 * Bodies check what they are handed; main reads the JSON back. Exit 0 if all held.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

static int failures;
static atomic_int set_ups, tear_downs, batch_runs;
static int64_t product_sum;

static void expect(bool held, const char *what)
{
	if (held)
		return;
	failures++;
	fprintf(stderr, "shim_test: not so: %s\n", what);
}

static void set_up(const struct pfs_shim_state *state, void *user)
{
	expect(pfs_shim_threads(state) == 2, "the hook sees the threads");
	expect(strcmp(user, "user") == 0, "the hook sees the user's pointer");
	atomic_fetch_add(&set_ups, 1);
}

static void tear_down(const struct pfs_shim_state *state, void *user)
{
	expect(pfs_shim_range(state, 0) == 5, "the hook sees the argument");
	(void)user;
	atomic_fetch_add(&tear_downs, 1);
}

static void body_threads(struct pfs_shim_state *state, void *user)
{
	expect(atomic_load(&set_ups) > atomic_load(&tear_downs), "set-up ran before the body");
	expect(strcmp(user, "user") == 0, "the body sees the user's pointer");
	while (pfs_shim_keep_running(state))
		;
	pfs_shim_counter(state, "summed", 1.0, PFS_SHIM_PLAIN);
	pfs_shim_counter(state, "averaged", 3.0, PFS_SHIM_AVERAGE_THREADS);
	pfs_shim_counter(state, "index", pfs_shim_thread_index(state), PFS_SHIM_PLAIN);
}

static void body_product(struct pfs_shim_state *state, void *user)
{
	(void)user;
	product_sum += pfs_shim_range(state, 0) * pfs_shim_range(state, 1);
	while (pfs_shim_keep_running(state))
		;
}

static void body_batch(struct pfs_shim_state *state, void *user)
{
	(void)user;
	while (pfs_shim_keep_running_batch(state, 1000)) {
		pfs_shim_pause(state);
		pfs_shim_resume(state);
		pfs_shim_iteration_time(state, 1.0 / (1 << 20));
		atomic_fetch_add(&batch_runs, 1);
	}
	expect(pfs_shim_iterations(state) == 1000, "iterations are the batch");
	expect(pfs_shim_iterations_wanted(state) == 1, "one iteration was asked for");
	expect(!pfs_shim_counter(state, "nan", (double)NAN, PFS_SHIM_PLAIN), "NaN dropped");
	expect(!pfs_shim_counter(state, "inf", (double)INFINITY, PFS_SHIM_PLAIN), "inf dropped");
	expect(!pfs_shim_counter(state, "iterations", 4.0, PFS_SHIM_PLAIN), "name dropped");
	expect(pfs_shim_counter(state, "rate", 21.0, PFS_SHIM_RATE), "rate kept");
	pfs_shim_counter(state, "each", 2000.0, PFS_SHIM_PER_ITERATION);
	pfs_shim_counter(state, "times", 2.0, PFS_SHIM_TIMES_ITERATIONS);
	pfs_shim_counter(state, "inverse", 0.5, PFS_SHIM_RATE | PFS_SHIM_INVERT);
	pfs_shim_counter(state, "binary", 4096.0, PFS_SHIM_BINARY_UNITS);
	pfs_shim_items(state, 1000);
	pfs_shim_bytes(state, 8000);
	pfs_shim_label(state, "a label");
	expect(!pfs_shim_failed(state), "no error yet");
}

static void body_error(struct pfs_shim_state *state, void *user)
{
	(void)user;
	pfs_shim_error(state, "meant to fail");
	expect(pfs_shim_failed(state), "the error is seen");
	while (pfs_shim_keep_running(state))
		expect(false, "no iteration after an error");
}

static void body_plain(struct pfs_shim_state *state, void *user)
{
	(void)user;
	while (pfs_shim_keep_running(state))
		;
	/* over repetitions, the coefficient of variation of this is 0 / 0 */
	pfs_shim_counter(state, "zero", 0.0, PFS_SHIM_PLAIN);
}

static void register_all(void)
{
	static char user[] = "user";
	const int64_t left[] = { 2, 3 }, right[] = { 5, 7 };
	const int64_t *const lists[] = { left, right };
	const char *const names[] = { "left", "right" };
	struct pfs_shim_case *one = pfs_shim_register("threads", body_threads, user);

	pfs_shim_case_threads(one, 2);
	pfs_shim_case_arg(one, 5);
	pfs_shim_case_iterations(one, 10);
	pfs_shim_case_real_time(one);
	expect(pfs_shim_case_hooks(one, set_up, tear_down), "hooks");

	one = pfs_shim_register("product", body_product, NULL);
	pfs_shim_case_args_product(one, lists, (const size_t[]){ 2, 2 }, 2);
	pfs_shim_case_arg_names(one, names, 2);
	pfs_shim_case_iterations(one, 1);

	one = pfs_shim_register("batch", body_batch, NULL);
	pfs_shim_case_manual_time(one);
	pfs_shim_case_unit(one, PFS_SHIM_US);

	pfs_shim_register("error", body_error, NULL);

	one = pfs_shim_register("plain", body_plain, NULL);
	pfs_shim_case_args(one, (const int64_t[]){ 1, 2 }, 2);
	pfs_shim_case_min_time(one, 1e-9);
	pfs_shim_case_process_cpu_time(one);
	one = pfs_shim_register("ranges", body_plain, NULL);
	pfs_shim_case_range(one, 1, 16, 4);
	pfs_shim_case_dense_range(one, 20, 24, 2);
	pfs_shim_case_thread_range(one, 1, 2);
	pfs_shim_case_repetitions(one, 2);
	pfs_shim_case_report_aggregates_only(one, true);
}

static void check_json(const char *path)
{
	/* clang-format off */
	static const char *const wanted[] = {
		"\"greeting\": \"hello \\\"C\\\"\"",
		"\"name\": \"threads/5/iterations:10/real_time/threads:2\"",
		"\"summed\": 2.0", "\"averaged\": 3.0", "\"index\": 1.0",
		"\"name\": \"product/left:3/right:7/iterations:1\"",
		"\"name\": \"batch/manual_time\"",
		"\"iterations\": 1000,", "\"label\": \"a label\"",
		"\"rate\": 2.2020096000000000e+07",
		"\"each\": 2.0",
		"\"times\": 2.0000000000000000e+03", "\"binary\": 4.096",
		"\"bytes_per_second\":",
		"\"items_per_second\":", "\"real_time\": 9.5367431640625000e-04,\n",
		"\"error_message\": \"meant to fail\"",
		"\"name\": \"plain/1/2/min_time:0.000/process_time\"",
		"\"name\": \"ranges/16/repeats:2/threads:2_mean\"",
		"\"name\": \"ranges/22/repeats:2/threads:1_mean\"", "\"zero\": 0.0",
	};
	/* clang-format on */
	static const char *const unwanted[] = { "NaN", "Infinity", "\"nan\"", "\"inf\"" };
	static char text[1 << 18];
	FILE *file = fopen(path, "r");

	if (file == NULL) {
		expect(false, "the JSON file was written");
		return;
	}
	size_t size = fread(text, 1, sizeof(text) - 1, file);
	text[size] = '\0';
	fclose(file);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		expect(strstr(text, wanted[i]) != NULL, wanted[i]);
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		expect(strstr(text, unwanted[i]) == NULL, unwanted[i]);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "shim_test.json";
	char out[512];
	char *arguments[] = { argv[0], (char[]){ "--benchmark_min_time=1e-12" }, out, NULL };
	int count = 3;

	snprintf(out, sizeof(out), "--benchmark_out=%s", path);
	pfs_shim_context("greeting", "hello \"C\"");
	register_all();
	pfs_shim_initialize(&count, arguments);
	expect(count == 1, "the flags were taken");
	expect(pfs_shim_run() == 20, "all twenty ran");
	expect(pfs_shim_errors() == 1, "one error was counted");
	pfs_shim_shutdown();
	expect(atomic_load(&set_ups) == 1 && atomic_load(&tear_downs) == 1, "hooks ran once");
	expect(product_sum == (2 + 3) * (5 + 7), "every combination ran once");
	expect(atomic_load(&batch_runs) == 1, "one batch was enough");
	check_json(path);
	return failures == 0 ? 0 : 1;
}
