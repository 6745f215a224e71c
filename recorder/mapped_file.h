/*
 * mapped_file.h - a file written front to back in somebody else's process, without a descriptor.
 *
 * A descriptor would be a number in the table of the recorded program, which may close it, put
 * its own file in its place, and find our bytes there. A look at what the number stands for
 * before each write does not help: another thread may exchange it in between. So the bytes go
 * through a shared mapping, which follows the file and not a number. Only its length needs a
 * descriptor, and that one is opened by a child that shares our memory and has a table of
 * descriptors of its own, where no thread of the program can reach it.
 *
 * Nothing is buffered: what was written is in the file also where the process is killed.
 *
 * Invariant: a page is written only after the kernel has stored into it on our behalf, which
 * is an error where a store of ours would be a SIGBUS: a full disk, a file that somebody cut.
 * Between the two somebody may still cut it: whoever does that while it is written ends the
 * program. The recorder's own processes do not: the file is locked.
 */
#ifndef PFS_RECORDER_MAPPED_FILE_H
#define PFS_RECORDER_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PFS_MAPPED_FILE_HEAD 4096u /* bytes at its beginning that can be written again */

struct pfs_mapped_file {
	char path[4096]; /* absolute: the program may go to another folder */
	dev_t device;
	ino_t inode;
	uint8_t *head;   /* of PFS_MAPPED_FILE_HEAD; what keeps the lock of the file */
	uint8_t *window; /* where bytes are written now; it moves on */
	uint64_t window_offset;
	uint64_t window_bytes;
	uint64_t length; /* of the file; far more than is written, and no blocks behind it */
	int error;       /* an errno, of the last call that failed */
};

/*
 * Begin a file; what was in it is lost. False with error set; EBUSY: a process writes it
 * by this same means. A child of fork has neither the mapping nor the lock.
 */
bool pfs_mapped_file_open(struct pfs_mapped_file *self, const char *path);

/*
 * Each offset is the end of what was written before, or 0: then it is the head once more, of at
 * least 32 bytes. The first four bytes are written last: whoever finds them finds the rest.
 * False with error set; then nothing of it is there.
 */
bool pfs_mapped_file_write(struct pfs_mapped_file *self, const uint8_t *bytes, uint32_t size,
			   uint64_t offset);

/*
 * Make it so long: cut off what is too much at the end, and let it grow anew where writing goes
 * on. False with error set; ESTALE: the path names another file by now, which is left alone.
 */
bool pfs_mapped_file_set_length(struct pfs_mapped_file *self, uint64_t length);

/* Forget the mapping. The length stays. */
void pfs_mapped_file_close(struct pfs_mapped_file *self);

#endif
