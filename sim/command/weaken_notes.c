#include "sim/command/weaken_notes.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The next field of a line, without the space around it, into a buffer; false: none, too long. */
static bool take_field(char **rest, char *field, size_t field_bytes)
{
	char *text = strsep(rest, "|");
	if (text == NULL)
		return false;
	while (isspace((unsigned char)*text))
		text++;
	size_t length = strlen(text);
	while (length != 0 && isspace((unsigned char)text[length - 1]))
		length--;
	if (length == 0 || length >= field_bytes)
		return false;
	memcpy(field, text, length);
	field[length] = '\0';
	return true;
}

/* "search POLICY SCENARIO [owner_fences] EXECUTIONS"; anything else is a sentence. */
static bool take_search(struct pfs_weaken_note *self)
{
	unsigned long long executions;
	const char *text = self->sentence;
	if (strncmp(text, "search ", 7) != 0)
		return true;
	self->owner_fences = strstr(text, " owner_fences ") != NULL;
	if (sscanf(text,
		   self->owner_fences ? "search %23s %23s owner_fences %llu"
				      : "search %23s %23s %llu",
		   self->policy, self->scenario, &executions) != 3)
		return false;
	self->executions = executions;
	return true;
}

static bool take_line(struct pfs_weaken_note *self, char *line)
{
	memset(self, 0, sizeof(*self));
	return take_field(&line, self->file, sizeof(self->file)) &&
	       take_field(&line, self->function, sizeof(self->function)) &&
	       take_field(&line, self->edge, sizeof(self->edge)) &&
	       take_field(&line, self->object, sizeof(self->object)) &&
	       take_field(&line, self->operation, sizeof(self->operation)) &&
	       take_field(&line, self->sentence, sizeof(self->sentence)) && line == NULL &&
	       take_search(self);
}

bool pfs_weaken_notes_read(struct pfs_weaken_notes *self, const char *path)
{
	static char line[1024];
	FILE *file = fopen(path, "r");
	bool good = true;
	self->count = 0;
	if (file == NULL) {
		(void)fprintf(stderr, "pfs-sim: %s: %s\n", path, strerror(errno));
		return false;
	}
	for (unsigned number = 1; good && fgets(line, sizeof(line), file) != NULL; number++) {
		if (line[0] == '#' || line[strspn(line, " \t\n")] == '\0')
			continue;
		good = self->count < PFS_WEAKEN_NOTES_MAX && strchr(line, '\n') != NULL &&
		       take_line(&self->notes[self->count], line);
		if (!good)
			(void)fprintf(stderr,
				      "pfs-sim: %s:%u: no note; "
				      "sim/command/weaken_notes.h says what one is\n",
				      path, number);
		self->count++;
	}
	(void)fclose(file);
	return good;
}

const struct pfs_weaken_note *pfs_weaken_notes_find(struct pfs_weaken_notes *self,
						    const char *const fields[5])
{
	for (uint32_t i = 0; i < self->count; i++) {
		struct pfs_weaken_note *note = &self->notes[i];
		const char *const own[5] = { note->file, note->function, note->edge, note->object,
					     note->operation };
		uint32_t same = 0;
		while (same < 5 && strcmp(own[same], fields[same]) == 0)
			same++;
		if (same != 5)
			continue;
		note->met = true;
		return note;
	}
	return NULL;
}
