/*
 * fuzz_test.c - for libFuzzer: read a changed box, or bytes that are not a box.
 *
 * The first byte of an input selects: with 0x80 the rest is a whole file. Else the rest is patches
 * of 8 bytes, each {allocated page, offset in it, 4 bytes}, for the sample box; bit 0: a live one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture_test.h"
#include "probe_test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATCH_BYTES 8u
#define PATCHES_MAX 64u
#define PAGES_MAX 512u

struct sample {
	struct pfs_made_box box;
	int file;
	uint64_t pages[PAGES_MAX];
	uint32_t page_count;
};

static struct sample samples[2]; /* dead, living */
static char raw_path[128];

static void must(bool fine, const char *what)
{
	if (fine)
		return;
	perror(what);
	abort();
}

static void make(struct sample *self, bool is_live)
{
	char path[128];
	off_t at = 0;
	(void)snprintf(path, sizeof(path), "/dev/shm/pfslab-fuzz-%u-%d.box", (unsigned)getpid(),
		       is_live);
	pfs_made_sample(&self->box, path);
	self->file = open(path, O_RDWR | O_CLOEXEC);
	must(self->file >= 0, path);
	while ((at = lseek(self->file, at, SEEK_DATA)) >= 0) {
		off_t hole = lseek(self->file, at, SEEK_HOLE);
		for (; at < hole && self->page_count < PAGES_MAX; at += PFS_BOX_PAGE)
			self->pages[self->page_count++] = (uint64_t)at;
	}
	if (!is_live)
		pfs_made_leave(&self->box);
}

static void end(void)
{
	(void)unlink(samples[0].box.path);
	(void)unlink(samples[1].box.path);
	(void)unlink(raw_path);
}

static void begin(void)
{
	make(&samples[0], false);
	make(&samples[1], true);
	(void)snprintf(raw_path, sizeof(raw_path), "/dev/shm/pfslab-fuzz-%u.raw",
		       (unsigned)getpid());
	(void)atexit(end);
}

static void probe_raw(const uint8_t *data, size_t size)
{
	int file = open(raw_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(file >= 0 && write(file, data, size) == (ssize_t)size, raw_path);
	(void)close(file);
	(void)pfs_probe_box(raw_path);
}

static uint64_t place_of(const struct sample *sample, const uint8_t *patch)
{
	uint16_t page, offset;
	memcpy(&page, patch, sizeof(page));
	memcpy(&offset, patch + 2, sizeof(offset));
	return sample->pages[page % sample->page_count] + (offset % PFS_BOX_PAGE & ~3u);
}

static void probe_patched(struct sample *sample, const uint8_t *data, size_t size)
{
	uint32_t before[PATCHES_MAX];
	uint32_t count = (uint32_t)(size / PATCH_BYTES);
	count = count < PATCHES_MAX ? count : PATCHES_MAX;
	for (uint32_t i = 0; i < count; i++) {
		off_t at = (off_t)place_of(sample, data + i * PATCH_BYTES);
		must(pread(sample->file, &before[i], 4, at) == 4, "pread");
		must(pwrite(sample->file, data + i * PATCH_BYTES + 4, 4, at) == 4, "pwrite");
	}
	(void)pfs_probe_box(sample->box.path);
	for (uint32_t i = count; i > 0; i--) {
		off_t at = (off_t)place_of(sample, data + (i - 1) * PATCH_BYTES);
		must(pwrite(sample->file, &before[i - 1], 4, at) == 4, "pwrite");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (samples[0].page_count == 0)
		begin();
	if (size == 0)
		return 0;
	if ((data[0] & 0x80) != 0)
		probe_raw(data + 1, size - 1);
	else
		probe_patched(&samples[data[0] & 1], data + 1, size - 1);
	return 0;
}
