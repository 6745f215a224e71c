/*
 * mapped_file_test.c - a file that grows through its mapping holds what was written, has no
 * descriptor, and fails with an error, instead of ending the program, where it cannot be written.
 */
#define _GNU_SOURCE 1
#include "mapped_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPECT(condition)                                                                       \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
			failures++;                                                             \
		}                                                                               \
	} while (0)

#define PIECE 10007u /* no divisor of a page, a window or a step */
#define PIECES 1000u /* ten times the step that this test is built with */

static int failures;
static char path[256];
static struct pfs_mapped_file file;

static void fill(uint8_t *bytes, uint32_t piece)
{
	for (uint32_t i = 0; i < PIECE; i++)
		bytes[i] = (uint8_t)(piece * 31 + i * 7 + 1);
}

static bool write_piece(uint32_t piece)
{
	uint8_t bytes[PIECE];

	fill(bytes, piece);
	return pfs_mapped_file_write(&file, bytes, PIECE, (uint64_t)piece * PIECE);
}

/* As another process finds it. */
static bool piece_is_there(int reader, uint32_t piece)
{
	uint8_t wanted[PIECE], got[PIECE];

	fill(wanted, piece);
	return pread(reader, got, PIECE, (off_t)piece * PIECE) == PIECE &&
	       memcmp(wanted, got, PIECE) == 0;
}

static unsigned descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

static off_t size_of(const char *name)
{
	struct stat status;

	return stat(name, &status) == 0 ? status.st_size : -1;
}

static void test_growth(void)
{
	unsigned before = descriptors();
	int reader = 0;

	EXPECT(pfs_mapped_file_open(&file, path));
	EXPECT(descriptors() == before);
	for (uint32_t i = 1; i < PIECES; i++)
		EXPECT(write_piece(i));
	uint8_t head[PIECE];
	fill(head, 0);
	EXPECT(pfs_mapped_file_write(&file, head, 100, 0));
	reader = open(path, O_RDONLY);
	for (uint32_t i = 1; i < PIECES; i++)
		EXPECT(piece_is_there(reader, i));
	uint8_t got[PIECE];
	EXPECT(pread(reader, got, 100, 0) == 100 && memcmp(got, head, 100) == 0);
	EXPECT(size_of(path) > (off_t)PIECE * PIECES);
	/* cut it, and continue after the cut */
	EXPECT(pfs_mapped_file_set_length(&file, (uint64_t)PIECE * PIECES));
	EXPECT(size_of(path) == (off_t)PIECE * PIECES);
	EXPECT(write_piece(PIECES) && piece_is_there(reader, PIECES));
	EXPECT(piece_is_there(reader, PIECES - 1));
	pfs_mapped_file_close(&file);
	EXPECT(descriptors() == before + 1);
	close(reader);
}

/* Two at once, and one after the other; old contents are lost only if that is allowed. */
static void test_lock(void)
{
	static struct pfs_mapped_file second;

	EXPECT(pfs_mapped_file_open(&file, path));
	EXPECT(size_of(path) > 0 && write_piece(1));
	EXPECT(!pfs_mapped_file_open(&second, path) && second.error == EBUSY);
	int reader = open(path, O_RDONLY);
	EXPECT(piece_is_there(reader, 1));
	pfs_mapped_file_close(&file);
	EXPECT(pfs_mapped_file_open(&second, path));
	EXPECT(!piece_is_there(reader, 1));
	pfs_mapped_file_close(&second);
	close(reader);
}

/* A child's memory does not reach the file. */
static void test_fork(void)
{
	int status = 0;

	EXPECT(pfs_mapped_file_open(&file, path));
	pid_t child = fork();
	if (child == 0) {
		struct rlimit none = { .rlim_cur = 0, .rlim_max = 0 };
		setrlimit(RLIMIT_CORE, &none);
		file.window[0] = 1;
		_exit(0);
	}
	EXPECT(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	pfs_mapped_file_close(&file);
}

/* The file is taken away: an error, and no other file is touched. */
static void test_taken(void)
{
	char other[300];

	EXPECT(pfs_mapped_file_open(&file, path));
	EXPECT(write_piece(1) && truncate(path, 100) == 0);
	EXPECT(!write_piece(2) && file.error == ESTALE);
	pfs_mapped_file_close(&file);
	EXPECT(pfs_mapped_file_open(&file, path));
	snprintf(other, sizeof(other), "%s.other", path);
	EXPECT(rename(path, other) == 0 && mknod(path, S_IFREG | 0644, 0) == 0);
	EXPECT(write_piece(1)); /* it follows the file */
	EXPECT(!pfs_mapped_file_set_length(&file, PIECE) && file.error == ESTALE);
	EXPECT(size_of(path) == 0);
	pfs_mapped_file_close(&file);
	unlink(other);
	unlink(path);
}

static void test_limits(void)
{
	struct rlimit before, small = { .rlim_cur = UINT64_C(3) << 19 };

	EXPECT(!pfs_mapped_file_open(&file, "/dev/null") && file.error == EINVAL);
	EXPECT(!pfs_mapped_file_open(&file, "/nonexistent/x") && file.error == ENOENT);
	/* a limit that the first step fits and the second does not; its signal is ignored */
	getrlimit(RLIMIT_FSIZE, &before);
	small.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &small);
	EXPECT(pfs_mapped_file_open(&file, path));
	uint32_t piece = 1;
	while (piece < PIECES && write_piece(piece))
		piece++;
	EXPECT(piece > 50 && piece < 300 && file.error == EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
	pfs_mapped_file_close(&file);
	unlink(path);
}

int main(int argc, char **argv)
{
	snprintf(path, sizeof(path), "%s", argc > 1 ? argv[1] : "mapped_file_test.bin");
	test_growth();
	test_lock();
	test_fork();
	test_taken();
	test_limits();
	if (failures != 0)
		fprintf(stderr, "mapped_file_test: %d failures\n", failures);
	unlink(path);
	return failures != 0;
}
