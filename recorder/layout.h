/*
 * layout.h - the positions and sizes of the fields of a trace file; docs/reference/trace-format.md.
 *
 * All fixed-width numbers are little-endian. A head is HEAD_FIXED bytes, the program's name, and
 * the checksum of both; a chunk is CHUNK_HEAD bytes and its payload.
 */
#ifndef PFS_RECORDER_LAYOUT_H
#define PFS_RECORDER_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFS_TRACE_MAGIC "pfstrace" /* 8 bytes, no '\0' */

enum pfs_trace_field {
	PFS_HEAD_MAGIC = 0,
	PFS_HEAD_VERSION = 8,      /* u32 */
	PFS_HEAD_FLAGS = 12,       /* u32: PFS_TRACE_FINISHED */
	PFS_HEAD_EVENTS = 16,      /* u64 */
	PFS_HEAD_PRELUDE = 24,     /* u64 */
	PFS_HEAD_ALLOCATIONS = 32, /* u64 */
	PFS_HEAD_FREES = 40,       /* u64 */
	PFS_HEAD_TICKS = 48,       /* u64 */
	PFS_HEAD_THREADS = 56,     /* u32 */
	PFS_HEAD_OBJECTS = 60,     /* u32 */
	PFS_HEAD_CHUNKS = 64,      /* u32 */
	PFS_HEAD_NS_PER_TICK = 68, /* u32 */
	PFS_HEAD_NAME_BYTES = 72,  /* u32 */
	PFS_HEAD_FIXED = 76,       /* the name begins here */

	PFS_CHUNK_BYTES = 0,  /* u32, of the payload */
	PFS_CHUNK_EVENTS = 4, /* u32 */
	PFS_CHUNK_SUM = 8,    /* u32, of the chunk's index, the two above and the payload */
	PFS_CHUNK_HEAD = 12
};

#define PFS_TRACE_FINISHED 1u     /* else stopped: it ends at the first chunk of 0 bytes */
#define PFS_TRACE_EVENT_BYTES 36u /* at most: four varints of up to 10, 5, 5 and 10 bytes */

static inline void pfs_put_u32(uint8_t *to, uint32_t value)
{
	for (uint32_t i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static inline void pfs_put_u64(uint8_t *to, uint64_t value)
{
	for (uint32_t i = 0; i < 8; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t pfs_get(const uint8_t *from, uint32_t byte_count)
{
	uint64_t value = 0;

	for (uint32_t i = byte_count; i-- > 0;)
		value = value << 8 | from[i];
	return value;
}

static inline uint32_t pfs_get_u32(const uint8_t *from)
{
	return (uint32_t)pfs_get(from, 4);
}

static inline uint64_t pfs_get_u64(const uint8_t *from)
{
	return pfs_get(from, 8);
}

/* Seven bits a byte, the low ones first; all bytes but the last have their top bit set. */
static inline uint32_t pfs_put_varint(uint8_t *to, uint64_t value)
{
	uint32_t used = 0;

	for (; value >= 128; value >>= 7)
		to[used++] = (uint8_t)(value | 128);
	to[used++] = (uint8_t)value;
	return used;
}

/* False if the number does not end in time or does not fit 64 bits. */
static inline bool pfs_get_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (uint32_t shift = 0; *at < end && shift < 64; shift += 7) {
		uint64_t byte = *(*at)++;
		if (shift == 63 && byte > 1)
			return false;
		*value |= (byte & 127) << shift;
		if (byte < 128)
			return true;
	}
	return false;
}

/* Small numbers of either sign become small numbers: 0, -1, 1, -2 ... are 0, 1, 2, 3 ... */
static inline uint64_t pfs_zigzag(int64_t value)
{
	return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t pfs_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ ((value & 1) != 0 ? UINT64_MAX : 0));
}

#endif
