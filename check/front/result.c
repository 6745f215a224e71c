/*
 * result.c - does the code behind a call read its result?
 *
 * The result is in eax. A call of a function in another library, of which the compiler knows
 * nothing, discards it: that function may overwrite eax, and takes no argument there. With
 * -fsanitize=thread such a call comes soon. An unknown instruction counts as reading the result.
 */
#include "check/front/result.h"

#include <stdint.h>
#include <string.h>

#define LOOK_MAX 16 /* instructions */

#if defined(__x86_64__)

/* A call or jump with a 32-bit distance. */
static const uint8_t *target_of(const uint8_t *at)
{
	int32_t distance;
	memcpy(&distance, at + 1, sizeof(distance));
	return at + 5 + distance;
}

/* An entry of the procedure linkage table: [endbr64] [bnd] jmp *address. */
static bool is_foreign(const uint8_t *at)
{
	static const uint8_t endbr[4] = { 0xF3, 0x0F, 0x1E, 0xFA };
	if (memcmp(at, endbr, sizeof(endbr)) == 0)
		at += sizeof(endbr);
	at += *at == 0xF2;
	return at[0] == 0xFF && at[1] == 0x25;
}

/* Does the instruction write all of eax, without reading it? */
static bool overwrites(const uint8_t *at)
{
	at += *at == 0x48;
	uint32_t from = at[1] >> 3 & 7u, to = at[1] & 7u;
	switch (at[0]) {
	case 0xB8: return true;                                  /* mov of a constant */
	case 0xC7: return at[1] == 0xC0;                         /* the same */
	case 0x31: return at[1] == 0xC0;                         /* xor with itself */
	case 0x89: return at[1] >= 0xC0 && to == 0 && from != 0; /* mov between registers */
	case 0x8B: return at[1] == 0x05 || (at[1] >= 0xC0 && from == 0 && to != 0);
	case 0x8D: return at[1] == 0x05; /* lea of static data */
	default: return false;
	}
}

/* Of the operand in memory, without the first byte of its encoding; false: it may use rax. */
static bool skip_memory(const uint8_t *at, uint8_t rex, uint32_t *length)
{
	uint32_t mode = at[0] >> 6, low = at[0] & 7u;
	if (low == 4) {
		uint32_t index = (at[1] >> 3 & 7u) | (rex & 2u) << 2;
		low = at[1] & 7u;
		*length += 1;
		if (index == 0)
			return false;
	}
	*length += mode == 1 ? 1 : mode == 2 || low == 5 ? 4 : 0;
	return (low | (rex & 1u) << 3) != 0;
}

/* Of an instruction that neither reads nor writes eax, in bytes; 0: not known. */
static uint32_t length_of(const uint8_t *at)
{
	static const uint8_t two_operands[] = { 0x01, 0x03, 0x09, 0x0B, 0x21, 0x23, 0x29, 0x2B,
						0x31, 0x33, 0x39, 0x3B, 0x85, 0x89, 0x8B, 0x8D };
	bool has_rex = (at[0] & 0xF0) == 0x40;
	const uint8_t *code = at + has_rex;
	uint8_t rex = has_rex ? at[0] : 0;
	uint32_t length = has_rex + 2u, low = (code[0] & 7u) | (rex & 1u) << 3;
	if ((code[0] & 0xF8) == 0x58)
		return low != 0 ? has_rex + 1u : 0; /* pop */
	if ((code[0] & 0xF8) == 0xB8)
		return low != 0 && (rex & 8) == 0 ? has_rex + 5u : 0; /* mov of a constant */
	if (code[0] == 0x83 || code[0] == 0xC7)
		length += code[0] == 0x83 ? 1 : 4; /* arithmetic, or mov, with a constant */
	else if (memchr(two_operands, code[0], sizeof(two_operands)) == NULL ||
		 ((code[1] >> 3 & 7u) | (rex & 4u) << 1) == 0)
		return 0;
	if (code[1] >= 0xC0)
		return ((code[1] & 7u) | (rex & 1u) << 3) != 0 ? length : 0;
	return skip_memory(code + 1, rex, &length) ? length : 0;
}

static bool may_be_read(const uint8_t *at, int *looks)
{
	while ((*looks)-- > 0) {
		bool jumps = at[0] == 0xE9;
		if (at[0] == 0xFF && (at[1] == 0x15 || at[1] == 0x25))
			return false; /* a call or jump through the global offset table */
		if ((jumps || at[0] == 0xE8) && is_foreign(target_of(at)))
			return false;
		if (overwrites(at))
			return false;
		uint32_t length = length_of(at);
		if ((at[0] & 0xF0) == 0x70) { /* a conditional jump: both ways */
			length = 2;
			if (may_be_read(at + 2 + (int8_t)at[1], looks))
				return true;
		}
		if (!jumps && length == 0)
			return true;
		at = jumps ? target_of(at) : at + length;
	}
	return true;
}

bool pfs_result_may_be_read(const void *code)
{
	int looks = LOOK_MAX;
	return may_be_read(code, &looks);
}

#else

bool pfs_result_may_be_read(const void *code)
{
	(void)code;
	return true;
}

#endif
