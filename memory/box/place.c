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
	/* The name of the program, in parentheses, may hold anything. */
	char *at = strrchr(text, ')');
	for (int field = 2; at != NULL && field < 22; field++) {
		at = strchr(at + 1, ' ');
	}
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}
