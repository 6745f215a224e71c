/*
 * serve.c - pfs-mem serve: boxes for clients of other protocols, MySQL's and HTTP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "http/serve.h"
#include "listen.h"
#include "mysql/serve.h"

/* A protocol that is served. */
struct side {
	bool is_on;
	struct pfs_listening listening;
	struct pfs_secret secret;
};

struct serving {
	struct side http, mysql;
	char path[PFS_READER_PATH_BYTES]; /* of the box for MySQL */
	sigset_t ends;
};

/* ---- what is to be served ---- */

static const char *usage_fault(const struct pfs_arguments *self, bool has_mysql)
{
	bool is_one = self->word_count == 1 && strcmp(self->words[0], "all") != 0;
	if (self->mysql != NULL && !is_one)
		return "serve: --mysql serves one box: give one TARGET";
	if (self->token_file != NULL && self->http == NULL && self->mysql != NULL)
		return "serve: --token-file is for --http; give --password-file with --mysql";
	if (self->password_file != NULL && !has_mysql)
		return "serve: --password-file is for --mysql; give --token-file with --http";
	if (self->allow_changes && !has_mysql)
		return "serve: --allow-changes is for --mysql: nothing is changed by HTTP";
	return NULL;
}

/* Threads and processes inherit the mask. */
static void block_ends(sigset_t *ends)
{
	(void)sigemptyset(ends);
	(void)sigaddset(ends, SIGINT);
	(void)sigaddset(ends, SIGTERM);
	(void)sigaddset(ends, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, ends, NULL);
}

static bool take_secret(const struct pfs_arguments *arguments, struct side *side, bool is_http,
			struct pfs_message *message)
{
	static const struct pfs_secret_source kinds[] = {
		{ .option = "--password-file",
		  .variable = "PFS_MEM_PASSWORD",
		  .length_min = 8,
		  .shape = "8 to 253 bytes as the password" },
		{ .option = "--token-file",
		  .variable = "PFS_MEM_TOKEN",
		  .length_min = 16,
		  .letters = "abcdefghijklmnopqrstuvwxyz0123456789-._~ABCDEFGHIJKLMNOPQRSTUVWXYZ",
		  .shape = "16 to 253 letters, digits, or -._~ as the token" },
	};
	struct pfs_secret_source from = kinds[is_http];
	from.file = is_http ? arguments->token_file : arguments->password_file;
	return pfs_secret_take(&from, !side->listening.is_local, &side->secret, message);
}

static bool begin_side(const struct pfs_arguments *arguments, struct side *side, bool is_http,
		       struct pfs_message *message)
{
	const char *address = is_http ? arguments->http : arguments->mysql;
	const struct pfs_listen wanted = {
		.option = is_http ? "--http" : "--mysql",
		.example = is_http ? "127.0.0.1:8080" : "127.0.0.1:3307",
		.usual = is_http ? "http.sock" : "mysql.sock",
		.address = address != NULL ? address : PFS_LISTEN_SOCKET,
		.may_be_remote = arguments->allow_remote,
	};
	return !side->is_on || (pfs_listen_at(&wanted, &side->listening, message) &&
				take_secret(arguments, side, is_http, message));
}

/* A process is looked up once. The newest box is looked up by each connection. */
static bool find_box(const char *target, char path[PFS_READER_PATH_BYTES],
		     struct pfs_message *message)
{
	struct pfs_reader *reader = pfs_reader_open(target, message);
	if (reader == NULL)
		return false;
	(void)snprintf(path, PFS_READER_PATH_BYTES, "%s", pfs_reader_info(reader)->path);
	pfs_reader_close(reader);
	return true;
}

/* ---- saying so ---- */

static void say_local(const char *protocol, const struct pfs_listening *listening,
		      const char *client, const char *rest)
{
	const struct passwd *entry = getpwuid(geteuid());
	(void)fprintf(stderr, "pfs-mem: serving %s to user %s%s: %s %s%s\n", protocol,
		      entry != NULL ? entry->pw_name : "without a name",
		      geteuid() == 0 ? "" : " and root", client, listening->path, rest);
}

/* A secret that was drawn is said once, here. */
static void say_where(const struct serving *self)
{
	const struct side *http = &self->http, *mysql = &self->mysql;
	if (http->is_on && http->listening.is_local)
		say_local("HTTP", &http->listening, "curl --unix-socket", " http://localhost/");
	else if (http->is_on)
		(void)fprintf(stderr, "pfs-mem: serving on http://%s/%s%s\n", http->listening.where,
			      http->secret.is_drawn ? "?token=" : "",
			      http->secret.is_drawn ? http->secret.text : "");
	if (mysql->is_on && mysql->listening.is_local)
		say_local("MySQL", &mysql->listening, "mariadb --socket", "");
	else if (mysql->is_on)
		(void)fprintf(stderr, "pfs-mem: serving on %s%s%s\n", mysql->listening.where,
			      mysql->secret.is_drawn ? ", password " : "",
			      mysql->secret.is_drawn ? mysql->secret.text : "");
}

/* ---- serving ---- */

static bool serve_mysql(struct serving *self, struct pfs_message *message)
{
	const struct pfs_mysql_options options = {
		.path = strcmp(pfs_arguments.words[0], "last") == 0 ? NULL : self->path,
		.listening = &self->mysql.listening,
		.password = &self->mysql.secret,
		.may_change = pfs_arguments.allow_changes,
		.idle_s = (unsigned)pfs_arguments.idle_s,
	};
	return pfs_mysql_serve(&options, &self->ends, message);
}

/* In a process of its own: it forks, and HTTP has threads. */
static pid_t begin_mysql(struct serving *self)
{
	struct pfs_message message;
	pid_t parent = getpid(), process = fork();
	if (process != 0)
		return process;
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(PFS_EXIT_REFUSED);
	(void)close(self->http.listening.socket);
	bool fine = serve_mysql(self, &message);
	_exit(fine ? PFS_EXIT_FINE : pfs_complain_of(&message));
}

/* "all" means: no target was named. */
static bool begin_http(struct serving *self, struct pfs_message *message)
{
	bool is_all = pfs_arguments.word_count == 1 && strcmp(pfs_arguments.words[0], "all") == 0;
	const struct pfs_http_options options = {
		.listening = &self->http.listening,
		.token = &self->http.secret,
		.targets = pfs_arguments.words,
		.target_count = is_all ? 0 : pfs_arguments.word_count,
	};
	return pfs_http_begin(&options, message);
}

/* HTTP, and perhaps MySQL next to it, until a signal ends both or MySQL's process ends. */
static bool serve_http(struct serving *self, struct pfs_message *message)
{
	pid_t mysql = self->mysql.is_on ? begin_mysql(self) : 0;
	int number = SIGCHLD;
	if (mysql < 0)
		return pfs_refuse(message, "--mysql: no process: %s", strerror(errno));
	if (!begin_http(self, message)) {
		if (mysql > 0)
			(void)kill(mysql, SIGTERM);
		return false;
	}
	say_where(self);
	/* Nothing else is a child of this process. */
	while (sigwait(&self->ends, &number) == 0 && number == SIGCHLD)
		if (mysql > 0 && waitpid(mysql, NULL, WNOHANG) == mysql)
			return pfs_refuse(message, "the process that serves MySQL has ended");
	if (mysql > 0) {
		(void)kill(mysql, SIGTERM);
		(void)waitpid(mysql, NULL, 0);
	}
	return true;
}

static bool serve(struct serving *self, struct pfs_message *message)
{
	const struct pfs_arguments *arguments = &pfs_arguments;
	if (!begin_side(arguments, &self->http, true, message) ||
	    !begin_side(arguments, &self->mysql, false, message))
		return false;
	if (self->mysql.is_on && !find_box(arguments->words[0], self->path, message))
		return false;
	if (!arguments->allow_changes)
		pfs_reader_never_write();
	if (self->http.is_on)
		return serve_http(self, message);
	say_where(self);
	return serve_mysql(self, message);
}

static int run_serve(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	struct serving self = { .http.listening.socket = -1, .mysql.listening.socket = -1 };
	bool is_one = arguments->word_count == 1 && strcmp(arguments->words[0], "all") != 0;
	bool has_none = arguments->http == NULL && arguments->mysql == NULL;
	self.http.is_on = arguments->http != NULL || has_none;
	self.mysql.is_on = arguments->mysql != NULL || (has_none && is_one);
	const char *fault = usage_fault(arguments, self.mysql.is_on);
	if (fault != NULL)
		return pfs_complain(PFS_EXIT_USAGE, "%s", fault);
	block_ends(&self.ends);
	bool fine = serve(&self, &message);
	pfs_listen_end(&self.http.listening);
	pfs_listen_end(&self.mysql.listening);
	return fine ? PFS_EXIT_FINE : pfs_complain_of(&message);
}

static const struct pfs_option serve_options[] = {
	PFS_MEM_TEXT("http", 0, "ADDRESS", http,
		     "listen here for browsers, jeprof, go tool pprof, Prometheus, and scripts: "
		     "HOST:PORT, the PATH of a Unix socket, or 'socket', the usual one"),
	PFS_MEM_TEXT("token-file", 0, "FILE", token_file,
		     "its first line is the token for HTTP, else PFS_MEM_TOKEN is; at a port "
		     "without either, a token is drawn and printed"),
	PFS_MEM_TEXT("mysql", 'm', "ADDRESS", mysql, "listen here for MySQL clients"),
	PFS_MEM_TEXT("password-file", 'p', "FILE", password_file,
		     "its first line is the password for MySQL, else PFS_MEM_PASSWORD is; at a "
		     "port without either, a password is drawn and printed"),
	PFS_MEM_SWITCH("allow-changes", 0, allow_changes,
		       "MySQL clients may TRUNCATE, and UPDATE what is counted and its limits"),
	PFS_MEM_SWITCH("allow-remote", 0, allow_remote,
		       "ports may be at addresses that other machines can reach; nothing is "
		       "encrypted"),
	{ .name = "idle-seconds",
	  .value = "N",
	  .help = "end a MySQL connection that asks nothing for so long; default 600",
	  .kind = PFS_OPTION_NUMBER,
	  .place.number = &pfs_arguments.idle_s,
	  .low = 1,
	  .high = 31536000 },
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_serve = {
	.name = "serve", .words = "[TARGET...|all]", .words_min = 0, .words_max = PFS_WORDS_MAX,
	.doc = "serve boxes to browsers, Prometheus, pprof, or MySQL clients\vHTTP: a page at /, "
	       "/metrics, /api/; without TARGET of all boxes, including later ones. MySQL: schemas "
	       "performance_schema, sys, and pfs, of one TARGET. Without an ADDRESS at the usual "
	       "Unix sockets, which only you and root can use. Ends on SIGINT or SIGTERM.",
	.options = serve_options, .format = PFS_FORMAT_TEXT, .run = run_serve
};
/* clang-format on */
