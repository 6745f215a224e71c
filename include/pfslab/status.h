/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * status.h - what a set-up call answers, and the line a person reads when it refuses.
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
	PFS_BAD_CONFIG,  /* a value of struct pfs_config is out of its range */
	PFS_BAD_VARIANT, /* no such policy, or the policy cannot do what was asked */
	PFS_NO_MEMORY,   /* memory for a page, a thread or the container was refused */
	PFS_NO_NODE,     /* the machine has no such NUMA node, or cannot bind memory */
	PFS_FULL         /* the maximum is reached and no free record was found */
};

/* One line: the input that was refused, why, and the mend. Always ended by '\0'. */
struct pfs_message {
	char text[256];
};

/*
 * pfs_status_text - the status in a few words, for logs.
 *
 * Returns   a constant string, never NULL.
 * Errors    none.
 * Progress  wait-free.
 * Order     none.
 */
const char *pfs_status_text(enum pfs_status status);

/*
 * pfs_one_line - what quotes a user's words stays one line: control characters become '?'.
 *
 * Returns   text itself, changed in place.
 * Errors    none.
 * Progress  wait-free.
 * Order     none.
 */
static inline char *pfs_one_line(char *text)
{
	for (char *at = text; *at != '\0'; at++) {
		int code = *at; /* below 0 are bytes of UTF-8, where a char has a sign */
		if ((code >= 0 && code < ' ') || code == 0x7F)
			*at = '?';
	}
	return text;
}

#ifdef __cplusplus
}
#endif
#endif
