#define _GNU_SOURCE
#include "box.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/now.h"
#include "containers/message.h"
#include "containers/page.h"
#include "keep.h"
#include "place.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define LOCK_TRIES 100
#define LOCK_PAUSE_US 1000

static uint64_t round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

uint64_t pfs_box_now_ns(void)
{
	return pfs_now_ns(CLOCK_REALTIME);
}

/* ---- regions ---- */

/* Once for each box, and not while it is made, which has its own message. */
static void say_full(struct pfs_box *self)
{
	char line[PFS_BOX_PATH_BYTES + 256];
	uint32_t says = 1;
	if (!pfs_cas_relaxed(&self->says_full, &says, 0)) /* relaxed: only the first call counts */
		return;
	int length = snprintf(line, sizeof(line),
			      "pfslab: the box %s cannot grow, because its file system or memory "
			      "limit is full: the program goes on, and what finds no room is not "
			      "counted; make room there, or set PFS_MEM_DIR to another folder\n",
			      self->path);
	(void)!write(STDERR_FILENO, line, (size_t)length);
}

bool pfs_box_populate(struct pfs_box *self, uint64_t offset, uint64_t bytes)
{
	uint64_t from = offset / PFS_BOX_PAGE * PFS_BOX_PAGE;
	uint64_t to = round_up(offset + bytes, PFS_BOX_PAGE);
	int errno_before = errno;
	bool done = to <= self->bytes;
	while (done && madvise(self->base + from, to - from, MADV_POPULATE_WRITE) != 0) {
		if (errno == EINTR || errno == EAGAIN)
			continue;
		/* Linux before 5.14 lacks this call. A private box does not need it. */
		done = errno == EINVAL && self->is_private;
		break;
	}
	if (!done)
		/* relaxed: a count */
		(void)pfs_fetch_add_relaxed(&self->head->lost[PFS_LOST_MEMORY], 1);
	if (!done)
		say_full(self);
	errno = errno_before;
	return done;
}

struct pfs_box_region *pfs_box_region_of(struct pfs_box *self, enum pfs_box_kind kind)
{
	for (uint32_t i = 0; i < self->head->region_count; i++)
		if (self->head->regions[i].kind == (uint32_t)kind)
			return &self->head->regions[i];
	return NULL;
}

static struct pfs_config config_of(const struct pfs_box_want *want)
{
	struct pfs_config config;
	pfs_config_init(&config);
	config.record_size_bytes = want->record_bytes;
	config.record_align_bytes = PFS_LINE;
	config.page_records = want->page_records;
	config.page_max = (want->records + want->page_records - 1) / want->page_records;
	config.layout = PFS_LAYOUT_BARE;
	config.bare_words = true;
	return config;
}

static struct pfs_box_region region_for(const struct pfs_box_want *want, uint64_t offset)
{
	/* clang-format off */
	struct pfs_box_region region = {
		.kind = want->kind, .record_bytes = want->record_bytes, .offset = offset,
		.page_records = want->page_records,
	};
	/* clang-format on */
	if (want->page_records == 0) {
		region.bytes = round_up((uint64_t)want->record_bytes * want->records, PFS_BOX_PAGE);
		return region;
	}
	struct pfs_config config = config_of(want);
	struct pfs_page_shape shape = pfs_page_shape_of(&config, 0);
	region.record_bytes = (uint32_t)shape.record_stride;
	region.page_bytes = (uint32_t)round_up(shape.granules_bytes, PFS_BOX_PAGE);
	region.words_offset = (uint32_t)shape.words_offset;
	region.bytes = (uint64_t)region.page_bytes * config.page_max;
	return region;
}

/* Map the next page of the region. The caller holds the container's growth lock. */
static void *map_page(void *context, size_t size_bytes, enum pfs_memory memory,
		      uint32_t node_wanted, uint32_t *node_got)
{
	const struct pfs_box_source *source = context;
	struct pfs_box_region *region = source->region;
	(void)memory, (void)node_wanted;
	/* relaxed: pages are added by one thread at a time. */
	uint64_t page = pfs_load_relaxed(&region->page_count);
	uint64_t offset = region->offset + page * region->page_bytes;
	*node_got = PFS_NODE_MIXED;
	if (size_bytes > region->page_bytes || (page + 1) * region->page_bytes > region->bytes ||
	    !pfs_box_populate(source->box, offset, region->page_bytes))
		return NULL;
	/* relaxed: readers rely on the page's words, and these are FREE. */
	pfs_store_relaxed(&region->page_count, (uint32_t)page + 1);
	return source->box->base + offset;
}

/* Pages stay mapped until the box ends. */
static void unmap_page(void *context, void *memory, size_t size_bytes)
{
	(void)context, (void)memory, (void)size_bytes;
}

static uint64_t resident_page(void *context, void *memory, size_t size_bytes)
{
	(void)context, (void)memory;
	return size_bytes;
}

void pfs_box_configure(struct pfs_box *self, enum pfs_box_kind kind, struct pfs_config *config,
		       struct pfs_memory_source *source)
{
	struct pfs_box_region *region = pfs_box_region_of(self, kind);
	struct pfs_box_source *context = &self->sources[region - self->head->regions];
	struct pfs_box_want want = {
		.record_bytes = region->record_bytes,
		.page_records = region->page_records,
		.records = (uint32_t)(region->bytes / region->page_bytes) * region->page_records,
	};
	*context = (struct pfs_box_source){ self, region };
	*source = (struct pfs_memory_source){ .map = map_page,
					      .unmap = unmap_page,
					      .resident = resident_page,
					      .context = context,
					      .align_bytes = PFS_BOX_PAGE };
	*config = config_of(&want);
	config->source = source;
}

uint64_t pfs_box_resident(const struct pfs_box *self)
{
	uint64_t bytes = 2 * PFS_BOX_PAGE;
	for (uint32_t i = 0; i < self->head->region_count; i++) {
		struct pfs_box_region *region = &self->head->regions[i];
		/* relaxed: a count */
		bytes += (uint64_t)pfs_load_relaxed(&region->page_count) * region->page_bytes;
	}
	return bytes;
}

/* ---- the file ---- */

bool pfs_box_open_folder(const char *folder, struct pfs_message *message)
{
	struct stat status;
	if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
		(void)pfs_message_set(message, PFS_BAD_CONFIG,
				      "the folder of boxes %s cannot be created (%s): set "
				      "PFS_MEM_DIR to another one",
				      folder, strerror(errno));
		return false;
	}
	bool fits = lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
		    status.st_uid == geteuid() && (status.st_mode & 077) == 0;
	if (!fits)
		(void)pfs_message_set(message, PFS_BAD_CONFIG,
				      "%s must be a folder that only you can enter: chmod it to "
				      "700, or set PFS_MEM_DIR to another one",
				      folder);
	return fits;
}

/* A process that lists boxes may already hold the lock for a moment. */
static bool lock_new(int file)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(file, LOCK_EX | LOCK_NB) == 0)
			return true;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return false;
		(void)usleep(LOCK_PAUSE_US);
	}
	return false;
}

/* Removes the box of an earlier image of this process. Another process that is removing boxes may
 * have seen it, and must not remove the new one: so wait until it is done. */
static void remove_earlier(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file >= 0 && pfs_box_is_execed(file))
		(void)lock_new(file);
	(void)unlink(path);
	if (file >= 0)
		(void)close(file);
}

int pfs_box_new_file(const char *path, uint64_t bytes, struct pfs_message *message)
{
	remove_earlier(path);
	int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0) {
		(void)pfs_message_set(message, PFS_BAD_CONFIG, "the box %s cannot be created (%s)",
				      path, strerror(errno));
		return -1;
	}
	if (ftruncate(file, (off_t)bytes) != 0 || !lock_new(file)) {
		(void)pfs_message_set(message, PFS_NO_MEMORY,
				      "the box %s cannot be extended to %llu bytes (%s)", path,
				      (unsigned long long)bytes, strerror(errno));
		(void)close(file);
		(void)unlink(path);
		return -1;
	}
	return file;
}

/* Exceeding RLIMIT_FSIZE would raise a signal that ends the process, so check it first. */
static bool fits_limits(uint64_t bytes, struct pfs_message *message)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
		(void)pfs_message_set(
			message, PFS_NO_MEMORY,
			"the box needs %llu bytes, but files are limited to %llu: raise ulimit -f",
			(unsigned long long)bytes, (unsigned long long)limit.rlim_cur);
		return false;
	}
	return true;
}

static void read_text(const char *name, char *text, size_t text_bytes)
{
	int file = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t got = file >= 0 ? read(file, text, text_bytes - 1) : 0;
	if (file >= 0)
		(void)close(file);
	if (got < 0)
		got = 0;
	while (got > 0 && (text[got - 1] == '\0' || text[got - 1] == '\n'))
		got--;
	for (ssize_t at = 0; at < got; at++)
		if (text[at] == '\0')
			text[at] = ' ';
	text[got] = '\0';
	(void)pfs_one_line(text);
}

static void write_identity(struct pfs_box_head *head)
{
	char boot[64] = "", file[sizeof(head->name)];
	head->pid = (uint32_t)getpid();
	head->parent_pid = (uint32_t)getppid();
	head->uid = (uint32_t)geteuid();
	head->start_ticks = pfs_box_start_ticks(head->pid);
	head->start_realtime_ns = pfs_box_now_ns();
	read_text("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	for (uint32_t at = 0, nibble = 0; boot[at] != '\0' && nibble < 32; at++) {
		if (boot[at] == '-')
			continue;
		int digit = boot[at] <= '9' ? boot[at] - '0' : boot[at] - 'a' + 10;
		head->boot_id[nibble / 2] = (uint8_t)(head->boot_id[nibble / 2] << 4 | digit);
		nibble++;
	}
	pfs_box_own_name(head->name, file, sizeof(file));
	ssize_t got = readlink("/proc/self/exe", head->program, sizeof(head->program) - 1);
	head->program[got > 0 ? got : 0] = '\0';
	read_text("/proc/self/cmdline", head->command, sizeof(head->command));
}

/* Does the kernel count the file's resident pages as those of files, not of shared memory? */
uint32_t pfs_box_is_on_disk(const struct pfs_box *self)
{
	struct statfs status;
	return !self->is_private && statfs(self->path, &status) == 0 &&
	       status.f_type != TMPFS_MAGIC;
}

static void write_head(struct pfs_box *self, const struct pfs_box_want *wants, uint32_t want_count)
{
	struct pfs_box_head *head = self->head;
	uint64_t offset = 2 * PFS_BOX_PAGE;
	head->version = PFS_BOX_VERSION;
	head->head_bytes = PFS_BOX_PAGE;
	head->file_bytes = self->bytes;
	write_identity(head);
	head->is_on_disk = pfs_box_is_on_disk(self);
	for (uint32_t i = 0; i < want_count; i++) {
		head->regions[i] = region_for(&wants[i], offset);
		offset += head->regions[i].bytes;
	}
	head->region_count = want_count;
	pfs_store_relaxed(&self->control->generation, 1); /* relaxed: not shared yet */
	memcpy(head->magic, PFS_BOX_MAGIC, sizeof(head->magic));
}

static uint64_t bytes_for(const struct pfs_box_want *wants, uint32_t want_count)
{
	uint64_t bytes = 2 * PFS_BOX_PAGE;
	for (uint32_t i = 0; i < want_count; i++)
		bytes += region_for(&wants[i], 0).bytes;
	return bytes;
}

static void *map_bytes(uint64_t bytes, int file)
{
	int flags = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file, 0);
	return base != MAP_FAILED ? base : NULL;
}

/* Create and map the file at self->path. Close the descriptor; the mapping keeps the lock. */
static enum pfs_status map_file(struct pfs_box *self, struct pfs_message *message)
{
	int file = -1;
	if (!self->is_private) {
		if (fits_limits(self->bytes, message))
			file = pfs_box_new_file(self->path, self->bytes, message);
		if (file < 0)
			return PFS_BAD_CONFIG;
	}
	self->base = map_bytes(self->bytes, file);
	if (file >= 0)
		(void)close(file);
	if (self->base == NULL) {
		if (!self->is_private)
			(void)unlink(self->path);
		return pfs_message_set(message, PFS_NO_MEMORY,
				       "the box needs %llu bytes of address space: use fewer "
				       "cells, or raise ulimit -v",
				       (unsigned long long)self->bytes);
	}
	return PFS_OK;
}

char *pfs_box_map_new(const struct pfs_box *self, struct pfs_message *message)
{
	int file = fits_limits(self->bytes, message)
			   ? pfs_box_new_file(self->path, self->bytes, message)
			   : -1;
	char *base = file >= 0 ? map_bytes(self->bytes, file) : NULL;
	if (file >= 0)
		(void)close(file);
	if (file >= 0 && base == NULL)
		(void)pfs_message_set(message, PFS_NO_MEMORY, "no address space for the box %s",
				      self->path);
	if (file >= 0 && base == NULL)
		(void)unlink(self->path);
	return base;
}

enum pfs_status pfs_box_is_full(const struct pfs_box *self, struct pfs_message *message)
{
	return pfs_message_set(message, PFS_NO_MEMORY,
			       "no memory for the box %s: its file system or memory limit is full "
			       "(or Linux is older than 5.14): make room there, or set "
			       "PFS_MEM_DIR to another folder",
			       self->path);
}

enum pfs_status pfs_box_make(struct pfs_box *self, const char *folder, bool is_private,
			     const struct pfs_box_want *wants, uint32_t want_count,
			     struct pfs_message *message)
{
	char usual[PFS_BOX_PATH_BYTES / 2];
	memset((void *)self, 0, sizeof(*self));
	self->is_private = is_private;
	self->bytes = bytes_for(wants, want_count);
	if (!is_private) {
		pfs_box_folder(usual, sizeof(usual));
		if (folder == NULL)
			folder = usual;
		if (!pfs_box_open_folder(folder, message))
			return PFS_BAD_CONFIG;
		pfs_box_prune(folder);
		pfs_box_name(self->path, sizeof(self->path), folder, (uint32_t)getpid(),
			     pfs_box_start_ticks((uint32_t)getpid()));
	}
	enum pfs_status status = map_file(self, message);
	if (status != PFS_OK)
		return status;
	self->head = (void *)self->base;
	self->control = (void *)(self->base + PFS_BOX_PAGE);
	/* Not pfs_box_populate: it counts failures in the head, which has no memory yet. */
	if (!is_private && madvise(self->base, 2 * PFS_BOX_PAGE, MADV_POPULATE_WRITE) != 0) {
		(void)munmap(self->base, self->bytes);
		(void)unlink(self->path);
		self->base = NULL;
		return pfs_box_is_full(self, message);
	}
	write_head(self, wants, want_count);
	return PFS_OK;
}

void pfs_box_watch(struct pfs_box *self)
{
	if (self->is_private)
		return;
	self->cut.line =
		"pfslab: the box was truncated while its program runs: the program goes on, "
		"uncounted\n";
	pfs_cut_watch(&self->cut, self->base, self->bytes, true);
	pfs_store_relaxed(&self->says_full, 1); /* relaxed: one thread */
}

void pfs_box_leave(struct pfs_box *self)
{
	/* relaxed: a later reader checks the lock first. */
	pfs_store_relaxed(&self->head->end_realtime_ns, pfs_box_now_ns());
	pfs_store_relaxed(&self->head->state, PFS_BOX_ENDED); /* relaxed: as above */
	if (!self->is_private && !self->keep)
		(void)unlink(self->path);
}

void pfs_box_exec(struct pfs_box *self, bool will)
{
	/* relaxed, both: a later reader checks the lock first. */
	pfs_store_relaxed(&self->head->end_realtime_ns, will ? pfs_box_now_ns() : 0);
	pfs_store_relaxed(&self->head->state, will ? PFS_BOX_EXECED : PFS_BOX_LIVE);
}

void pfs_box_end(struct pfs_box *self)
{
	if (self->base == NULL)
		return;
	pfs_box_leave(self);
	pfs_cut_forget(&self->cut);
	(void)munmap(self->base, self->bytes);
	self->base = NULL;
}
