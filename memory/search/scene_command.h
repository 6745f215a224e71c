/*
 * scene_command.h - the command of a program that searches scenarios of its own: arguments, one
 * search, and its report. A scenario is one word for each thread, in which each letter is a call.
 */
#ifndef PFS_SIM_SCENE_COMMAND_H
#define PFS_SIM_SCENE_COMMAND_H

#include "check/search/search.h"

#define PFS_SCENE_CALLS_MAX 12u
#define PFS_SCENE_SUMS_MAX 4u

/* What every scenario has: the first member of a program's own struct. A NULL name ends a table. */
struct pfs_scene {
	const char *name;
	const char *calls; /* of each thread, with commas between threads */
	const char *summary;
};

struct pfs_scene_command {
	const char *program;
	const char *letters; /* the calls, for --help; lines */
	const void *scenes;  /* a table */
	size_t scene_bytes;  /* of an entry */
	uint32_t threads_max;
	/* Makes the next search one of this scene, whose own calls may have been replaced. */
	void (*choose)(const struct pfs_scene *scene, const char *calls);
	struct pfs_scenario scenario;
	struct pfs_machine **machine; /* set before the first execution */
	struct {
		const char *name;
		uint64_t *value; /* grows with executions, over all processes */
	} sums[PFS_SCENE_SUMS_MAX];
	/* Optional: an option of the program with a number; its name without dashes. */
	const char *option, *option_help;
	uint64_t *option_value;
};

/* Of a text with commas: the number of threads; the calls of one thread (false: too many). */
uint32_t pfs_scene_threads(const char *calls);
bool pfs_scene_calls_of(const char *text, uint32_t id, char *calls);

/* As main: the exit status. */
int pfs_scene_command(const struct pfs_scene_command *self, int argc, char **argv);

#endif
