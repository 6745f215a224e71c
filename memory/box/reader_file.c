/*
 * reader_file.c - a box as a file: is it a box, who owns it, is its program alive; its head.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "memory/box/place.h"
#include "reader_inside.h"

#define LOCK_TRIES 200
#define LOCK_REST_NS 10000000

static void refuse_owner(uid_t owner, const char *path, struct pfs_message *message)
{
	const struct passwd *entry = getpwuid(owner);
	(void)pfs_refuse(message, "'%.120s' belongs to user %s (%u): run pfs-mem as that user",
			 path, entry != NULL ? entry->pw_name : "without a name", (unsigned)owner);
}

/* The owner of a file that cannot be opened, or of the folder that hides it. */
static bool find_owner(const char *path, uid_t *owner)
{
	char folder[PFS_READER_PATH_BYTES];
	struct stat status;
	(void)snprintf(folder, sizeof(folder), "%s", path);
	if (stat(folder, &status) != 0) {
		char *slash = strrchr(folder, '/');
		if (slash == NULL || slash == folder)
			return false;
		*slash = '\0';
		if (stat(folder, &status) != 0)
			return false;
	}
	*owner = status.st_uid;
	return true;
}

static int refuse_file(int file, const char *path, const char *why, struct pfs_message *message)
{
	(void)pfs_refuse(message, "'%.150s' is not a box: %s", path, why);
	(void)close(file);
	return -1;
}

/* Root reads every user's boxes: a regular file in a folder of the same user. */
static bool may_read(const char *path, const struct stat *file, int flags)
{
	char folder[PFS_READER_PATH_BYTES];
	struct stat status;
	if (geteuid() != 0 || (flags & O_ACCMODE) != O_RDONLY)
		return false;
	(void)snprintf(folder, sizeof(folder), "%s", path);
	char *slash = strrchr(folder, '/');
	if (slash == NULL || slash == folder)
		return false;
	*slash = '\0';
	return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_uid == file->st_uid;
}

static int refuse_open(const char *path, int error, struct pfs_message *message)
{
	uid_t owner;
	if (error == EACCES && find_owner(path, &owner) && owner != geteuid())
		refuse_owner(owner, path, message);
	else
		(void)pfs_refuse(message, "'%.150s' cannot be opened: %s%s", path, strerror(error),
				 error == ENOENT ? "; 'pfs-mem list' shows the boxes" : "");
	return -1;
}

/* Opening a device can have an effect, so the file is looked at first. */
int pfs_box_file_open(const char *path, int flags, struct pfs_message *message)
{
	char again[64];
	struct stat status;
	int place = open(path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));
	if (place < 0)
		return refuse_open(path, errno, message);
	bool fine = fstat(place, &status) == 0;
	if (fine && S_ISLNK(status.st_mode))
		return refuse_file(place, path, "a symbolic link", message);
	if (!fine || !S_ISREG(status.st_mode))
		return refuse_file(place, path, "not a regular file", message);
	(void)snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	int file = open(again, (flags & ~O_NOFOLLOW) | O_CLOEXEC | O_NONBLOCK), error = errno;
	(void)close(place);
	if (file < 0)
		return refuse_open(path, error, message);
	if (status.st_uid != geteuid() && !may_read(path, &status, flags)) {
		refuse_owner(status.st_uid, path, message);
		(void)close(file);
		return -1;
	}
	return file;
}

bool pfs_box_file_is_foreign(int file)
{
	struct stat status;
	return fstat(file, &status) != 0 || status.st_uid != geteuid();
}

bool pfs_box_file_is_live(int file)
{
	if (flock(file, LOCK_SH | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	(void)flock(file, LOCK_UN);
	return false;
}

bool pfs_box_is_name(const char *name)
{
	size_t length = strlen(name);
	return isdigit((unsigned char)name[0]) && strchr(name, '-') != NULL && length > 4 &&
	       strcmp(name + length - 4, ".box") == 0;
}

/* A file with a box's name, whose program has not written its head yet. */
static bool is_empty(const char *path, const struct pfs_box_head *head, ssize_t got)
{
	static const char nothing[sizeof(head->magic)];
	const char *slash = strrchr(path, '/');
	if (!pfs_box_is_name(slash != NULL ? slash + 1 : path))
		return false;
	return got == 0 || (got == (ssize_t)sizeof(*head) &&
			    memcmp(head->magic, nothing, sizeof(nothing)) == 0);
}

static bool refuse_unready(int file, const char *path, struct pfs_message *message)
{
	return pfs_refuse(message,
			  pfs_box_file_is_live(file)
				  ? "'%.150s' is being created: try again"
				  : "'%.120s' was never completed, because its program ended "
				    "first: 'pfs-mem clean --all' removes it",
			  path);
}

bool pfs_box_file_is_unready(const char *path)
{
	struct pfs_box_head head;
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	ssize_t got = file >= 0 ? pread(file, &head, sizeof(head), 0) : -1;
	bool is_making = got == (ssize_t)sizeof(head) &&
			 memcmp(head.magic, PFS_BOX_MAGIC, sizeof(head.magic)) == 0 &&
			 pfs_load_relaxed(&head.state) == PFS_BOX_MAKING; /* relaxed: a copy */
	bool is_unready = got >= 0 && (is_making || is_empty(path, &head, got)) &&
			  pfs_box_file_is_live(file);
	if (file >= 0)
		(void)close(file);
	return is_unready;
}

/* The fault of a head; NULL: none. */
static const char *head_fault(const struct pfs_box_head *head, uint64_t file_bytes)
{
	if (memcmp(head->magic, PFS_BOX_MAGIC, sizeof(head->magic)) != 0)
		return "its magic number is wrong";
	if (head->head_bytes != PFS_BOX_PAGE)
		return "its head has the wrong size";
	if (head->region_count > PFS_BOX_REGIONS_MAX)
		return "it has more regions than a head can list";
	if (head->instruments_max > PFS_BOX_INSTRUMENTS_MAX)
		return "it has room for too many instruments";
	if (head->file_bytes < 2 * PFS_BOX_PAGE || head->file_bytes > PFS_BOX_BYTES_MAX)
		return "its size is out of range";
	if (head->file_bytes > file_bytes)
		return "it is truncated: copy it again";
	return NULL;
}

bool pfs_box_head_read(int file, const char *path, struct pfs_box_head *head,
		       struct pfs_message *message)
{
	struct stat status;
	ssize_t got = pread(file, head, sizeof(*head), 0);
	if (got < 0 || fstat(file, &status) != 0)
		return pfs_refuse(message, "'%.150s' cannot be read: %s", path, strerror(errno));
	if (is_empty(path, head, got))
		return refuse_unready(file, path, message);
	if (got < (ssize_t)sizeof(*head))
		return pfs_refuse(message, "'%.150s' is not a box: it has only %zd bytes", path,
				  got);
	bool is_box = memcmp(head->magic, PFS_BOX_MAGIC, sizeof(head->magic)) == 0;
	if (is_box && head->version != PFS_BOX_VERSION)
		return pfs_refuse(message,
				  "'%.120s' is a box of version %u, but this pfs-mem reads version "
				  "%u: use the pfs-mem that came with its program",
				  path, head->version, PFS_BOX_VERSION);
	/* relaxed: of a private copy. */
	if (is_box && pfs_load_relaxed(&head->state) == PFS_BOX_MAKING)
		return refuse_unready(file, path, message);
	const char *fault = head_fault(head, (uint64_t)status.st_size);
	if (fault != NULL)
		return pfs_refuse(message, "'%.150s' is not a box: %s", path, fault);
	return true;
}

/* The state, with what only the system knows. */
static uint32_t state_of(struct pfs_box_head *head, bool is_live)
{
	uint32_t state = pfs_load_relaxed(&head->state); /* relaxed: one word */
	if (!is_live && state == PFS_BOX_LIVE && pfs_box_goes_on(head->pid, head->start_ticks))
		return PFS_BOX_EXECED;
	return state;
}

static void copy_text(char *to, size_t to_bytes, const char *from, size_t from_bytes)
{
	size_t length = strnlen(from, from_bytes);
	if (length >= to_bytes)
		length = to_bytes - 1;
	memcpy(to, from, length);
	to[length] = '\0';
	(void)pfs_one_line(to);
}

void pfs_box_info_of(const struct pfs_box_head *head, const char *path, bool is_live,
		     struct pfs_box_info *info)
{
	struct pfs_box_head *own = (struct pfs_box_head *)(uintptr_t)head;
	memset(info, 0, sizeof(*info));
	(void)snprintf(info->path, sizeof(info->path), "%s", path);
	info->pid = head->pid;
	info->parent_pid = head->parent_pid;
	info->uid = head->uid;
	info->state = state_of(own, is_live);
	info->is_live = is_live;
	info->start_ticks = head->start_ticks;
	info->start_realtime_ns = head->start_realtime_ns;
	info->seen_realtime_ns = head->start_realtime_ns;
	info->ticks = pfs_load_acquire(&own->ticks); /* [RB1] acquire */
	/* relaxed: one word, written before state. */
	info->end_realtime_ns = pfs_load_relaxed(&own->end_realtime_ns);
	info->tick_ms = head->tick_ms;
	info->instruments_max = head->instruments_max;
	info->is_on_disk = head->is_on_disk != 0;
	/* [J10] acquire, pairs with [J9]. */
	info->corruption = pfs_load_acquire(&own->corruption);
	if (info->corruption >= PFS_BOX_CORRUPTION_KINDS)
		info->corruption = 0;
	info->corrupted_bytes = info->corruption != 0 ? head->corrupted_bytes : 0;
	copy_text(info->rule, sizeof(info->rule), head->rule, sizeof(head->rule));
	copy_text(info->name, sizeof(info->name), head->name, sizeof(head->name));
	copy_text(info->why, sizeof(info->why), head->why, sizeof(head->why));
	copy_text(info->build, sizeof(info->build), head->build, sizeof(head->build));
	copy_text(info->program, sizeof(info->program), head->program, sizeof(head->program));
	copy_text(info->command, sizeof(info->command), head->command, sizeof(head->command));
}

int pfs_tools_lock(const struct pfs_reader *self, bool exclusive, struct pfs_message *message)
{
	char path[PFS_READER_PATH_BYTES + 8];
	const struct timespec rest = { .tv_nsec = LOCK_REST_NS };
	(void)snprintf(path, sizeof(path), "%s.lock", self->info.path);
	int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (exclusive ? O_RDWR | O_CREAT : O_RDONLY);
	int file = open(path, flags, 0600);
	if (file < 0) {
		(void)pfs_refuse(message, "'%.150s' cannot be created: %s", path, strerror(errno));
		return -1;
	}
	/* With a time limit: a stopped tool may hold the lock. */
	for (int i = 0; flock(file, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0; i++) {
		if (i < LOCK_TRIES && (errno == EWOULDBLOCK || errno == EINTR)) {
			(void)nanosleep(&rest, NULL);
			continue;
		}
		(void)pfs_refuse(message,
				 "'%.150s' is locked by another pfs-mem: wait for it, or end it",
				 path);
		(void)close(file);
		return -1;
	}
	return file;
}

void pfs_tools_unlock(int lock)
{
	if (lock >= 0)
		(void)close(lock);
}
