/*
 * serve.c - pfs-mem serve: boxes for clients of other protocols, MySQL's and HTTP.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>

#include "command.h"
#include "http/serve.h"
#include "mysql/serve.h"

/* Threads inherit the mask. */
static void block_ends(sigset_t *ends)
{
	(void)sigemptyset(ends);
	(void)sigaddset(ends, SIGINT);
	(void)sigaddset(ends, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, ends, NULL);
}

/* "all" means: no target was named. */
static bool begin_http(const struct pfs_arguments *arguments, struct pfs_message *message)
{
	bool is_all = arguments->word_count == 1 && strcmp(arguments->words[0], "all") == 0;
	const struct pfs_http_options options = {
		.address = arguments->http,
		.token_file = arguments->token_file,
		.targets = arguments->words,
		.target_count = is_all ? 0 : arguments->word_count,
	};
	return pfs_http_begin(&options, message);
}

static int run_serve(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	sigset_t ends;
	int signal;
	if (arguments->mysql == NULL && arguments->http == NULL)
		return pfs_complain(PFS_EXIT_USAGE,
				    "serve: no address given: add --http 127.0.0.1:PORT, "
				    "--mysql 127.0.0.1:PORT, or both");
	if (arguments->mysql != NULL &&
	    (arguments->word_count != 1 || strcmp(arguments->words[0], "all") == 0))
		return pfs_complain(PFS_EXIT_USAGE,
				    "serve: --mysql serves one box: give one TARGET");
	if (arguments->token_file != NULL && arguments->http == NULL)
		return pfs_complain(
			PFS_EXIT_USAGE,
			"serve: --token-file is for --http; give --password-file with --mysql");
	block_ends(&ends);
	if (arguments->http != NULL && !begin_http(arguments, &message))
		return pfs_complain_of(&message);
	if (arguments->mysql == NULL) {
		(void)sigwait(&ends, &signal);
		return PFS_EXIT_FINE; /* the threads end with the process */
	}
	if (!pfs_mysql_serve(arguments->words[0], arguments->mysql, arguments->password_file, &ends,
			     &message))
		return pfs_complain_of(&message);
	return PFS_EXIT_FINE;
}

static const struct pfs_option serve_options[] = {
	PFS_MEM_TEXT("http", 0, "HOST:PORT", http,
		     "listen at this address for browsers, jeprof, "
		     "go tool pprof, Prometheus, and scripts"),
	PFS_MEM_TEXT(
		"token-file", 0, "FILE", token_file,
		"its first line is the token for HTTP; without it, only this machine can connect"),
	PFS_MEM_TEXT("mysql", 'm', "HOST:PORT", mysql, "listen at this address for MySQL clients"),
	PFS_MEM_TEXT("password-file", 'p', "FILE", password_file,
		     "its first line is the password for MySQL; without it, only this machine "
		     "can connect"),
	{ 0 }
};

/* clang-format off */
const struct pfs_command pfs_command_serve = {
	.name = "serve", .words = "[TARGET...|all]", .words_min = 0, .words_max = PFS_WORDS_MAX,
	.doc = "serve boxes to browsers, Prometheus, pprof, or MySQL clients\vHTTP: a page at /, "
	       "/metrics, /api/; without TARGET of all boxes, including later ones. MySQL: schemas "
	       "performance_schema, sys, and pfs, of one TARGET. Ends on SIGINT or SIGTERM.",
	.options = serve_options, .format = PFS_FORMAT_TEXT, .run = run_serve
};
/* clang-format on */
