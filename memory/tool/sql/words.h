/*
 * words.h - the words of a query, and its operators with MySQL's meaning.
 */
#ifndef PFS_SQL_WORDS_H
#define PFS_SQL_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/box/reader.h"

/* How strings and comments are written, and which operators there are. */
enum pfs_dialect { PFS_DIALECT_MYSQL, PFS_DIALECT_SQLITE };

struct pfs_word {
	const char *text;
	size_t bytes;
	/* 'w'ord, 'n'umber, 's'tring, 'q'uoted name, '@' variable, 'p'unctuation; 0: the end */
	char kind;
};
/* The next word at *at, after spaces and comments; *at moves behind it. In MySQL's dialect. */
struct pfs_word pfs_word_next(const char **at);
struct pfs_word pfs_word_next_in(const char **at, enum pfs_dialect dialect);
bool pfs_word_is(struct pfs_word word, const char *text);
/* Its text: strings and quoted names without their quotes. For sqlite3_free. */
char *pfs_word_text(struct pfs_word word);

/*
 * pfs_sql_operators - a query whose operators compute as MySQL's do.
 *
 * / DIV % MOD become calls of the functions that divide as MySQL does, with the precedence of the
 * operators. LEFT, RIGHT and ISNULL are quoted where they are functions. A column that changed
 * keeps its text as its name. CAST and CONVERT become calls. In MySQL's dialect || && <=> become
 * the words of SQL, and operators whose result SQLite would compute differently (& | ^ ~ !) are
 * refused.
 *
 * Returns   text for sqlite3_free; NULL: refused, as message says, or no memory.
 */
char *pfs_sql_operators(const char *text, enum pfs_dialect dialect, struct pfs_message *message);

#endif
