/*
 * reader_place.c - list the boxes, and find the one that a TARGET names.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "memory/box/place.h"
#include "reader_inside.h"

#define NS_PER_SECOND UINT64_C(1000000000)

void pfs_reader_folder(char *folder, size_t folder_bytes)
{
	pfs_box_folder(folder, folder_bytes);
}

static int newest_first(const void *one, const void *other)
{
	const struct pfs_box_info *a = one, *b = other;
	if (a->start_realtime_ns != b->start_realtime_ns)
		return a->start_realtime_ns < b->start_realtime_ns ? 1 : -1;
	return strcmp(b->path, a->path);
}

/* False: no memory. */
static bool append(struct pfs_box_info **all, size_t *count, const struct pfs_box_info *info)
{
	struct pfs_box_info *more = realloc(*all, (*count + 1) * sizeof(*info));
	if (more == NULL)
		return false;
	more[(*count)++] = *info;
	*all = more;
	return true;
}

/* False: no memory. */
static bool add_box(struct pfs_box_list *list, const char *path)
{
	struct pfs_message why = { "" };
	struct pfs_box_info info;
	struct stat status;
	if (pfs_box_info_read(path, &info, &why))
		return info.state == PFS_BOX_UNCOUNTED
			       ? append(&list->notes, &list->note_count, &info)
			       : append(&list->boxes, &list->count, &info);
	if (lstat(path, &status) == 0 && !pfs_box_file_is_unready(path) &&
	    list->refused++ == 0) { /* else just removed, or just made */
		list->why = why;
		(void)snprintf(list->refused_path, sizeof(list->refused_path), "%s", path);
	}
	return true;
}

/* A file whose program is about to write its head is no box yet, and no fault. */
static bool list_folder(struct pfs_box_list *list, const char *folder, struct pfs_message *message)
{
	char path[PFS_READER_PATH_BYTES];
	struct dirent *entry;
	bool fine = true;
	DIR *directory = opendir(folder);
	if (directory == NULL)
		return errno == ENOENT || pfs_refuse(message, "folder '%.150s' cannot be read: %s",
						     folder, strerror(errno));
	while (fine && (entry = readdir(directory)) != NULL) {
		if (!pfs_box_is_name(entry->d_name))
			continue;
		(void)snprintf(path, sizeof(path), "%.2000s/%s", folder, entry->d_name);
		fine = add_box(list, path);
	}
	(void)closedir(directory);
	return fine || pfs_refuse(message, "no memory for the boxes of '%.150s'", folder);
}

/* pfslab-<uid>, as pfs_box_folder_of names them: a folder of that user, not a link to one. */
static bool is_users_folder(int place, const char *name, uid_t own)
{
	struct stat status;
	char *end;
	if (strncmp(name, "pfslab-", 7) != 0 || !isdigit((unsigned char)name[7]))
		return false;
	unsigned long user = strtoul(name + 7, &end, 10);
	return *end == '\0' && user != own &&
	       fstatat(place, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_uid == user;
}

/* What root sees too: the folders of all other users. */
static bool list_others(struct pfs_box_list *list, const char *place, struct pfs_message *message)
{
	char folder[PFS_READER_PATH_BYTES];
	struct dirent *entry;
	bool fine = true;
	DIR *directory = opendir(place);
	while (directory != NULL && fine && (entry = readdir(directory)) != NULL) {
		if (!is_users_folder(dirfd(directory), entry->d_name, geteuid()))
			continue;
		(void)snprintf(folder, sizeof(folder), "%s/%s", place, entry->d_name);
		fine = list_folder(list, folder, message);
	}
	if (directory != NULL)
		(void)closedir(directory);
	return fine;
}

static bool make_list(struct pfs_box_list *list, bool is_own, struct pfs_message *message)
{
	char folder[PFS_READER_PATH_BYTES / 2];
	memset(list, 0, sizeof(*list));
	pfs_reader_folder(folder, sizeof(folder));
	bool fine = list_folder(list, folder, message);
	const char *chosen = getenv("PFS_MEM_DIR");
	if (!is_own && geteuid() == 0 && (chosen == NULL || chosen[0] == '\0'))
		fine = fine && list_others(list, "/dev/shm", message) &&
		       list_others(list, "/tmp", message);
	if (!fine)
		pfs_box_list_free(list);
	if (list->count != 0)
		qsort(list->boxes, list->count, sizeof(list->boxes[0]), newest_first);
	if (list->note_count != 0)
		qsort(list->notes, list->note_count, sizeof(list->notes[0]), newest_first);
	return fine;
}

bool pfs_box_list_make(struct pfs_box_list *list, struct pfs_message *message)
{
	return make_list(list, false, message);
}

bool pfs_box_list_own(struct pfs_box_list *list, struct pfs_message *message)
{
	return make_list(list, true, message);
}

void pfs_box_list_free(struct pfs_box_list *list)
{
	free(list->boxes);
	free(list->notes);
	memset(list, 0, sizeof(*list));
}

/* ---- TARGET ---- */

static bool refuse_process(const char *target, const char *folder, struct pfs_message *message)
{
	char path[64];
	struct stat status;
	(void)snprintf(path, sizeof(path), "/proc/%.20s", target);
	if (stat(path, &status) != 0)
		return pfs_refuse(message,
				  "there is no process %.20s, and no box of it in "
				  "'%.120s': 'pfs-mem list' shows the boxes",
				  target, folder);
	if (status.st_uid != geteuid())
		return pfs_refuse(message,
				  "process %.20s belongs to user %u, as would its box: "
				  "run pfs-mem as that user",
				  target, (unsigned)status.st_uid);
	return pfs_refuse(message,
			  "process %.20s has no box in '%.120s': start it with "
			  "'pfs-mem run'",
			  target, folder);
}

const struct pfs_box_info *pfs_box_list_last(const struct pfs_box_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->boxes[i].state != PFS_BOX_EXECED)
			return &list->boxes[i];
	return list->count != 0 ? list->boxes : NULL;
}

/* The live box of a process, or else its newest. */
static const struct pfs_box_info *find_box(const struct pfs_box_list *list, uint64_t pid)
{
	const struct pfs_box_info *found = NULL;
	for (size_t i = 0; i < list->count; i++) {
		const struct pfs_box_info *box = &list->boxes[i];
		if (box->pid == pid && (found == NULL || (box->is_live && !found->is_live)))
			found = box;
	}
	for (size_t i = 0; found == NULL && i < list->note_count; i++)
		if (list->notes[i].pid == pid)
			found = &list->notes[i]; /* opening it says why the process has no box */
	return found;
}

static struct pfs_reader *open_listed(const char *target, bool is_last, struct pfs_message *message)
{
	char folder[PFS_READER_PATH_BYTES];
	struct pfs_reader *reader = NULL;
	struct pfs_box_list list;
	if (!pfs_box_list_make(&list, message))
		return NULL;
	pfs_reader_folder(folder, sizeof(folder));
	const struct pfs_box_info *box = is_last ? pfs_box_list_last(&list)
						 : find_box(&list, strtoull(target, NULL, 10));
	if (box != NULL)
		reader = pfs_reader_open_file(box->path, message);
	else if (is_last)
		(void)pfs_refuse(message,
				 "there is no box in '%.150s': 'pfs-mem run' creates one, and with "
				 "--keep it stays",
				 folder);
	else
		(void)refuse_process(target, folder, message);
	pfs_box_list_free(&list);
	return reader;
}

struct pfs_reader *pfs_reader_open(const char *target, struct pfs_message *message)
{
	bool is_last = strcmp(target, "last") == 0;
	bool is_pid = *target != '\0' && target[strspn(target, "0123456789")] == '\0';
	return is_last || is_pid ? open_listed(target, is_last, message)
				 : pfs_reader_open_file(target, message);
}

/* ---- when it ended ---- */

static void write_time(uint64_t realtime_ns, char *text, size_t text_bytes)
{
	struct tm parts;
	time_t seconds = (time_t)(realtime_ns / NS_PER_SECOND);
	if (localtime_r(&seconds, &parts) == NULL ||
	    strftime(text, text_bytes, "%Y-%m-%d %H:%M:%S", &parts) == 0)
		(void)snprintf(text, text_bytes, "%" PRIu64 " s", realtime_ns / NS_PER_SECOND);
}

/* " of a use after free of a block of 100 bytes" */
static void add_corruption(const struct pfs_box_info *info, char *text, size_t text_bytes)
{
	const char *name = pfs_box_corruption_name(info->corruption);
	size_t used = strlen(text);
	if (name[0] == '\0')
		return;
	(void)snprintf(text + used, text_bytes - used, " of %s %s",
		       strchr("aeiou", name[0]) != NULL && name[1] != 's' ? "an" : "a", name);
	used = strlen(text);
	if (info->corrupted_bytes != 0)
		(void)snprintf(text + used, text_bytes - used, " of a block of %llu bytes",
			       (unsigned long long)info->corrupted_bytes);
}

char *pfs_box_died(const struct pfs_box_info *info, char *text, size_t text_bytes)
{
	char from[64], to[64];
	write_time(info->seen_realtime_ns, from, sizeof(from));
	/* Two ticks: the next one may have been in progress. */
	write_time(info->seen_realtime_ns + info->tick_ms * UINT64_C(2000000), to, sizeof(to));
	if (info->state == PFS_BOX_UNCOUNTED)
		(void)snprintf(text, text_bytes, "was not counted");
	else if (info->is_live)
		(void)snprintf(text, text_bytes, "is living");
	else if (info->state == PFS_BOX_ENDED || info->state == PFS_BOX_EXECED) {
		if (info->end_realtime_ns != 0)
			write_time(info->end_realtime_ns, from, sizeof(from));
		(void)snprintf(text, text_bytes, "%s at %s",
			       info->state == PFS_BOX_ENDED ? "ended" : "became another program",
			       from);
	} else if (info->ticks == 0 || info->tick_ms == 0)
		(void)snprintf(text, text_bytes, "died after %s", from);
	else
		(void)snprintf(text, text_bytes, "died between %s and %s", from, to + 11);
	if (!info->is_live && info->state != PFS_BOX_UNCOUNTED)
		add_corruption(info, text, text_bytes);
	return text;
}

static const char *file_of(const struct pfs_box_info *info)
{
	const char *slash = strrchr(info->program, '/');
	return slash == NULL ? info->program : slash + 1;
}

const char *pfs_box_called(const struct pfs_box_info *info)
{
	const char *file = file_of(info);
	return strncmp(file, info->name, strlen(info->name)) == 0 ? file : info->name;
}

char *pfs_box_title(const struct pfs_box_info *info, char *text, size_t text_bytes)
{
	const char *called = pfs_box_called(info);
	bool is_file = called != info->name;
	(void)snprintf(text, text_bytes, "%s%s%s (%u)", info->program, is_file ? "" : " as ",
		       is_file ? "" : called, info->pid);
	return text;
}
