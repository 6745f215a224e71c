#define _GNU_SOURCE
#include "place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pfs_box_folder(char *folder, size_t folder_bytes)
{
	const char *chosen = secure_getenv("PFS_MEM_DIR");
	if (chosen != NULL && chosen[0] != '\0')
		(void)snprintf(folder, folder_bytes, "%s", chosen);
	else
		pfs_box_folder_of(folder, folder_bytes, (uint32_t)geteuid());
}

void pfs_box_folder_of(char *folder, size_t folder_bytes, uint32_t user)
{
	(void)snprintf(folder, folder_bytes, "%s/pfslab-%u",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", user);
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

/* The part of a path after its last slash, without the '-' of a login shell. */
static void take_name(char *name, size_t bytes, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *from = slash != NULL ? slash + 1 : path;
	if (*from == '-')
		from++;
	(void)snprintf(name, bytes, "%.*s", (int)bytes - 1, from);
	for (char *at = name; *at != '\0'; at++)
		if ((unsigned char)*at < ' ')
			*at = '?';
}

void pfs_box_own_name(char *name, char *file, size_t bytes)
{
	char text[512];
	ssize_t got = readlink("/proc/self/exe", text, sizeof(text) - 1);
	text[got > 0 ? got : 0] = '\0';
	take_name(file, bytes, text);
	int arguments = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	got = arguments >= 0 ? read(arguments, text, sizeof(text) - 1) : 0;
	if (arguments >= 0)
		(void)close(arguments);
	text[got > 0 ? got : 0] = '\0';
	take_name(name, bytes, text);
	if (file[0] == '\0')
		(void)snprintf(file, bytes, "%s", name[0] != '\0' ? name : "program");
	if (name[0] == '\0')
		(void)snprintf(name, bytes, "%s", file);
}

bool pfs_box_goes_on(uint32_t pid, uint64_t start_ticks)
{
	char name[64], text[64];
	if (start_ticks == 0 || pfs_box_start_ticks(pid) != start_ticks)
		return false;
	(void)snprintf(name, sizeof(name), "/proc/%u/statm", pid);
	int file = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t got = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;
	if (file >= 0)
		(void)close(file);
	/* A process that has ended has no memory, also while its parent has not waited for it. */
	return got > 0 && text[0] != '0';
}
