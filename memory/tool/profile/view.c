/*
 * view.c - takes the three steps from a box to its lines: samples, names, sums.
 */
#include "view.h"

#include "memory/box/reader_profile.h"

bool pfs_view_take(struct pfs_view *self, struct pfs_reader *reader, bool at_peak,
		   const struct pfs_symbols_bounds *bounds, struct pfs_message *message)
{
	const struct pfs_heap_choice choice = { .is_scaled = true, .at_peak = at_peak };
	const struct pfs_holders_options options = { .of_total = false };
	struct pfs_symbols_report report;
	*self = (struct pfs_view){ 0 };
	if (!pfs_profile_is_there(reader))
		return true;
	self->heap = pfs_heap_of_box_chosen(reader, &choice, message);
	if (self->heap == NULL)
		return false;
	pfs_heap_look_up(self->heap, true, bounds, &report);
	self->late = report.late;
	self->rules = pfs_rules_open(NULL, self->heap, message);
	return self->rules != NULL && pfs_heap_is_whole(self->heap, message) &&
	       (pfs_holders_make(&self->holders, self->heap, self->rules, &options) ||
		pfs_refuse(message, "no memory for the lines of the profile"));
}

void pfs_view_drop(struct pfs_view *self)
{
	pfs_holders_drop(&self->holders);
	pfs_rules_close(self->rules);
	pfs_heap_free(self->heap);
	*self = (struct pfs_view){ 0 };
}
