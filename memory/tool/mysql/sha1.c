/*
 * sha1.c - SHA-1, which mysql_native_password asks for. Source: FIPS 180-4, section 6.1.
 */
#include <string.h>

#include "mysql.h"

static uint32_t turn(uint32_t word, unsigned by)
{
	return word << by | word >> (32 - by);
}

static void add_block(uint32_t state[5], const uint8_t *block)
{
	uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 80; i++)
		w[i] = turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20   ? ((b & c) | (~b & d)) + 0x5A827999u
			     : i < 40 ? (b ^ c ^ d) + 0x6ED9EBA1u
			     : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDCu
				      : (b ^ c ^ d) + 0xCA62C1D6u;
		uint32_t next = turn(a, 5) + f + e + w[i];
		e = d;
		d = c;
		c = turn(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void pfs_sha1(const void *bytes, size_t count, uint8_t digest[20])
{
	uint32_t state[5] = { 0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u, 0xC3D2E1F0u };
	const uint8_t *at = bytes;
	uint8_t last[128] = { 0 };
	size_t left = count;
	for (; left >= 64; left -= 64, at += 64)
		add_block(state, at);
	size_t last_bytes = left < 56 ? 64 : 128;
	memcpy(last, at, left);
	last[left] = 0x80;
	for (size_t i = 0; i < 8; i++)
		last[last_bytes - 1 - i] = (uint8_t)((uint64_t)count * 8 >> 8 * i);
	for (size_t i = 0; i < last_bytes; i += 64)
		add_block(state, last + i);
	for (size_t i = 0; i < 20; i++)
		digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
