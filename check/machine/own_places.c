/*
 * own_places.c - source places of the host's own code, for hosts that run threads of their own
 * sources; addr2line of the binutils names them.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "check/machine/host.h"
#include "check/machine/trace.h"

#define PLACES 64u
#define FRAME_BYTES 128
#define PLACE_BYTES (2 * FRAME_BYTES + 4)

/* The distance of the program's load address from its link address. */
static int take_first_bias(struct dl_phdr_info *info, size_t bytes, void *opaque)
{
	(void)bytes;
	*(uintptr_t *)opaque = (uintptr_t)info->dlpi_addr;
	return 1;
}

/* Two lines of addr2line: a function, and file:line. */
static bool read_frame(FILE *lines, char *text, size_t bytes)
{
	char function[80], place[512];
	if (fgets(function, sizeof(function), lines) == NULL ||
	    fgets(place, sizeof(place), lines) == NULL)
		return false;
	function[strcspn(function, "\n")] = '\0';
	place[strcspn(place, " \n")] = '\0';
	(void)snprintf(text, bytes, "%s (%.40s)", function, pfs_trace_base_name(place));
	return true;
}

/* The innermost function, and the one it was inlined into. */
static void ask(const void *code, char *text, size_t bytes)
{
	char command[128];
	uintptr_t bias = 0;
	(void)dl_iterate_phdr(take_first_bias, &bias);
	/* Minus one: inside the call, not after it. */
	(void)snprintf(text, bytes, "code at %p", code);
	(void)snprintf(command, sizeof(command),
		       "addr2line -i -f -e /proc/$PPID/exe 0x%llx 2>/dev/null",
		       (unsigned long long)((uintptr_t)code - bias - 1));
	FILE *lines = popen(command, "r");
	if (lines == NULL)
		return;
	if (read_frame(lines, text, FRAME_BYTES)) {
		size_t length = strlen(text);
		char outer[FRAME_BYTES];
		if (read_frame(lines, outer, sizeof(outer)))
			(void)snprintf(text + length, bytes - length, " in %s", outer);
	}
	(void)pclose(lines);
}

const struct pfs_sim_place *pfs_place_of_code(const void *code)
{
	static _Thread_local struct {
		struct pfs_sim_place place;
		const void *code;
		char text[PLACE_BYTES];
	} known[PLACES];
	static _Thread_local uint32_t next;
	for (uint32_t i = 0; i < PLACES; i++) {
		if (known[i].code == code)
			return &known[i].place;
	}
	uint32_t at = next++ % PLACES;
	known[at].code = code;
	known[at].place.function = known[at].text;
	ask(code, known[at].text, sizeof(known[at].text));
	return &known[at].place;
}
