/*
 * crc32c.h - the checksum of trace files: CRC-32C (Castagnoli), as in iSCSI and ext4.
 *
 * It detects every change of up to 32 neighbouring bits, so every changed byte.
 */
#ifndef PFS_RECORDER_CRC32C_H
#define PFS_RECORDER_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues from the checksum of the preceding bytes; 0 at the beginning. */
uint32_t pfs_crc32c(uint32_t before, const void *bytes, size_t size);

#endif
