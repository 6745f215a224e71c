/*
 * ctl.c - what mallctl tells of counting: the heap profile.
 */
#include "counter.h"
#include "memory/malloc/ctl.h"
#include "memory/profile/profile.h"

static uint32_t profile_lg(void)
{
	const struct pfs_books *books = pfs_program_box() != NULL ? pfs_program.books : NULL;
	if (books == NULL || books->profile == NULL)
		return 0;
	uint32_t lg = pfs_load_relaxed(&books->control->profile_lg); /* relaxed: a switch */
	return lg >= 1 && lg <= PFS_PROFILE_LG_MOST ? lg : books->box.head->profile_lg;
}

static bool profile_is_active(void)
{
	/* relaxed: a switch. */
	return (pfs_load_relaxed(&pfs_program.books->control->profile_off) & 1) == 0;
}

static void profile_activate(bool active)
{
	struct pfs_box_control *control = pfs_program.books->control;
	pfs_store_relaxed(&control->profile_off, active ? 0 : 1); /* relaxed: announced next */
	pfs_box_announce(control);
}

const struct pfs_ctl_counting pfs_ctl_counting = { profile_lg, profile_is_active, profile_activate,
						   pfs_profile_dump, pfs_profile_restart };
