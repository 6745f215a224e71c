/*
 * limit_text.h - limits as text: SCOPE=SIZE, with a comma between two.
 *
 *	program=2G,thread=64M,account=256M,account:redis@localhost=1G,user:alice=10M
 *
 * A scope is program, thread, account, user (each one of them), account:USER@HOST or user:USER;
 * an empty USER or HOST is none. A size is a number of bytes, perhaps with K, M, G or T behind it,
 * or none.
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

/* The next one of *text, which goes on behind it. False: *text is at what is none. Allocates
 * nothing. */
bool pfs_limit_text_next(const char **text, struct pfs_limit_text *limit);

#endif
