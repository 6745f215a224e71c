#include "check/front/lives.h"

#include <stdio.h>

#include "check/front/user.h"

/* " NAME", or "". */
static const char *name_of(const void *object)
{
	static char text[PFS_NAME_BYTES + 1];
	const struct pfs_hooks *hooks = &pfs_user.machine->hooks;
	text[0] = ' ';
	if (hooks->name_address == NULL ||
	    !hooks->name_address(hooks->name_context, object, text + 1, sizeof(text) - 1))
		text[0] = '\0';
	return text;
}

void pfs_life_use(const struct pfs_life *self, const void *object, const struct pfs_life_kind *kind,
		  const struct pfs_sim_place *place)
{
	if (self->state == PFS_LIFE_BEGUN ||
	    (self->state == PFS_LIFE_STATIC && kind->has_initializer) || !pfs_user_runs())
		return;
	if (self->state == PFS_LIFE_ENDED)
		pfs_machine_find(PFS_FOUND_MISUSE,
				 PFS_SIDES(pfs_side_here("uses", place),
					   pfs_side(PFS_THREAD_NONE, "destroyed", self->by)),
				 "%s: the %s%s is used at " PFS_SIDE_1
				 ", after it was destroyed at " PFS_SIDE_2,
				 place->text, kind->name, name_of(object));
	else
		pfs_machine_find(PFS_FOUND_MISUSE, PFS_SIDES(pfs_side_here("uses", place)),
				 "%s: the %s%s is used at " PFS_SIDE_1 ", but was not initialized",
				 place->text, kind->name, name_of(object));
}

void pfs_life_begin(const struct pfs_life *self, const void *object,
		    const struct pfs_life_kind *kind, const struct pfs_sim_place *place)
{
	if (self->state != PFS_LIFE_BEGUN || !pfs_user_runs() ||
	    pfs_user_stack_of(object) != PFS_THREAD_NONE)
		return;
	pfs_machine_find(PFS_FOUND_MISUSE,
			 PFS_SIDES(pfs_side_here("initializes", place),
				   pfs_side(PFS_THREAD_NONE, "initialized", self->by)),
			 "%s: the %s%s is initialized at " PFS_SIDE_1
			 ", but was already initialized at " PFS_SIDE_2 " and not destroyed",
			 place->text, kind->name, name_of(object));
}
