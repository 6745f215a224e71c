/*
 * corner_fill.c - the options zero and junk fill all bytes of a new block, and those that realloc
 * adds in place; mallopt(M_PERTURB) turns this on and off.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "je.h"

#define SMALL_MOST 20000u
#define LARGE_MOST ((size_t)4 << 20)

/* Execute the subtest again with options. */
static void with_options(const char *options)
{
	je_must_be_ours();
	if (getenv("PFS_MALLOC_CONF") == NULL)
		corner_again("PFS_MALLOC_CONF", options);
}

static void check(const unsigned char *block, size_t from, size_t to, unsigned char byte)
{
	for (size_t at = from; at < to; at++)
		CORNER_CHECK(block[at] == byte, "byte %zu of %zu, which had %zu: %#x", at, to, from,
			     block[at]);
}

/* Blocks of all sizes, from memory that was written and freed, grow. */
static void grow_all(unsigned char byte)
{
	static unsigned moved, stayed;
	for (size_t size = 1; size < LARGE_MOST; size += size / 3 + 1) {
		size_t more = size + size / 5 + 7;
		unsigned char *spoilt = malloc(2 * more);
		memset(spoilt, 0x3c, 2 * more);
		free(spoilt);
		unsigned char *block = malloc(size);
		uintptr_t before = (uintptr_t)block;
		size_t had = malloc_usable_size(block);
		check(block, 0, had, byte);
		memset(block, 0x7e, had);
		block = realloc(block, more);
		check(block, 0, size, 0x7e);
		check(block, had, malloc_usable_size(block), byte);
		*((uintptr_t)block == before ? &stayed : &moved) += more > SMALL_MOST;
		free(block);
	}
	CORNER_CHECK(stayed > 5, "hardly a large block grew where it was: %u, %u moved", stayed,
		     moved);
}

CORNER(realloc_adds_zeroes)
{
	with_options("zero:true");
	grow_all(0);
}

CORNER(realloc_adds_junk)
{
	with_options("junk:true");
	grow_all(0xa5);
}

static void *has_rings(void *answer)
{
	*(bool *)answer = je_bool("thread.tcache.enabled");
	return NULL;
}

static void rings_are(bool wanted, const char *when)
{
	bool answer = !wanted;
	corner_threads(1, has_rings, &answer);
	CORNER_CHECK(answer == wanted, "%s a thread begins with rings %s", when,
		     answer ? "on" : "off");
	(void)has_rings(&answer);
	CORNER_CHECK(answer == wanted, "%s the caller has rings %s", when, answer ? "on" : "off");
}

CORNER(perturb_on_and_off)
{
	je_must_be_ours();
	rings_are(true, "at first");
	CORNER_CHECK(mallopt(M_PERTURB, 1) == 1, "M_PERTURB 1");
	rings_are(false, "with M_PERTURB");
	grow_all(0xa5);
	CORNER_CHECK(mallopt(M_PERTURB, 0) == 1, "M_PERTURB 0");
	rings_are(true, "without M_PERTURB again");
}

/* M_PERTURB does not change the option tcache. */
CORNER(perturb_keeps_tcache)
{
	with_options("tcache:false");
	rings_are(false, "with tcache:false");
	(void)mallopt(M_PERTURB, 1);
	(void)mallopt(M_PERTURB, 0);
	rings_are(false, "after M_PERTURB");
}
