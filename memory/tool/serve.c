/*
 * serve.c - pfs-mem serve: a box for clients of other protocols, MySQL's.
 */
#include "command.h"
#include "mysql/serve.h"

static int run_serve(const struct pfs_arguments *arguments)
{
	struct pfs_message message;
	if (arguments->mysql == NULL)
		return pfs_complain(PFS_EXIT_USAGE, "serve: say where: --mysql 127.0.0.1:PORT");
	if (!pfs_mysql_serve(arguments->words[0], arguments->mysql, arguments->password_file,
			     &message))
		return pfs_complain_of(&message);
	return PFS_EXIT_FINE;
}

static const struct argp_option serve_options[] = {
	{ "mysql", PFS_KEY_MYSQL, "HOST:PORT", 0, "listen there for clients of MySQL", 0 },
	{ "password-file", PFS_KEY_PASSWORD, "FILE", 0,
	  "whoever connects must know its first line; without, nobody from outside may", 0 },
	{ 0 }
};

const struct pfs_command pfs_command_serve = {
	.name = "serve", .words = "TARGET", .words_min = 1, .words_max = 1,
	.doc = "let clients of MySQL ask a box\v"
	       "Schemas performance_schema, sys, and pfs. Text queries and prepared statements; "
	       "until SIGINT or SIGTERM.",
	.options = serve_options, .format = PFS_FORMAT_TEXT, .run = run_serve
};
