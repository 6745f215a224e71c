/*
 * serve.c - the listening socket, and connections.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "memory/tool/listen.h"
#include "mysql.h"
#include "serve.h"

#define HEAP_BYTES_MAX (INT64_C(1) << 30)
#define VALUE_BYTES_MAX (1 << 20)
#define PASSWORD_MAX 256u

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

struct server {
	int listener, signals;
	const char *target;   /* a file name; NULL: the newest box */
	const char *password; /* NULL: none */
	pthread_mutex_t lock; /* of what follows */
	int connections;
	uint32_t last_id;
};

struct visitor {
	struct server *server;
	struct pfs_mysql mysql;
};

/* ---- a connection ---- */

/* What queries may do: read, and change rows of the tables that can be changed. */
static int authorize(void *opaque, int action, const char *one, const char *two, const char *schema,
		     const char *trigger)
{
	(void)opaque;
	(void)schema;
	(void)trigger;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
	case SQLITE_UPDATE:
	case SQLITE_DELETE:
	case SQLITE_INSERT: /* refused by the tables */ return SQLITE_OK;
	case SQLITE_PRAGMA: return strcmp(one, "table_info") == 0 ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_FUNCTION:
		return strcasecmp(two, "load_extension") == 0 ||
				       strcasecmp(two, "pfs_mem_open") == 0 ||
				       strcasecmp(two, "randomblob") == 0
			       ? SQLITE_DENY
			       : SQLITE_OK;
	default: return SQLITE_DENY;
	}
}

static bool open_tables(struct visitor *self, struct pfs_message *message)
{
	struct pfs_mysql *mysql = &self->mysql;
	if (sqlite3_open(":memory:", &mysql->db) != SQLITE_OK)
		return pfs_refuse(message, "no memory");
	/* Before the views exist: this drops them. */
	(void)sqlite3_exec(mysql->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
	const char *target = self->server->target;
	if ((target != NULL ? pfs_sql_attach(mysql->db, target, message)
			    : pfs_sql_attach_last(mysql->db, message)) != SQLITE_OK)
		return false;
	if (pfs_mysql_prepare(mysql) != SQLITE_OK)
		return pfs_refuse(message, "no memory");
	(void)sqlite3_limit(mysql->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
	(void)sqlite3_limit(mysql->db, SQLITE_LIMIT_COLUMN, 200);
	(void)sqlite3_limit(mysql->db, SQLITE_LIMIT_VARIABLE_NUMBER, 1000);
	(void)sqlite3_set_authorizer(mysql->db, authorize, NULL);
	return true;
}

static void say_statistics(struct pfs_mysql *mysql)
{
	static const char query[] =
		"SELECT group_concat(replace(VARIABLE_NAME, '_connected', '') || ': ' || "
		"VARIABLE_VALUE, '  ') FROM global_status WHERE VARIABLE_NAME IN ('Uptime', "
		"'Threads_connected')";
	sqlite3_stmt *statement = NULL;
	const char *text = NULL;
	char questions[64];
	if (sqlite3_prepare_v2(mysql->db, query, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(statement, 0);
	(void)snprintf(questions, sizeof(questions), "  Questions: %llu",
		       (unsigned long long)mysql->queries);
	pfs_mysql_begin(mysql);
	pfs_mysql_put(mysql, text == NULL ? "" : text, text == NULL ? 0 : strlen(text));
	pfs_mysql_put(mysql, questions, strlen(questions));
	pfs_mysql_end(mysql);
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

static void converse(struct visitor *self)
{
	struct pfs_mysql *mysql = &self->mysql;
	struct pfs_message message;
	bool fine = pfs_mysql_greet(mysql, self->server->password);
	pfs_mysql_flush(mysql);
	if (!fine)
		return;
	if (!open_tables(self, &message)) {
		/* It answers the first command: clients read no answer before it. */
		if (pfs_mysql_receive(mysql, PFS_MYSQL_IDLE_S))
			pfs_mysql_error(mysql, 1105, "HY000", "%s", message.text);
		pfs_mysql_flush(mysql);
		return;
	}
	while (pfs_mysql_receive(mysql, PFS_MYSQL_IDLE_S)) {
		if (mysql->in_bytes > 0 && mysql->in[0] == QUIT)
			break;
		if (mysql->in_bytes > 0)
			obey(mysql, mysql->in[0], (const char *)mysql->in + 1);
		else
			pfs_mysql_error(mysql, 1047, "08S01", "Unknown command");
		pfs_mysql_flush(mysql);
	}
}

static void free_visitor(struct visitor *self)
{
	pfs_mysql_forget(&self->mysql);
	(void)sqlite3_close(self->mysql.db);
	(void)close(self->mysql.socket);
	free(self->mysql.in);
	free(self->mysql.out);
	free(self);
}

static void *visit(void *opaque)
{
	struct visitor *self = opaque;
	struct server *server = self->server;
	converse(self);
	/* Before the client sees the end: it may reconnect at once. */
	(void)pthread_mutex_lock(&server->lock);
	server->connections--;
	(void)pthread_mutex_unlock(&server->lock);
	free_visitor(self);
	return NULL;
}

/* ---- all of them ---- */

static void welcome(struct server *self, int socket, const struct sockaddr *from, socklen_t bytes)
{
	const struct timeval wait = { .tv_sec = PFS_MYSQL_WAIT_S };
	const int yes = 1;
	struct visitor *visitor = calloc(1, sizeof(*visitor));
	pthread_t thread;
	if (visitor == NULL) {
		(void)close(socket);
		return;
	}
	visitor->server = self;
	visitor->mysql.socket = socket;
	(void)setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	/* Answers are sent whole: what is left of one waits for nobody. */
	(void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	(void)getnameinfo(from, bytes, visitor->mysql.host, sizeof(visitor->mysql.host), NULL, 0,
			  NI_NUMERICHOST);
	(void)pthread_mutex_lock(&self->lock);
	bool has_room = self->connections < PFS_MYSQL_CONNECTIONS_MAX;
	visitor->mysql.id = ++self->last_id;
	self->connections += has_room;
	(void)pthread_mutex_unlock(&self->lock);
	if (has_room && pthread_create(&thread, NULL, visit, visitor) == 0) {
		(void)pthread_detach(thread);
		return;
	}
	pfs_mysql_error(&visitor->mysql, 1040, "08004", "Too many connections");
	pfs_mysql_flush(&visitor->mysql);
	free_visitor(visitor);
	(void)pthread_mutex_lock(&self->lock);
	self->connections -= has_room;
	(void)pthread_mutex_unlock(&self->lock);
}

static void serve(struct server *self)
{
	struct pollfd wait[] = { { .fd = self->listener, .events = POLLIN },
				 { .fd = self->signals, .events = POLLIN } };
	for (;;) {
		struct sockaddr_storage from;
		socklen_t bytes = sizeof(from);
		if (poll(wait, 2, -1) < 0 && errno != EINTR)
			return;
		if (wait[1].revents != 0)
			return;
		if (wait[0].revents == 0)
			continue;
		int socket = accept4(self->listener, (struct sockaddr *)&from, &bytes,
				     SOCK_CLOEXEC);
		if (socket >= 0)
			welcome(self, socket, (struct sockaddr *)&from, bytes);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			(void)usleep(100 * 1000);
	}
}

/* ---- beginning ---- */

static bool listen_at(struct server *self, const char *text, struct pfs_message *message)
{
	const struct pfs_listen wanted = { .option = "--mysql",
					   .example = "127.0.0.1:3307",
					   .address = text,
					   .secret = "--password-file",
					   .has_secret = self->password != NULL };
	char host[128], port[16];
	struct sockaddr_storage bound;
	self->listener = pfs_listen_at(&wanted, &bound, message);
	if (self->listener < 0)
		return false;
	(void)getnameinfo((struct sockaddr *)&bound, sizeof(bound), host, sizeof(host), port,
			  sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV);
	(void)fprintf(stderr, "pfs-mem: serving on %s:%s\n", host, port);
	return true;
}

bool pfs_mysql_serve(const char *target, const char *address, const char *password_file,
		     const sigset_t *ends, struct pfs_message *message)
{
	static char password[PASSWORD_MAX];
	static char path[PFS_READER_PATH_BYTES];
	static struct server server = { .listener = -1, .lock = PTHREAD_MUTEX_INITIALIZER };
	if (password_file != NULL &&
	    !pfs_read_secret("--password-file", password_file, password, sizeof(password), message))
		return false;
	/* A process is looked up once. The newest box is looked up by each connection. */
	struct pfs_reader *reader = pfs_reader_open(target, message);
	if (reader == NULL)
		return false;
	(void)snprintf(path, sizeof(path), "%s", pfs_reader_info(reader)->path);
	pfs_reader_close(reader);
	server.target = strcmp(target, "last") == 0 ? NULL : path;
	server.password = password_file == NULL ? NULL : password;
	(void)sqlite3_hard_heap_limit64(HEAP_BYTES_MAX);
	server.signals = signalfd(-1, ends, SFD_CLOEXEC);
	if (server.signals < 0)
		return pfs_refuse(message, "signals: %s", strerror(errno));
	if (!listen_at(&server, address, message))
		return false;
	serve(&server);
	(void)close(server.listener);
	return true; /* the threads end with the process */
}
