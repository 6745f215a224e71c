/*
 * footprint.c - the memory that the accounts themselves use, by threads and instruments.
 *
 * usage: pfs-accounts-footprint [--threads=N] [--instruments=N]
 * That many lives, eight to an account, have one block of each instrument. One line of JSON:
 * box_bytes is the box's space in the file system, private_bytes the growth of the process's
 * private memory since before its books were opened, both as the system reports them. No block is
 * really allocated. Exit 1: no books, or no such numbers. 2: bad usage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <pfslab/memory.h>

#include "base/command_line.h"
#include "base/json.h"

#define THREADS_MAX 4096u
#define INSTRUMENTS_MAX 1024u
#define LIVES_AN_ACCOUNT 8u

static void fail(const char *what)
{
	(void)fprintf(stderr, "pfs-accounts-footprint: %s\n", what);
	exit(1);
}

/* Private memory of the process, in bytes. */
static uint64_t anonymous_bytes(void)
{
	char line[256];
	unsigned long long kib = 0;
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	if (file == NULL)
		fail("/proc/self/smaps_rollup: cannot be opened; it takes Linux 4.14");
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "Anonymous:", 10) == 0)
			kib = strtoull(line + 10, NULL, 10);
	(void)fclose(file);
	if (kib == 0)
		fail("/proc/self/smaps_rollup: has no line Anonymous");
	return kib * 1024;
}

static uint64_t file_bytes(const char *path)
{
	struct stat found;
	if (path == NULL || stat(path, &found) != 0)
		fail("the box has no file");
	return (uint64_t)found.st_blocks * 512;
}

static void begin_life(struct pfs_books *books, uint32_t number, const pfs_memory_key *keys,
		       uint32_t instruments)
{
	char user[32];
	(void)snprintf(user, sizeof(user), "user%u", number / LIVES_AN_ACCOUNT);
	struct pfs_memory_thread *life = pfs_memory_thread_begin(books, "footprint", user, "host",
								 true);
	for (uint32_t i = 0; i < instruments; i++)
		if (pfs_memory_allocated(life, keys[i], 64).reference == 0)
			fail("a block was not counted; is there room for the box?");
}

int main(int argc, char **argv)
{
	static pfs_memory_key keys[INSTRUMENTS_MAX];
	uint64_t wanted_threads = 16, wanted_instruments = 10;
	const struct pfs_option options[] = {
		PFS_NUMBER_OPTION("threads", "N", &wanted_threads, 1, THREADS_MAX,
				  "lives, eight "
				  "to an account; default 16"),
		PFS_NUMBER_OPTION("instruments", "N", &wanted_instruments, 1, INSTRUMENTS_MAX,
				  "of which each life has a block; default 10"),
	};
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-accounts-footprint", .words = "", .options = options,
		.option_count = 2, .about = "what the accounts themselves take, as a line of JSON",
	};
	/* clang-format on */
	int status = pfs_command_line_read(&line, argc, argv, NULL);
	if (status != PFS_GO_ON)
		return status;
	uint32_t threads = (uint32_t)wanted_threads, instruments = (uint32_t)wanted_instruments;

	uint64_t before = anonymous_bytes();
	struct pfs_memory_config config;
	struct pfs_message message;
	struct pfs_books *books;
	pfs_memory_config_init(&config);
	config.tick_ms = 0;
	config.instruments_max = instruments > config.instruments_max ? INSTRUMENTS_MAX
								      : config.instruments_max;
	config.cells_max = 2 * THREADS_MAX * INSTRUMENTS_MAX;
	if (pfs_memory_open(&config, &books, &message) != PFS_OK)
		fail(message.text);
	for (uint32_t i = 0; i < instruments; i++) {
		char name[64];
		(void)snprintf(name, sizeof(name), "memory/footprint/what_%u", i);
		keys[i] = pfs_memory_register(books, name);
	}
	for (uint32_t i = 0; i < threads; i++)
		begin_life(books, i, keys, instruments);
	uint64_t private_bytes = anonymous_bytes() - before; /* before the first output */
	struct pfs_json json = { .out = stdout };
	pfs_json_object(&json, NULL);
	pfs_json_count(&json, "threads", threads);
	pfs_json_count(&json, "instruments", instruments);
	pfs_json_count(&json, "box_bytes", file_bytes(pfs_memory_path(books)));
	pfs_json_count(&json, "private_bytes", private_bytes);
	pfs_json_end(&json);
	pfs_memory_close(books);
	return pfs_command_end(line.program, 0);
}
