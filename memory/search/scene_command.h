/*
 * scene_command.h - the command of a program that searches scenarios of its own: arguments, one
 * search, and what it says of it. A scenario is a text of letters for each thread, a letter a call.
 */
#ifndef PFS_SIM_SCENE_COMMAND_H
#define PFS_SIM_SCENE_COMMAND_H

#include "check/search/search.h"

#define PFS_SCENE_CALLS_MAX 12u
#define PFS_SCENE_SUMS_MAX 4u

struct pfs_scene_command {
	const char *program;
	const char *letters; /* which there are, for --help; lines */
	/* The scenario of a name, which has other calls if they are not NULL; false: none. */
	bool (*choose)(const char *name, size_t name_length, const char *calls);
	void (*list)(void); /* names, calls and summaries, to standard output */
	struct pfs_scenario scenario;
	struct pfs_machine **machine; /* set before the first execution */
	struct {
		const char *name;
		uint64_t *value; /* grows with executions, over all processes */
	} sums[PFS_SCENE_SUMS_MAX];
	/* One option of the program's own, with a number, by its name without dashes. Optional. */
	const char *option, *option_help;
	uint64_t *option_value;
};

/* Of a text with commas: how many threads; the calls of one, false: too many. */
uint32_t pfs_scene_threads(const char *calls);
bool pfs_scene_calls_of(const char *text, uint32_t id, char *calls);

/* As main: the exit status. */
int pfs_scene_command(const struct pfs_scene_command *self, int argc, char **argv);

#endif
