/*
 * mapped_file.h - a file written front to back in another program's process, without a descriptor.
 *
 * A descriptor would be a number in the table of the recorded program, which may close it, put its
 * own file in its place, and find our bytes there. Checking what the number stands for before each
 * write does not help: another thread may exchange it in between. So the bytes go through a shared
 * mapping, which follows the file and not a number. Only its length needs a descriptor, and that
 * one is opened by a child that shares our memory and has a table of descriptors of its own, which
 * no thread of the program can reach.
 *
 * Nothing is buffered: what was written is in the file even if the process is killed.
 *
 * Invariant: a page is written only after the kernel has stored into it on our behalf, which is an
 * error where a store of ours would be a SIGBUS: a full disk, a truncated file. If another process
 * truncates the file between the two, the program is killed. The recorder's own processes do not
 * truncate it: the file is locked.
 */
#ifndef PFS_RECORDER_MAPPED_FILE_H
#define PFS_RECORDER_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PFS_MAPPED_FILE_HEAD 4096u /* bytes at its beginning that can be written again */

struct pfs_mapped_file {
	char path[4096]; /* absolute: the program may change its folder */
	dev_t device;
	ino_t inode;
	uint8_t *head;   /* of PFS_MAPPED_FILE_HEAD; keeps the lock of the file */
	uint8_t *window; /* where bytes are written at present; it moves on */
	uint64_t window_offset;
	uint64_t window_bytes;
	uint64_t length; /* of the file; far more than is written, without blocks */
	int error;       /* an errno, of the last call that failed */
};

/*
 * Begin a file; its old contents are lost. False with error set; EBUSY: another process is
 * recording into it. A child of fork has neither the mapping nor the lock.
 */
bool pfs_mapped_file_open(struct pfs_mapped_file *self, const char *path);

/*
 * Each offset is the end of what was written before, or 0: then the head is written again, at least
 * 32 bytes. The first four bytes are written last: a reader that finds them finds the rest. False
 * with error set; then nothing of it is there.
 */
bool pfs_mapped_file_write(struct pfs_mapped_file *self, const uint8_t *bytes, uint32_t size,
			   uint64_t offset);

/*
 * Set the length: cut off the excess at the end, or grow again to continue writing. False with
 * error set; ESTALE: the path names another file, which is left alone.
 */
bool pfs_mapped_file_set_length(struct pfs_mapped_file *self, uint64_t length);

/* Forget the mapping. The length stays. */
void pfs_mapped_file_close(struct pfs_mapped_file *self);

#endif
