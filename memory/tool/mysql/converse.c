/*
 * converse.c - one client: its commands, each with a time after which its process ends.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/now.h"
#include "mysql.h"

enum {
	QUIT = 1,
	INIT_DB,
	QUERY,
	FIELD_LIST,
	STATISTICS = 9,
	PING = 14,
	PREPARE = 22,
	EXECUTE,
	LONG_DATA,
	CLOSE_PREPARED,
	RESET_PREPARED,
	SET_OPTION,
	RESET = 31
};

/* ---- the end of a statement that SQLite does not end ---- */

static struct pfs_mysql *timed; /* this process's */

/* The progress handler runs between opcodes of SQLite, not while one runs, nor while a statement is
 * compiled. What is left of a result is lost with the process; nothing else is shared. */
static void on_overdue(int number)
{
	static uint8_t packet[] =
		"\0\0\0\0\xff\xd0\x0b#HY000Query execution was interrupted, maximum "
		"statement execution time exceeded";
	(void)number;
	packet[0] = sizeof(packet) - 1 - 4;
	packet[3] = timed->unsent;
	if (!timed->is_sending)
		(void)!send(timed->socket, packet, sizeof(packet) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	_exit(0);
}

/* seconds 0: no more. */
static void end_in(struct pfs_mysql *mysql, unsigned seconds)
{
	const struct itimerval timer = { .it_value = { .tv_sec = seconds + PFS_MYSQL_OVERDUE_S } };
	const struct itimerval none = { .it_value = { .tv_sec = 0 } };
	timed = mysql;
	mysql->query_end_ns = pfs_now_ns(CLOCK_MONOTONIC) + seconds * UINT64_C(1000000000);
	(void)setitimer(ITIMER_REAL, seconds > 0 ? &timer : &none, NULL);
}

/* ---- commands ---- */

static bool open_tables(struct pfs_mysql *self, const char *path, struct pfs_message *message)
{
	if (sqlite3_open(":memory:", &self->db) != SQLITE_OK ||
	    !pfs_sql_guard_begin(&self->guard, self->db))
		return pfs_refuse(message, "no memory");
	if ((path != NULL ? pfs_sql_attach(self->db, path, message)
			  : pfs_sql_attach_last(self->db, message)) != SQLITE_OK)
		return false;
	return (pfs_mysql_prepare(self) == SQLITE_OK &&
		pfs_sql_guard_end(&self->guard, self->db)) ||
	       pfs_refuse(message, "no memory");
}

static void say_statistics(struct pfs_mysql *self)
{
	static const char query[] =
		"SELECT group_concat(replace(VARIABLE_NAME, '_connected', '') || ': ' || "
		"VARIABLE_VALUE, '  ') FROM global_status WHERE VARIABLE_NAME IN ('Uptime', "
		"'Threads_connected')";
	sqlite3_stmt *statement = NULL;
	const char *text = NULL;
	char questions[64];
	if (sqlite3_prepare_v2(self->db, query, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(statement, 0);
	(void)snprintf(questions, sizeof(questions), "  Questions: %llu",
		       (unsigned long long)self->queries);
	pfs_mysql_begin(self);
	pfs_mysql_put(self, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
	pfs_mysql_put(self, questions, strlen(questions));
	pfs_mysql_end(self);
	(void)sqlite3_finalize(statement);
}

static void obey(struct pfs_mysql *mysql, uint8_t command, const char *text)
{
	switch (command) {
	case QUERY: pfs_mysql_query(mysql, text); break;
	case INIT_DB:
		if (pfs_mysql_use(mysql, text))
			pfs_mysql_ok(mysql, 0);
		break;
	case FIELD_LIST: pfs_mysql_fields(mysql, text); break;
	case STATISTICS: say_statistics(mysql); break;
	case RESET:
		pfs_mysql_forget(mysql);
		pfs_mysql_ok(mysql, 0);
		break;
	case PING: pfs_mysql_ok(mysql, 0); break;
	case SET_OPTION: pfs_mysql_eof(mysql); break;
	case PREPARE: pfs_mysql_stmt_prepare(mysql, text); break;
	case EXECUTE: pfs_mysql_stmt_execute(mysql); break;
	case LONG_DATA: pfs_mysql_stmt_long_data(mysql); break;
	case CLOSE_PREPARED: pfs_mysql_stmt_close(mysql); break;
	case RESET_PREPARED: pfs_mysql_stmt_reset(mysql); break;
	default: pfs_mysql_error(mysql, 1047, "08S01", "Unknown command");
	}
}

void pfs_mysql_converse(struct pfs_mysql *self, const char *path, const struct pfs_secret *password,
			volatile bool *is_known)
{
	struct pfs_message message;
	(void)signal(SIGALRM, on_overdue);
	bool fine = pfs_mysql_greet(self, password);
	pfs_mysql_flush(self);
	if (!fine)
		return;
	*is_known = true;
	if (!open_tables(self, path, &message)) {
		/* It answers the first command: clients read no answer before it. */
		if (pfs_mysql_receive(self, self->idle_s))
			pfs_mysql_error(self, 1105, "HY000", "%s", message.text);
		pfs_mysql_flush(self);
		return;
	}
	while (pfs_mysql_receive(self, self->idle_s)) {
		if (self->in_bytes > 0 && self->in[0] == QUIT)
			break;
		end_in(self, PFS_MYSQL_QUERY_S);
		if (self->in_bytes > 0)
			obey(self, self->in[0], (const char *)self->in + 1);
		else
			pfs_mysql_error(self, 1047, "08S01", "Unknown command");
		pfs_mysql_flush(self);
		end_in(self, 0);
	}
}
