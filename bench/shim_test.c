/*
 * shim_test.c - a C program that uses every part of the shim and checks what came out.
 *
 * Bodies check what they are handed; main reads the JSON back. Exit 0 if all held.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

static int failures;
static int batch_runs;

static void expect(bool held, const char *what)
{
	if (held)
		return;
	failures++;
	fprintf(stderr, "shim_test: failed: %s\n", what);
}

static void body_batch(struct pfs_shim_state *state, void *user)
{
	expect(strcmp(user, "user") == 0, "the body sees the user's pointer");
	while (pfs_shim_keep_running_batch(state, 1000)) {
		pfs_shim_iteration_time(state, 1.0 / (1 << 20));
		batch_runs++;
	}
	expect(pfs_shim_iterations_wanted(state) == 1, "one iteration was asked for");
	expect(!pfs_shim_counter(state, "nan", (double)NAN), "NaN dropped");
	expect(!pfs_shim_counter(state, "inf", (double)INFINITY), "inf dropped");
	expect(!pfs_shim_counter(state, "iterations", 4.0), "name dropped");
	expect(pfs_shim_counter(state, "kept", 21.0), "counter kept");
	/* over repetitions, the coefficient of variation of this is 0 / 0 */
	expect(pfs_shim_counter(state, "zero", 0.0), "zero kept");
	pfs_shim_label(state, "a label");
}

static void body_error(struct pfs_shim_state *state, void *user)
{
	(void)user;
	pfs_shim_error(state, "meant to fail");
	while (pfs_shim_keep_running_batch(state, 1))
		expect(false, "no iteration after an error");
}

static void check_json(const char *path)
{
	/* clang-format off */
	static const char *const wanted[] = {
		"\"greeting\": \"hello \\\"C\\\"\"", "\"name\": \"batch/manual_time\"",
		"\"name\": \"batch/manual_time_cv\"", "\"iterations\": 1000,",
		"\"label\": \"a label\"", "\"kept\": 2.1000000000000000e+01",
		"\"zero\": 0.0", "\"real_time\": 9.5367431640625000e-01,\n",
		"\"error_message\": \"meant to fail\"",
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
	char *arguments[] = { argv[0], (char[]){ "--benchmark_min_time=1e-12" },
			      (char[]){ "--benchmark_repetitions=2" }, out, NULL };
	int count = 4;

	snprintf(out, sizeof(out), "--benchmark_out=%s", path);
	pfs_shim_context("greeting", "hello \"C\"");
	pfs_shim_register("batch", body_batch, (char[]){ "user" });
	pfs_shim_register("error", body_error, NULL);
	pfs_shim_initialize(&count, arguments);
	expect(count == 1, "the flags were taken");
	expect(pfs_shim_run() == 2, "both ran");
	expect(pfs_shim_errors() == 2, "the error of each repetition was counted");
	expect(pfs_shim_written(), "all output was taken");
	pfs_shim_shutdown();
	expect(batch_runs == 2, "one batch a repetition was enough");
	check_json(path);
	return failures == 0 ? 0 : 1;
}
