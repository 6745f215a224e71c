/*
 * limit_text.h - limits as text: SCOPE=SIZE, separated by commas.
 *
 *	program=2G,thread=64M,account=256M,account:redis@localhost=1G,user:alice=10M
 *
 * A scope is program, thread, account, user (for each of them), account:USER@HOST or user:USER; an
 * empty USER or HOST means NULL. A size is bytes, optionally followed by K, M, G or T, or none.
 */
#ifndef PFS_BOX_LIMIT_TEXT_H
#define PFS_BOX_LIMIT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

struct pfs_limit_text {
	enum pfs_box_scope scope;
	uint64_t bytes; /* or PFS_BOX_NO_LIMIT */
	bool has_user, has_host;
	char user[PFS_BOX_USER_BYTES], host[PFS_BOX_HOST_BYTES];
};

/* Parse a limit at *text and advance *text. False: it is not valid. Does not allocate. */
bool pfs_limit_text_next(const char **text, struct pfs_limit_text *limit);

#endif
