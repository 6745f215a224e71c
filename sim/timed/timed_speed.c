/*
 * timed_speed.c - how many accesses the machine in virtual time simulates in a second of one
 * real CPU: threads use their own lines, and a share of loads and CAS goes to common lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "containers/atomic.h"
#include "sim/timed/timed.h"
#include "base/command_line.h"
#include "sim/timed/timed_curves.h"

#define SHARED_LINES 64u
#define PRIVATE_LINES 16u
#define ACCESSES 8000000u

struct padded {
	_Alignas(64) _Atomic(uint64_t) word;
};

static struct padded common[SHARED_LINES];
static struct padded *own;
static uint32_t accesses_each, shared_percent;

static void body(void *argument)
{
	uintptr_t id = (uintptr_t)argument;
	struct padded *lines = own + id * PRIVATE_LINES;
	uint64_t random = id * 2 + 1;
	for (uint32_t i = 0; i < accesses_each; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		uint32_t at = (uint32_t)(random >> 40);
		if ((uint32_t)(random >> 33) % 100 >= shared_percent) {
			_Atomic(uint64_t) *word = &lines[at % PRIVATE_LINES].word;
			pfs_store_relaxed(word, pfs_load_relaxed(word) + 1);
			i++; /* these are two */
			continue;
		}
		_Atomic(uint64_t) *word = &common[at % SHARED_LINES].word;
		uint64_t seen = pfs_load_relaxed(word);
		if ((at & 0x10000) != 0) {
			(void)pfs_cas_relaxed(word, &seen, seen + 1);
			i++;
		}
	}
}

static bool measure(const char *machine, uint32_t threads)
{
	struct pfs_topology *topology;
	struct pfs_costs costs;
	struct pfs_message message;
	struct pfs_timed_stats stats;
	void *arguments[1024];
	if (pfs_topology_create(&topology, machine, &message) != PFS_OK ||
	    pfs_costs_find(&costs, PFS_COSTS_DEFAULT, &message) != PFS_OK) {
		(void)fprintf(stderr, "pfs-sim: %s\n", message.text);
		return false;
	}
	struct pfs_timed_plan plan = {
		.topology = topology, .costs = &costs, .thread_count = threads, .seed = 1
	};
	struct pfs_timed *timed = pfs_timed_create(&plan, &message);
	own = aligned_alloc(64, sizeof(*own) * PRIVATE_LINES * threads);
	if (timed == NULL || own == NULL) {
		(void)fprintf(stderr, "pfs-sim: no memory for the machine\n");
		return false;
	}
	memset(own, 0, sizeof(*own) * PRIVATE_LINES * threads);
	for (uintptr_t id = 0; id < threads; id++)
		arguments[id] = (void *)id;
	accesses_each = ACCESSES / threads;
	double before = pfs_now_seconds(CLOCK_PROCESS_CPUTIME_ID);
	bool fine = pfs_timed_run(timed, body, arguments);
	double seconds = pfs_now_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
	pfs_timed_get_stats(timed, &stats);
	if (fine)
		(void)printf("%7u %6u%% %10.1f %10.1f %9.1f%%\n", threads, shared_percent,
			     (double)stats.accesses / seconds / 1e6,
			     1e9 * seconds / (double)stats.accesses,
			     100.0 * (double)stats.hits / (double)stats.accesses);
	else
		(void)fprintf(stderr, "pfs-sim: %s\n", pfs_timed_message(timed));
	pfs_timed_destroy(timed);
	pfs_topology_destroy(topology);
	free(own);
	return fine;
}

int pfs_command_speed(int argc, char **argv)
{
	static const struct pfs_command_line line = {
		.program = "pfs-sim speed",
		.words = "",
		.about = "how fast virtual time is simulated here",
	};
	static const struct {
		const char *machine;
		uint32_t threads, shared_percent;
	} cases[] = { { "pack:2 numa:4 core:16 pu:2", 16, 10 },
		      { "pack:2 numa:4 core:16 pu:2", 256, 10 },
		      { "pack:2 numa:4 core:64 pu:2", 1024, 10 },
		      { "pack:2 numa:4 core:64 pu:2", 1024, 0 },
		      { "pack:2 numa:4 core:64 pu:2", 1024, 50 } };
	int status = pfs_command_line_read(&line, argc, argv, NULL);
	if (status != PFS_GO_ON)
		return status;
	(void)printf("%7s %7s %10s %10s %10s\n", "threads", "shared", "million/s", "ns each",
		     "hits");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		shared_percent = cases[i].shared_percent;
		if (!measure(cases[i].machine, cases[i].threads))
			return 2;
	}
	return 0;
}
