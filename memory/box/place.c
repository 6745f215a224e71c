#define _GNU_SOURCE
#include "place.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEEP_DEAD 32u
#define YOUNG_SECONDS 10 /* such a file may not be locked yet */

void pfs_box_folder(char *folder, size_t folder_bytes)
{
	const char *chosen = secure_getenv("PFS_MEM_DIR");
	unsigned int user = (unsigned int)geteuid();
	if (chosen != NULL && chosen[0] != '\0')
		(void)snprintf(folder, folder_bytes, "%s", chosen);
	else if (access("/dev/shm", W_OK) == 0)
		(void)snprintf(folder, folder_bytes, "/dev/shm/pfslab-%u", user);
	else
		(void)snprintf(folder, folder_bytes, "/tmp/pfslab-%u", user);
}

void pfs_box_name(char *path, size_t path_bytes, const char *folder, uint32_t pid,
		  uint64_t start_ticks)
{
	(void)snprintf(path, path_bytes, "%s/%u-%llu.box", folder, pid,
		       (unsigned long long)start_ticks);
}

uint64_t pfs_box_start_ticks(uint32_t pid)
{
	char name[64], text[1024];
	(void)snprintf(name, sizeof(name), "/proc/%u/stat", pid);
	int file = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t got = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;
	if (file >= 0)
		(void)close(file);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	/* The program's name, in parentheses, may contain any character. */
	char *at = strrchr(text, ')');
	for (int field = 2; at != NULL && field < 22; field++) {
		at = strchr(at + 1, ' ');
	}
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* ---- boxes of programs that died ---- */

struct old_box {
	time_t begun;
	char name[64];
};

static uint32_t dead_to_keep(void)
{
	const char *text = secure_getenv("PFS_MEM_KEEP_DEAD");
	char *end;
	if (text == NULL || text[0] < '0' || text[0] > '9')
		return KEEP_DEAD;
	unsigned long number = strtoul(text, &end, 10);
	return *end == '\0' && number <= UINT32_MAX ? (uint32_t)number : KEEP_DEAD;
}

/* <pid>-<start>.box, as pfs_box_name makes them. */
static bool is_name(const char *name)
{
	size_t pid = strspn(name, "0123456789");
	if (pid == 0 || name[pid] != '-' || strlen(name) >= sizeof(((struct old_box *)0)->name))
		return false;
	size_t start = strspn(name + pid + 1, "0123456789");
	return start != 0 && strcmp(name + pid + 1 + start, ".box") == 0;
}

static bool is_old(int folder, const char *name, struct old_box *box)
{
	struct stat status;
	if (!is_name(name) || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(status.st_mode) || time(NULL) - status.st_mtime < YOUNG_SECONDS)
		return false;
	box->begun = status.st_mtime;
	(void)snprintf(box->name, sizeof(box->name), "%s", name);
	return true;
}

/* No process has it mapped. Readers also take this shared lock. */
static bool is_dead(int folder, const char *name)
{
	int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return false;
	bool dead = flock(file, LOCK_SH | LOCK_NB) == 0;
	(void)close(file);
	return dead;
}

static int newest_first(const void *one, const void *other)
{
	const struct old_box *a = one, *b = other;
	return (a->begun < b->begun) - (a->begun > b->begun);
}

static struct old_box *list_old(DIR *list, size_t *count)
{
	struct old_box *boxes = NULL;
	struct dirent *entry;
	size_t room = 0;
	*count = 0;
	while ((entry = readdir(list)) != NULL) {
		if (*count == room) {
			struct old_box *more = realloc(boxes, (room + 64) * sizeof(*boxes));
			if (more == NULL)
				break;
			boxes = more;
			room += 64;
		}
		if (is_old(dirfd(list), entry->d_name, &boxes[*count]))
			(*count)++;
	}
	return boxes;
}

void pfs_box_prune(const char *folder)
{
	uint32_t keep = dead_to_keep(), dead = 0;
	size_t count;
	DIR *list = opendir(folder);
	if (list == NULL)
		return;
	struct old_box *boxes = list_old(list, &count);
	if (count > keep) {
		qsort(boxes, count, sizeof(*boxes), newest_first);
		for (size_t i = 0; i < count; i++)
			if (is_dead(dirfd(list), boxes[i].name) && ++dead > keep)
				(void)unlinkat(dirfd(list), boxes[i].name, 0);
	}
	free(boxes);
	(void)closedir(list);
}
