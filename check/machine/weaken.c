#include "check/machine/weaken.h"

#include <stdlib.h>
#include <string.h>

bool pfs_weaken_parse(struct pfs_weaken *self, char *text)
{
	char *equal = strstr(text, "=relaxed"), *end = NULL;
	if (equal != NULL)
		*equal = '\0';
	char *colon = strrchr(text, ':');
	*self = (struct pfs_weaken){ .text = text, .fully = equal != NULL };
	if (colon == NULL || colon == text)
		return text[0] != '\0';
	long line = strtol(colon + 1, &end, 10);
	if (end == colon + 1 || *end != '\0' || line <= 0)
		return true;
	*colon = '\0';
	self->file = text;
	self->text = NULL;
	self->line = (int)line;
	return true;
}

static enum pfs_sim_order weaker(const struct pfs_sim_operation *operation, bool fully)
{
	if (operation->order != PFS_SIM_SEQ || fully)
		return PFS_SIM_RELAXED;
	switch (operation->kind) {
	case PFS_SIM_LOAD: return PFS_SIM_ACQUIRE;
	case PFS_SIM_STORE: return PFS_SIM_RELEASE;
	default: return PFS_SIM_ACQ_REL;
	}
}

static bool ends_with(const char *path, const char *end)
{
	size_t length = strlen(path), wanted = strlen(end);
	return wanted <= length && strcmp(path + length - wanted, end) == 0 &&
	       (wanted == length || path[length - wanted - 1] == '/');
}

void pfs_weaken_apply(struct pfs_weaken *self, struct pfs_sim_operation *operation)
{
	const struct pfs_sim_place *place = operation->place;
	if (operation->kind > PFS_SIM_AND || operation->order == PFS_SIM_RELAXED)
		return;
	if (self->saw != NULL)
		self->saw(self->context, operation);
	if (self->file == NULL && self->text == NULL)
		return;
	if (self->file != NULL ? place->line != self->line || !ends_with(place->file, self->file)
			       : strcmp(place->text, self->text) != 0)
		return;
	operation->order = (uint8_t)weaker(operation, self->fully);
	self->met++;
}
