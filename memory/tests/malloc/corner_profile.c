/*
 * corner_profile.c - prof.* of mallctl: switched, reset, and dumped while another thread allocates.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "je.h"

OUR_CORNER(profile_switched)
{
	bool active = true;
	size_t length = sizeof(active);
	CORNER_CHECK(je_bool("config.prof") == je_is_counted(), "config.prof");
	if (!je_is_counted()) {
		CORNER_CHECK(mallctl("prof.active", &active, &length, NULL, 0) == ENOENT,
			     "prof.active without a profile");
		corner_skip("no profile");
	}
	CORNER_CHECK(je_bool("opt.prof") && je_size("prof.lg_sample") == 19, "lg_sample");
	CORNER_CHECK(je_size("opt.lg_prof_sample") == 19, "opt.lg_prof_sample");
	for (unsigned i = 0; i < 2; i++) {
		active = i == 1;
		CORNER_CHECK(je_bool("prof.active") != active, "before");
		je_write("prof.active", &active, sizeof(active));
		CORNER_CHECK(je_bool("prof.active") == active, "after");
	}
}

static _Atomic(bool) is_over;

static void *churn(void *unused)
{
	while (!is_over) {
		void *volatile many[100];
		for (unsigned i = 0; i < 100; i++)
			many[i] = malloc(3000);
		for (unsigned i = 0; i < 100; i++)
			free(many[i]);
	}
	return unused;
}

/* The sum of all threads, as the dump has it. */
static void check_dump(const char *path, double least, double most)
{
	static char text[1 << 16];
	double objects = 0, bytes = 0;
	FILE *file = fopen(path, "r");
	size_t got = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[got] = '\0';
	if (file != NULL)
		(void)fclose(file);
	CORNER_CHECK(sscanf(text, "heap_v2/1\n  t*: %lf: %lf [0: 0]\n  t", &objects, &bytes) == 2,
		     "the dump begins with %.60s", text);
	CORNER_CHECK(bytes > least && bytes < most, "%.0f bytes", bytes);
	CORNER_CHECK(strstr(text, "\n@ 0x") != NULL, "a stack");
}

OUR_CORNER(profile_dumped)
{
	char path[] = "/tmp/pfs_dump_XXXXXX";
	const char *name = path, *nowhere = "/nothing/here";
	pthread_t thread;
	size_t value = 0, length = sizeof(value);
	if (!je_is_counted())
		corner_skip("no profile");
	CORNER_CHECK(close(mkstemp(path)) == 0, "%s", path);
	CORNER_CHECK(pthread_create(&thread, NULL, churn, NULL) == 0, "a thread");
	for (unsigned i = 0; i < 40; i++)
		memset(malloc(1 << 20), 1, 1);
	for (unsigned i = 0; i < 20; i++)
		je_write("prof.dump", &name, sizeof(name));
	is_over = true;
	(void)pthread_join(thread, NULL);
	check_dump(path, 25e6, 65e6);
	(void)unlink(path);
	CORNER_CHECK(mallctl("prof.dump", NULL, NULL, &nowhere, sizeof(nowhere)) == EFAULT,
		     "a path that cannot be");
	CORNER_CHECK(mallctl("prof.dump", &value, &length, NULL, 0) == EPERM, "it is read");
}

/* Samples from before a reset are in no later dump; the interval is the new one. */
OUR_CORNER(profile_reset)
{
	char path[] = "/tmp/pfslab-dump-XXXXXX";
	const char *name = path;
	size_t lg = 16, length = sizeof(length);
	if (!je_bool("config.prof"))
		corner_skip("no profile");
	CORNER_CHECK(close(mkstemp(path)) == 0, "%s", path);
	for (unsigned i = 0; i < 48; memset(malloc(1 << 20), 1, 1), i++)
		if (i == 40)
			je_write("prof.reset", &lg, sizeof(lg));
	je_write("prof.dump", &name, sizeof(name));
	check_dump(path, 8e6, 9e6); /* each is sampled */
	CORNER_CHECK(mallctl("prof.reset", NULL, NULL, NULL, 0) == 0, "without an interval");
	CORNER_CHECK(mallctl("prof.reset", &lg, &length, NULL, 0) == EPERM, "it is read");
	lg = 1000;
	je_write("prof.reset", &lg, sizeof(lg));
	CORNER_CHECK(je_size("prof.lg_sample") == 62, "at most");
	(void)unlink(path);
}
