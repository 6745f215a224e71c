/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * status.h - the result of a set-up call, and the line that explains a refusal.
 *
 * Hot calls (allocate, free, read) do not use it: they return a value or "none".
 */
#ifndef PFSLAB_STATUS_H
#define PFSLAB_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

enum pfs_status {
	PFS_OK = 0,
	PFS_BAD_CONFIG,  /* a value of the configuration is out of range */
	PFS_BAD_VARIANT, /* no such policy, or the policy cannot do what was asked */
	PFS_NO_MEMORY,   /* no memory for a page, a thread or the container */
	PFS_NO_NODE,     /* no such NUMA node, or the machine cannot bind memory */
	PFS_FULL         /* the maximum is reached and no free record was found */
};

/* One line: the refused input, the reason, and how to fix it. Always ends with '\0'. */
struct pfs_message {
	char text[256];
};

/*
 * pfs_status_text - a short text for the status, for logs.
 *
 * Returns   a constant string, never NULL.
 * Errors    none.
 * Progress  wait-free.
 * Order     none.
 */
const char *pfs_status_text(enum pfs_status status);

/*
 * pfs_one_line - replace control characters by '?', so that a quoted text stays on one line.
 *
 * Returns   text itself, changed in place.
 * Errors    none.
 * Progress  wait-free.
 * Order     none.
 */
static inline char *pfs_one_line(char *text)
{
	for (char *at = text; *at != '\0'; at++) {
		int code = *at; /* UTF-8 bytes are negative where char is signed */
		if ((code >= 0 && code < ' ') || code == 0x7F)
			*at = '?';
	}
	return text;
}

#ifdef __cplusplus
}
#endif
#endif
