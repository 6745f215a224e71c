/*
 * live.c - a program with accounts that does what its standard input says: who tests the tables
 * knows what each row must be.
 *
 * usage: sql_live RULE
 * Prints "box PATH", then for each line of input, when it is done, "ok" and perhaps a number:
 *	begin NAME USER HOST YES|NO   a life; '-' is NULL. Its number, from 0
 *	end LIFE
 *	alloc LIFE INSTRUMENT BYTES   a block; its number, from 0
 *	free LIFE BLOCK
 *	claim LIFE BLOCK
 *	key INSTRUMENT                registers it
 *	owner NAME PARENT             of a memory trace; '-': at the top. Its number, from 0
 *	hold OWNER BYTES              an add to it; its number, from 0; 99: refused
 *	tick
 *	hammer THREADS                so many threads of user hammer allocate and free from now on
 *	fill THREADS INSTRUMENTS      so many lives, each with 64 bytes of each memory/fill/N
 *	close                         a clean end, the box is kept
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pfslab/memory_trace.h>

#define LIVES_MAX 4096u
#define BLOCKS_MAX 8192u

static struct pfs_books *books;
static struct pfs_memory_thread *lives[LIVES_MAX];
static void *blocks[BLOCKS_MAX];
static unsigned life_count, block_count;

static struct pfs_owner *owners[16];
static struct pfs_owner_guard holds[64];
static unsigned owner_count, hold_count;

static const char *null_or(const char *word)
{
	return strcmp(word, "-") == 0 ? NULL : word;
}

static void *hammer(void *unused)
{
	struct pfs_memory_thread *life = pfs_memory_thread_begin(books, "hammer", "hammer", "here",
								 true);
	pfs_memory_key key = pfs_memory_register(books, "memory/hammer/block");
	(void)unused;
	for (;;)
		pfs_memory_free(books, life, pfs_memory_malloc(books, life, key, 100));
	return NULL;
}

static int start_hammers(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, hammer, NULL) != 0)
			return -1;
	}
	return (int)count;
}

static int fill(unsigned threads, unsigned instruments)
{
	char name[64];
	for (unsigned t = 0; t < threads; t++) {
		(void)snprintf(name, sizeof(name), "u%u", t % 16);
		struct pfs_memory_thread *life = pfs_memory_thread_begin(books, "fill", name, "h",
									 true);
		for (unsigned i = 0; life != NULL && i < instruments; i++) {
			(void)snprintf(name, sizeof(name), "memory/fill/%u", i);
			pfs_memory_key key = pfs_memory_register(books, name);
			if (pfs_memory_malloc(books, life, key, 64) == NULL)
				return -1;
		}
	}
	return (int)(threads * instruments);
}

/* The number that a line answers; -1: it makes no sense. */
static int obey(char (*word)[192], int words)
{
	unsigned one = words > 1 ? (unsigned)atoi(word[1]) : 0;
	unsigned two = words > 2 ? (unsigned)atoi(word[2]) : 0;
	if (strcmp(word[0], "begin") == 0 && words == 5 && life_count < LIVES_MAX) {
		lives[life_count] = pfs_memory_thread_begin(books, word[1], null_or(word[2]),
							    null_or(word[3]),
							    strcmp(word[4], "YES") == 0);
		return (int)life_count++;
	}
	if (strcmp(word[0], "alloc") == 0 && words == 4 && block_count < BLOCKS_MAX) {
		pfs_memory_key key = pfs_memory_register(books, word[2]);
		blocks[block_count] = pfs_memory_malloc(books, lives[one], key,
							(size_t)atoll(word[3]));
		return (int)block_count++;
	}
	if (strcmp(word[0], "owner") == 0 && words == 3 && owner_count < 16) {
		struct pfs_owner *parent = null_or(word[2]) != NULL ? owners[two] : NULL;
		owners[owner_count] = pfs_owner_register(books, parent, word[1]);
		return (int)owner_count++;
	}
	if (strcmp(word[0], "hold") == 0 && words == 3 && hold_count < 64)
		return pfs_owner_add(owners[one], two, &holds[hold_count]) ? (int)hold_count++ : 99;
	if (strcmp(word[0], "hammer") == 0 && words == 2)
		return start_hammers(one);
	if (strcmp(word[0], "fill") == 0 && words == 3)
		return fill(one, two);
	if (strcmp(word[0], "key") == 0 && words == 2)
		return (int)pfs_memory_register(books, word[1]);
	if (strcmp(word[0], "end") == 0 && words == 2)
		pfs_memory_thread_end(lives[one]);
	else if (strcmp(word[0], "free") == 0 && words == 3)
		pfs_memory_free(books, lives[one], blocks[two]);
	else if (strcmp(word[0], "claim") == 0 && words == 3)
		pfs_memory_claim(books, lives[one], blocks[two]);
	else if (strcmp(word[0], "tick") == 0)
		pfs_memory_tick(books);
	else
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	struct pfs_memory_config config;
	struct pfs_message message;
	char line[1024], word[5][192];
	pfs_memory_config_init(&config);
	config.rule = argc > 1 ? argv[1] : "exact";
	config.tick_ms = 0;
	config.keep = true;
	config.instruments_max = 300;
	if (pfs_memory_open(&config, &books, &message) != PFS_OK)
		return fprintf(stderr, "sql_live: %s\n", message.text), 1;
	(void)printf("box %s\n", pfs_memory_path(books));
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		int words = sscanf(line, "%191s %191s %191s %191s %191s", word[0], word[1], word[2],
				   word[3], word[4]);
		if (words > 0 && strcmp(word[0], "close") == 0)
			break;
		int answer = words > 0 ? obey(word, words) : -1;
		(void)printf(answer < 0 ? "no\n" : "ok %d\n", answer);
		(void)fflush(stdout);
	}
	pfs_memory_close(books);
	return 0;
}
