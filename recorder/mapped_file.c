/*
 * mapped_file.c - see mapped_file.h. Called from inside malloc: no memory of its own, and bare
 * system calls where those of the C library are cancellation points.
 */
#define _GNU_SOURCE 1
#include "mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef PFS_MAPPED_FILE_STEP
#define PFS_MAPPED_FILE_STEP (UINT64_C(1) << 30) /* the file grows by this; needs no blocks */
#endif
#define STEP_MIN (UINT64_C(1) << 20)
#define WINDOW (UINT64_C(1) << 20)
#define PAGE 4096u
#define KERNEL_STORE 16u /* bytes that clock_gettime stores */
#define ERRAND_STACK 65536u

/* One operation on a descriptor: in the child, on its own stack, in our memory. */
struct errand {
	struct pfs_mapped_file *file;
	uint64_t length;
	int error;
};

static int end_errand(struct errand *self, int descriptor, bool fine)
{
	self->error = fine ? 0 : errno;
	if (descriptor >= 0)
		syscall(SYS_close, descriptor);
	return 0;
}

static int open_by_path(const struct pfs_mapped_file *file, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, file->path,
			    O_RDWR | O_CLOEXEC | O_NONBLOCK | flags, 0644);
}

static bool map(struct pfs_mapped_file *file, int descriptor)
{
	void *head = mmap(NULL, PFS_MAPPED_FILE_HEAD, PROT_READ | PROT_WRITE, MAP_SHARED,
			  descriptor, 0);
	void *window = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);

	if (head == MAP_FAILED || window == MAP_FAILED)
		return false;
	file->head = head;
	file->window = window;
	file->window_bytes = WINDOW;
	return madvise(head, PFS_MAPPED_FILE_HEAD, MADV_DONTFORK) == 0 &&
	       madvise(window, WINDOW, MADV_DONTFORK) == 0;
}

/* The longest length that a limit of the process or of the file system allows. */
static bool stretch(int descriptor, uint64_t from, uint64_t *length)
{
	for (uint64_t step = PFS_MAPPED_FILE_STEP; step >= STEP_MIN; step /= 2) {
		*length = from + step;
		if (ftruncate(descriptor, (off_t)*length) == 0)
			return true;
	}
	return false;
}

/* The lock is that of the open file: it lasts as long as a mapping of it. */
static int begin_errand(void *context)
{
	struct errand *self = context;
	struct pfs_mapped_file *file = self->file;
	int descriptor = open_by_path(file, O_CREAT);
	struct stat status;

	if (descriptor < 0 || fstat(descriptor, &status) != 0)
		return end_errand(self, descriptor, false);
	errno = EINVAL;
	if (!S_ISREG(status.st_mode))
		return end_errand(self, descriptor, false);
	file->device = status.st_dev;
	file->inode = status.st_ino;
	if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
		errno = errno == EWOULDBLOCK ? EBUSY : errno; /* EAGAIN comes from clone, too */
		return end_errand(self, descriptor, false);
	}
	return end_errand(self, descriptor,
			  ftruncate(descriptor, 0) == 0 && stretch(descriptor, 0, &file->length) &&
				  map(file, descriptor));
}

static int length_errand(void *context)
{
	struct errand *self = context;
	struct pfs_mapped_file *file = self->file;
	int descriptor = open_by_path(file, 0);
	struct stat status;

	if (descriptor < 0 || fstat(descriptor, &status) != 0)
		return end_errand(self, descriptor, false);
	errno = ESTALE;
	if (status.st_dev != file->device || status.st_ino != file->inode)
		return end_errand(self, descriptor, false);
	if (self->length > file->length)
		return end_errand(self, descriptor,
				  stretch(descriptor, file->length, &file->length));
	bool fine = ftruncate(descriptor, (off_t)self->length) == 0;
	if (fine)
		file->length = self->length;
	return end_errand(self, descriptor, fine);
}

/*
 * As vfork, with a separate table of descriptors and a separate stack; the caller waits until the
 * child has ended. The child sends no signal at its end, so that the program does not notice it,
 * and runs none of the program's handlers. One at a time: the caller holds the recorder's lock.
 */
static bool run_errand(struct errand *errand, int (*run)(void *context))
{
	static char stack[ERRAND_STACK] __attribute__((aligned(16)));
	sigset_t all, before;

	errand->error = ECHILD;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int child = clone(run, stack + sizeof(stack), CLONE_VM | CLONE_VFORK, errand);
	if (child < 0)
		errand->error = errno;
	while (child > 0 && syscall(SYS_wait4, child, NULL, __WCLONE, NULL) < 0 && errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (errand->error != 0)
		errand->file->error = errand->error;
	return errand->error == 0;
}

bool pfs_mapped_file_open(struct pfs_mapped_file *self, const char *path)
{
	struct errand errand = { .file = self };
	size_t used = 0;

	memset(self, 0, sizeof(*self));
	if (path[0] != '/') {
		if (getcwd(self->path, sizeof(self->path) - 1) == NULL) {
			self->error = errno;
			return false;
		}
		used = strlen(self->path);
		self->path[used++] = '/';
	}
	if (strlen(path) >= sizeof(self->path) - used) {
		self->error = ENAMETOOLONG;
		return false;
	}
	memcpy(self->path + used, path, strlen(path) + 1);
	return run_errand(&errand, begin_errand);
}

bool pfs_mapped_file_set_length(struct pfs_mapped_file *self, uint64_t length)
{
	struct errand errand = { .file = self, .length = length };

	return run_errand(&errand, length_errand);
}

/* The window reaches to end, and begins where something has still to be written. */
static bool move_window(struct pfs_mapped_file *self, uint64_t offset, uint64_t end)
{
	if (end > self->window_offset + self->window_bytes) {
		void *larger = mremap(self->window, self->window_bytes, self->window_bytes + WINDOW,
				      MREMAP_MAYMOVE);
		if (larger == MAP_FAILED)
			return false;
		self->window = larger;
		self->window_bytes += WINDOW;
	}
	if (offset >= self->window_offset + WINDOW) {
		munmap(self->window, WINDOW);
		self->window += WINDOW;
		self->window_offset += WINDOW;
		self->window_bytes -= WINDOW;
	}
	return true;
}

/* Why could the kernel not store? It says EFAULT. */
static int reason(const struct pfs_mapped_file *self, uint64_t end)
{
	struct stat status;

	return stat(self->path, &status) == 0 && status.st_dev == self->device &&
			       status.st_ino == self->inode && (uint64_t)status.st_size >= end
		       ? ENOSPC
		       : ESTALE;
}

/* The bytes there become zero: they are about to be written. */
static bool kernel_stores(struct pfs_mapped_file *self, uint8_t *at, uint64_t end)
{
	if (syscall(SYS_clock_gettime, CLOCK_MONOTONIC, at) != 0) {
		self->error = reason(self, end);
		return false;
	}
	memset(at, 0, KERNEL_STORE);
	return true;
}

/*
 * It stores at the end of each page. No reader reads that byte before the ones in front of it are
 * written. If the end is already written, the page was writable a moment ago.
 */
static bool ask_for_pages(struct pfs_mapped_file *self, uint64_t offset, uint64_t end)
{
	for (uint64_t page = offset / PAGE * PAGE; page < end; page += PAGE) {
		uint64_t last = page + PAGE - KERNEL_STORE;
		if (last >= offset &&
		    !kernel_stores(self, self->window + (last - self->window_offset), end))
			return false;
	}
	return true;
}

bool pfs_mapped_file_write(struct pfs_mapped_file *self, const uint8_t *bytes, uint32_t size,
			   uint64_t offset)
{
	uint64_t end = offset + size;
	uint8_t *to = self->head;

	if (end > self->length && !pfs_mapped_file_set_length(self, end))
		return false;
	if (offset == 0) {
		/* its counts, which mean nothing until it is finished */
		if (!kernel_stores(self, self->head + KERNEL_STORE, end))
			return false;
	} else {
		if (!move_window(self, offset, end)) {
			self->error = errno;
			return false;
		}
		if (!ask_for_pages(self, offset, end))
			return false;
		to = self->window + (offset - self->window_offset);
	}
	uint32_t first = size < 4 ? size : 4;
	memcpy(to + first, bytes + first, size - first);
	/* The compiler must not reorder them: no thread reads this, but a process may after the end
	 * of this one, which can end between two instructions. */
	__asm__ volatile("" : : : "memory");
	memcpy(to, bytes, first);
	return true;
}

void pfs_mapped_file_close(struct pfs_mapped_file *self)
{
	munmap(self->head, PFS_MAPPED_FILE_HEAD);
	munmap(self->window, self->window_bytes);
	self->head = self->window = NULL;
}
