/*
 * amount.h - a number of bytes as text: three digits and a unit, "1.50 MiB".
 */
#ifndef PFS_AMOUNT_H
#define PFS_AMOUNT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static inline const char *pfs_amount(int64_t bytes, char text[32])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes, size = value < 0 ? -value : value;
	size_t unit = 0;
	for (; size >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++) {
		value /= 1024;
		size /= 1024;
	}
	int digits = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
	(void)snprintf(text, 32, "%.*f %s", digits, value, units[unit]);
	return text;
}

#endif
