/*
 * output.c - see output.h.
 */
#define _GNU_SOURCE
#include "base/output.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Only an ordinary file can be replaced by renaming another one; a link stays a link. */
static bool name_it(struct pfs_output *self, const char *path)
{
	struct stat found;
	char real[PATH_MAX];
	const char *target = path;
	self->partial[0] = '\0';
	if (stat(path, &found) == 0) {
		if (!S_ISREG(found.st_mode))
			return snprintf(self->path, sizeof(self->path), "%s", path) <
			       (int)sizeof(self->path);
		if (access(path, W_OK) != 0)
			return false;
		target = realpath(path, real) != NULL ? real : path;
	}
	if (snprintf(self->path, sizeof(self->path), "%s", target) < (int)sizeof(self->path) &&
	    snprintf(self->partial, sizeof(self->partial), "%s.partial", target) <
		    (int)sizeof(self->partial))
		return true;
	errno = ENAMETOOLONG;
	return false;
}

bool pfs_output_begin(struct pfs_output *self, const char *path)
{
	self->file = NULL;
	if (!name_it(self, path))
		return false;
	self->file = fopen(self->partial[0] != '\0' ? self->partial : self->path, "we");
	return self->file != NULL;
}

/* A pipe is not opened: its reader would take the close for the end of the output. */
bool pfs_output_could(const char *path)
{
	struct pfs_output self;
	struct stat found;
	if (stat(path, &found) == 0 && S_ISDIR(found.st_mode)) {
		errno = EISDIR;
		return false;
	}
	if (!name_it(&self, path))
		return false;
	if (self.partial[0] == '\0')
		return access(path, W_OK) == 0;
	self.file = fopen(self.partial, "we");
	if (self.file == NULL)
		return false;
	pfs_output_drop(&self);
	return true;
}

/* ferror reports an earlier failure without its reason; writing one more byte finds it. A file that
 * failed is removed in any case. */
static bool close_it(struct pfs_output *self)
{
	errno = 0;
	bool good = fflush(self->file) == 0 && ferror(self->file) == 0;
	int why = errno;
	if (!good && why == 0)
		why = write(fileno(self->file), "\n", 1) < 0 ? errno : EIO;
	good = fclose(self->file) == 0 && good;
	self->file = NULL;
	if (!good)
		errno = why;
	return good;
}

bool pfs_output_end(struct pfs_output *self)
{
	if (close_it(self) && (self->partial[0] == '\0' || rename(self->partial, self->path) == 0))
		return true;
	int why = errno;
	if (self->partial[0] != '\0')
		(void)unlink(self->partial);
	errno = why;
	return false;
}

void pfs_output_drop(struct pfs_output *self)
{
	if (self->file != NULL)
		(void)fclose(self->file);
	self->file = NULL;
	if (self->partial[0] != '\0')
		(void)unlink(self->partial);
}
