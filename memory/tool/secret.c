/*
 * secret.c - the token and the password of a server: taken from a file or the environment, or
 * drawn.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "listen.h"
#include "memory/box/reader.h"

#define DRAWN_BYTES 32u /* of 64 letters each: 192 bits */

static bool draw(struct pfs_secret *self, struct pfs_message *message)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t bytes[DRAWN_BYTES];
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return pfs_refuse(message, "the system has no random bytes: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		self->text[i] = letters[bytes[i] % 64];
	/* A client's option parser would take a leading '-' for an option. */
	if (self->text[0] == '-')
		self->text[0] = 'x';
	self->is_drawn = true;
	return true;
}

/* The first line. */
static bool read_file(const struct pfs_secret_source *from, struct pfs_secret *self,
		      struct pfs_message *message)
{
	struct stat status;
	FILE *file = fopen(from->file, "re");
	if (file == NULL)
		return pfs_refuse(message, "%s '%.150s': %s", from->option, from->file,
				  strerror(errno));
	bool is_open = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
		       (status.st_mode & 007) != 0;
	if (!is_open && fgets(self->text, sizeof(self->text), file) == NULL)
		self->text[0] = '\0';
	(void)fclose(file);
	if (is_open)
		return pfs_refuse(message,
				  "%s '%.150s': every user can read or write it: chmod it to 600",
				  from->option, from->file);
	size_t length = strcspn(self->text, "\r\n");
	memset(self->text + length, 0, sizeof(self->text) - length);
	return self->text[0] != '\0' ||
	       pfs_refuse(message, "%s '%.150s': its first line is empty: write the secret there",
			  from->option, from->file);
}

bool pfs_secret_take(const struct pfs_secret_source *from, bool is_needed, struct pfs_secret *self,
		     struct pfs_message *message)
{
	const char *given = from->file == NULL ? getenv(from->variable) : NULL;
	memset(self, 0, sizeof(*self));
	if (from->file != NULL) {
		if (!read_file(from, self, message))
			return false;
	} else if (given != NULL && given[0] != '\0') {
		(void)snprintf(self->text, sizeof(self->text), "%s", given);
	} else {
		return !is_needed || draw(self, message);
	}
	size_t length = strlen(self->text);
	if (length >= from->length_min && length + 2 < sizeof(self->text) &&
	    (from->letters == NULL || self->text[strspn(self->text, from->letters)] == '\0'))
		return true;
	return pfs_refuse(message, "%s%s%.120s%s: give %s",
			  from->file != NULL ? from->option : from->variable,
			  from->file != NULL ? " '" : "", from->file != NULL ? from->file : "",
			  from->file != NULL ? "'" : "", from->shape);
}

bool pfs_secret_is(const struct pfs_secret *self, const char *said)
{
	char text[PFS_SECRET_BYTES] = { 0 };
	size_t length = said == NULL ? 0 : strlen(said);
	unsigned differ = length == 0 || length >= sizeof(text);
	memcpy(text, said == NULL ? "" : said, differ ? 0 : length);
	for (size_t i = 0; i < sizeof(text); i++)
		differ |= (unsigned char)text[i] ^ (unsigned char)self->text[i];
	return differ == 0;
}
