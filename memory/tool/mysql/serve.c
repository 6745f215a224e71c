/*
 * serve.c - accepts connections, each for a process of its own, and keeps their number bounded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mysql.h"
#include "serve.h"

#define FULL_TRIES 20 /* for a process that is about to end */
#define FULL_PAUSE_US 5000

/* In memory that the processes share. */
struct visit {
	pid_t process; /* 0: free */
	uint32_t id;
	volatile bool is_known; /* written by the process: it was authenticated */
};

struct server {
	const struct pfs_mysql_options *options;
	int signals;
	uint32_t last_id;
	struct visit *visits; /* PFS_MYSQL_CONNECTIONS_MAX */
};

/* ---- those there are ---- */

/* A process ends by _exit, or by this one's SIGKILL. */
static void end_visit(struct visit *one, int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		(void)fprintf(stderr, "pfs-mem: MySQL connection %u ended by signal %d (%s)\n",
			      one->id, WTERMSIG(status), strsignal(WTERMSIG(status)));
	one->process = 0;
}

static void reap(struct server *self)
{
	pid_t process;
	int status;
	while ((process = waitpid(-1, &status, WNOHANG)) > 0)
		for (unsigned i = 0; i < PFS_MYSQL_CONNECTIONS_MAX; i++)
			if (self->visits[i].process == process)
				end_visit(&self->visits[i], status);
}

static struct visit *free_one(struct server *self)
{
	for (unsigned i = 0; i < PFS_MYSQL_CONNECTIONS_MAX; i++)
		if (self->visits[i].process == 0)
			return &self->visits[i];
	return NULL;
}

/* The oldest that has not said the password, so that strangers cannot keep others out. */
static struct visit *oldest_stranger(struct server *self)
{
	struct visit *oldest = NULL;
	for (unsigned i = 0; i < PFS_MYSQL_CONNECTIONS_MAX; i++) {
		struct visit *one = &self->visits[i];
		if (one->process != 0 && !one->is_known && (oldest == NULL || one->id < oldest->id))
			oldest = one;
	}
	return oldest;
}

/* A client may reconnect before its last process has ended. NULL: there is no room. */
static struct visit *make_room(struct server *self)
{
	for (int i = 0; i < FULL_TRIES; i++) {
		reap(self);
		struct visit *one = free_one(self);
		if (one != NULL)
			return one;
		one = oldest_stranger(self);
		if (one != NULL && i == FULL_TRIES / 2)
			(void)kill(one->process, SIGKILL);
		(void)usleep(FULL_PAUSE_US);
	}
	return NULL;
}

/* ---- a new one ---- */

static void describe(struct server *self, struct pfs_mysql *mysql, int socket,
		     const struct sockaddr *from, socklen_t bytes)
{
	const struct timeval wait = { .tv_sec = PFS_MYSQL_WAIT_S };
	const int yes = 1;
	mysql->socket = socket;
	mysql->id = ++self->last_id;
	mysql->idle_s = self->options->idle_s;
	mysql->guard.may_change = self->options->may_change;
	(void)setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	(void)snprintf(mysql->host, sizeof(mysql->host), "localhost");
	if (self->options->listening->is_local)
		return;
	/* Answers are sent whole: what is left of one waits for nobody. */
	(void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	(void)getnameinfo(from, bytes, mysql->host, sizeof(mysql->host), NULL, 0, NI_NUMERICHOST);
}

/* In the new process, which ends here. */
__attribute__((noreturn)) static void visit(struct server *self, struct pfs_mysql *mysql,
					    struct visit *visit, pid_t parent)
{
	sigset_t none;
	(void)sigemptyset(&none);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)close(self->options->listening->socket);
	(void)close(self->signals);
	pfs_mysql_converse(mysql, self->options->path, self->options->password, &visit->is_known);
	_exit(0);
}

static void refuse(struct pfs_mysql *mysql)
{
	pfs_mysql_flush(mysql);
	free(mysql->out);
	(void)close(mysql->socket);
}

static void welcome(struct server *self, int socket, const struct sockaddr *from, socklen_t bytes)
{
	struct pfs_mysql mysql = { .socket = -1 };
	uint32_t user = 0;
	pid_t parent = getpid();
	describe(self, &mysql, socket, from, bytes);
	if (self->options->listening->is_local && !pfs_peer_is_fine(socket, &user)) {
		pfs_mysql_error(&mysql, 1045, "28000",
				"Access denied: this socket is for user %u and root, and you are "
				"user %u",
				(unsigned)geteuid(), user);
		refuse(&mysql);
		return;
	}
	struct visit *one = make_room(self);
	pid_t process = -1;
	if (one != NULL) {
		one->id = mysql.id;
		one->is_known = self->options->password->text[0] == '\0';
		process = fork();
	}
	if (process == 0)
		visit(self, &mysql, one, parent);
	if (process < 0) {
		pfs_mysql_error(&mysql, 1040, "08004", "Too many connections: %u at a time",
				PFS_MYSQL_CONNECTIONS_MAX);
		refuse(&mysql);
		return;
	}
	one->process = process;
	(void)close(socket);
}

/* ---- all of them ---- */

/* False: it is to end. */
static bool take_signal(struct server *self)
{
	struct signalfd_siginfo info;
	if (read(self->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return true;
	reap(self);
	return info.ssi_signo == SIGCHLD;
}

static void serve(struct server *self)
{
	struct pollfd wait[] = { { .fd = self->options->listening->socket, .events = POLLIN },
				 { .fd = self->signals, .events = POLLIN } };
	for (;;) {
		struct sockaddr_storage from;
		socklen_t bytes = sizeof(from);
		if (poll(wait, 2, -1) < 0 && errno != EINTR)
			return;
		if (wait[1].revents != 0 && !take_signal(self))
			return;
		if (wait[0].revents == 0)
			continue;
		int socket = accept4(wait[0].fd, (struct sockaddr *)&from, &bytes, SOCK_CLOEXEC);
		if (socket >= 0)
			welcome(self, socket, (struct sockaddr *)&from, bytes);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			(void)usleep(100 * 1000);
	}
}

static void end_all(struct server *self)
{
	for (unsigned i = 0; i < PFS_MYSQL_CONNECTIONS_MAX; i++)
		if (self->visits[i].process != 0)
			(void)kill(self->visits[i].process, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

bool pfs_mysql_serve(const struct pfs_mysql_options *options, const sigset_t *ends,
		     struct pfs_message *message)
{
	struct server server = { .options = options };
	sigset_t wanted = *ends;
	void *shared = mmap(NULL, PFS_MYSQL_CONNECTIONS_MAX * sizeof(*server.visits),
			    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return pfs_refuse(message, "no memory for connections: %s", strerror(errno));
	server.visits = shared;
	(void)sigaddset(&wanted, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &wanted, NULL);
	server.signals = signalfd(-1, &wanted, SFD_CLOEXEC);
	if (server.signals < 0)
		return pfs_refuse(message, "signals: %s", strerror(errno));
	serve(&server);
	end_all(&server);
	return true;
}
