/*
 * mysql.h - a box of accounts for clients of MySQL: the protocol's server side, for text queries
 * and prepared statements.
 *
 * One process serves a connection, with a connection of SQLite of its own. Nothing that comes from
 * a client is trusted: packets, queries and times are bounded, memory/tool/sql/guard.h says what
 * can be asked, and a statement that does not end in time ends with its process, whatever it does.
 *
 * Source: the client/server protocol as MySQL's documentation has it; the code is our own.
 */
#ifndef PFS_MEM_MYSQL_H
#define PFS_MEM_MYSQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/tool/listen.h"
#include "memory/tool/sql/guard.h"
#include "memory/tool/sql/sql.h"
#include "memory/tool/sql/words.h"

#define PFS_MYSQL_CONNECTIONS_MAX 64
#define PFS_MYSQL_PACKET_MAX (1u << 20)
#define PFS_MYSQL_WAIT_S 10 /* for a whole packet, a greeting, a full socket */
#define PFS_MYSQL_QUERY_S 10
#define PFS_MYSQL_OVERDUE_S 1 /* then the process ends, if the query did not */
#define PFS_MYSQL_SCRAMBLE 20u
#define PFS_MYSQL_NAME_MAX 64u
#define PFS_MYSQL_PREPARED_MAX 256u /* of a connection */

/* ---- packets ---- */

struct pfs_mysql {
	int socket;
	uint8_t sequence, unsent; /* of the next packet; of the first that is not sent */
	bool is_sending;
	bool has_failed; /* the client is gone, or sent what makes no sense */
	uint32_t id;
	char user[PFS_MYSQL_NAME_MAX], host[PFS_MYSQL_NAME_MAX], schema[PFS_MYSQL_NAME_MAX];
	uint8_t *in; /* the packet that was received, ended by 0 */
	size_t in_bytes;
	uint8_t *out;                          /* packets that are not yet sent */
	size_t out_bytes, out_room, out_begin; /* begin of the packet that is being made */
	sqlite3 *db;
	struct pfs_sql_guard guard;
	unsigned idle_s;       /* for the next command */
	uint64_t query_end_ns; /* of the monotonic clock */
	uint64_t queries;
	struct pfs_prepared *prepared; /* statements that the client has not closed */
	unsigned prepared_count;
	uint32_t last_prepared;
};

/* A number of the protocol's. */
static inline uint64_t pfs_mysql_little(const uint8_t *at, unsigned bytes)
{
	uint64_t number = 0;
	for (unsigned i = 0; i < bytes; i++)
		number |= (uint64_t)at[i] << 8 * i;
	return number;
}

/* The next packet, whose first byte may take so long. False: the client ends. */
bool pfs_mysql_receive(struct pfs_mysql *self, unsigned wait_s);
/* A packet, its parts, its end; sent when there is much, and by flush. */
void pfs_mysql_begin(struct pfs_mysql *self);
void pfs_mysql_put(struct pfs_mysql *self, const void *bytes, size_t count);
void pfs_mysql_put_number(struct pfs_mysql *self, uint64_t number, unsigned bytes);
void pfs_mysql_put_length(struct pfs_mysql *self, uint64_t number);
void pfs_mysql_put_text(struct pfs_mysql *self, const char *text); /* with its length */
void pfs_mysql_end(struct pfs_mysql *self);
void pfs_mysql_flush(struct pfs_mysql *self);

void pfs_mysql_ok(struct pfs_mysql *self, uint64_t affected);
void pfs_mysql_eof(struct pfs_mysql *self);
__attribute__((format(printf, 4, 5))) void
pfs_mysql_error(struct pfs_mysql *self, unsigned code, const char *state, const char *format, ...);

/* ---- a connection ---- */

/* Greets and authenticates; an empty password: anybody. False: the client was refused. */
bool pfs_mysql_greet(struct pfs_mysql *self, const struct pfs_secret *password);
/* Talks to a client of the box in this file, to its end. Runs in a process of its own. is_known
 * becomes true when the client has said the password. */
void pfs_mysql_converse(struct pfs_mysql *self, const char *path, const struct pfs_secret *password,
			volatile bool *is_known);
void pfs_sha1(const void *bytes, size_t count, uint8_t digest[20]);

/* A query, to its last packet. */
void pfs_mysql_query(struct pfs_mysql *self, const char *text);
/* Prepares a query. NULL: already answered, by OK or an error. */
sqlite3_stmt *pfs_mysql_compile(struct pfs_mysql *self, const char *text);
/* Its whole result; rows as text or binary. */
void pfs_mysql_answer(struct pfs_mysql *self, sqlite3_stmt *statement, bool is_binary);
/* Its columns and the packet that ends them. */
void pfs_mysql_columns(struct pfs_mysql *self, sqlite3_stmt *statement, bool has_row);

/* ---- prepared statements: the packet is what was received ---- */

void pfs_mysql_stmt_prepare(struct pfs_mysql *self, const char *text);
void pfs_mysql_stmt_execute(struct pfs_mysql *self);
void pfs_mysql_stmt_reset(struct pfs_mysql *self);
void pfs_mysql_stmt_close(struct pfs_mysql *self);     /* no answer */
void pfs_mysql_stmt_long_data(struct pfs_mysql *self); /* no answer */
/* Frees all of them. */
void pfs_mysql_forget(struct pfs_mysql *self);

/* ---- others ---- */

bool pfs_mysql_use(struct pfs_mysql *self, const char *schema);
void pfs_mysql_fields(struct pfs_mysql *self, const char *table);
/* Adds MySQL's functions and information_schema. */
int pfs_mysql_prepare(struct pfs_mysql *self);

/*
 * pfs_mysql_rewrite - a query of MySQL's as SQLite reads it: schemas' names in front of tables go,
 * strings lose backslashes, @@ names become values. SHOW, DESCRIBE, TRUNCATE become queries.
 *
 * Returns   text for sqlite3_free; NULL: answered already, by OK or an error.
 */
char *pfs_mysql_rewrite(struct pfs_mysql *self, const char *text);
/* SHOW and DESCRIBE, by words. NULL: answered, or refused. */
char *pfs_mysql_show(struct pfs_mysql *self, const char *text);
/* The value of a variable, as SQL has it, for sqlite3_free; NULL: there is none of that name. */
char *pfs_mysql_variable(const struct pfs_mysql *self, const char *name);
/* All of them as a query of (name, value), "SELECT ... UNION ALL ...". For sqlite3_free. */
char *pfs_mysql_variables(const struct pfs_mysql *self);

#endif
