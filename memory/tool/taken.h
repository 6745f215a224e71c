/*
 * taken.h - heap profiles as commands take them: chosen, named and compared by options.
 */
#ifndef PFS_MEM_TAKEN_H
#define PFS_MEM_TAKEN_H

#include "command.h"
#include "profile/heap.h"

/* Options of these commands. */
#define PFS_MEM_CHOICE                                                                \
	PFS_MEM_SWITCH("at-peak", 0, at_peak,                                         \
		       "as it was when the samples in use stood for the most bytes"), \
		PFS_MEM_READ("older-than", 0, "AGE", pfs_take_age,                    \
			     "only blocks in use for longer: 90, 10m, 2h, 3d"),       \
		PFS_MEM_READ("newer-than", 0, "AGE", pfs_take_age,                    \
			     "only blocks allocated since: 90, 10m, 2h, 3d"),         \
	{                                                                             \
		.name = "seconds", .value = "N", .kind = PFS_OPTION_NUMBER,           \
		.help = "show what grew and shrank in the next N seconds",            \
		.place.number = &pfs_arguments.seconds, .low = 1, .high = 86400       \
	}
#define PFS_MEM_SINCE                                                                             \
	PFS_MEM_TEXT("since", 0, "MOMENT", since,                                                 \
		     "show what grew and shrank since a kept moment: the nearest to an age (90, " \
		     "10m, 2h, 3d) or a local time (14:05, 2026-01-31 14:05)")
#define PFS_MEM_RULES                                                                   \
	PFS_MEM_TEXT("rules", 0, "FILE", rules,                                         \
		     "which frames to pass over, and what stacks are called; default: " \
		     "those for this program, if there are any")
pfs_option_read pfs_take_age;

/* Do these options go together? The exit status; a message was printed. */
int pfs_choice_check(const struct pfs_arguments *arguments);

/* The profile of the first word, compared with --base, with itself --seconds later, or with its
 * own history: --since. is_scaled:
 * if nothing is compared; with --history never. NULL: a message was printed. */
struct pfs_heap *pfs_heap_taken(const struct pfs_arguments *arguments, bool with_names,
				bool is_scaled);

#endif
