/*
 * run.c - pfs-mem run: runs a program with libpfsmem.so preloaded, which keeps the accounts.
 *
 * It executes the program in its own process: exit status, signals and process id are the
 * program's.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "memory/box/reader.h"

#include "command.h"
#include "own_folder.h"
#include "runtimes.h"

#define LIBRARY "libpfsmem.so"
#define PATH_BYTES 4096u
#define SCRIPTS_MOST 5 /* scripts whose interpreter is a script */

/* ---- the library: beside this program, or where it is installed ---- */

static bool find_library(char *path)
{
	static const char *const places[] = { "", "../lib/", "../lib/x86_64-linux-gnu/",
					      "../lib/aarch64-linux-gnu/", "../lib64/" };
	char own[PATH_BYTES];
	if (!pfs_own_folder(own, sizeof(own)))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		(void)snprintf(path, PATH_BYTES, "%.3900s%s" LIBRARY, own, places[i]);
		if (access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/* LD_PRELOAD splits names at spaces and colons. A library whose path has one is preloaded by a link
 * in the folder of the boxes. The link stays, because the program's children need it too. */
static bool name_without_space(char *path)
{
	char folder[PATH_BYTES], link[PATH_BYTES], fresh[PATH_BYTES];
	if (strpbrk(path, " :\t\n") == NULL)
		return true;
	pfs_reader_folder(folder, sizeof(folder));
	(void)mkdir(folder, 0700);
	(void)snprintf(link, sizeof(link), "%.3900s/" LIBRARY, folder);
	(void)snprintf(fresh, sizeof(fresh), "%.3900s/" LIBRARY ".%ld", folder, (long)getpid());
	if (strpbrk(link, " :\t\n") != NULL || symlink(path, fresh) != 0)
		return false;
	if (rename(fresh, link) != 0) {
		(void)unlink(fresh);
		return false;
	}
	(void)snprintf(path, PATH_BYTES, "%s", link);
	return true;
}

/* ---- the command: can it have a library preloaded? ---- */

/* The path that execvp would find. */
static bool find_command(const char *name, char *path)
{
	const char *folders = getenv("PATH");
	if (strchr(name, '/') != NULL) {
		(void)snprintf(path, PATH_BYTES, "%s", name);
		return access(path, F_OK) == 0;
	}
	if (folders == NULL || folders[0] == '\0')
		folders = "/usr/local/bin:/usr/bin:/bin";
	for (const char *at = folders; at != NULL;) {
		size_t length = strcspn(at, ":");
		(void)snprintf(path, PATH_BYTES, "%.*s%s%s", (int)length, at,
			       length != 0 ? "/" : "", name);
		if (access(path, X_OK) == 0)
			return true;
		at = at[length] == ':' ? at + length + 1 : NULL;
	}
	return false;
}

/* Does an ELF file name a loader? Only loaders preload. */
static bool has_loader(int file, const Elf64_Ehdr *head)
{
	for (unsigned i = 0; i < head->e_phnum; i++) {
		Elf64_Phdr part;
		off_t at = (off_t)(head->e_phoff + (uint64_t)i * head->e_phentsize);
		if (pread(file, &part, sizeof(part), at) != (ssize_t)sizeof(part))
			return false;
		if (part.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static bool gains_rights(int file)
{
	struct stat status;
	if (fstat(file, &status) != 0)
		return false;
	bool is_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != getegid();
	bool is_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid();
	return is_user || is_group || fgetxattr(file, "security.capability", NULL, 0) > 0;
}

/* "#! /bin/sh -e": the path of the interpreter. */
static bool take_interpreter(const char *text, char *path)
{
	text += 2 + strspn(text + 2, " \t");
	size_t length = strcspn(text, " \t\n");
	(void)snprintf(path, PATH_BYTES, "%.*s", (int)length, text);
	return length != 0;
}

/* 0: it can run, or execvp will report why not. */
static int check_program(const char *name, char *path, int depth)
{
	union {
		Elf64_Ehdr head;
		char text[512];
	} begin;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return PFS_EXIT_FINE;
	memset(&begin, 0, sizeof(begin));
	ssize_t got = read(file, &begin, sizeof(begin) - 1);
	int status = PFS_EXIT_FINE;
	bool is_elf = got >= (ssize_t)sizeof(begin.head) &&
		      memcmp(begin.head.e_ident, ELFMAG, SELFMAG) == 0;
	if (gains_rights(file))
		status = pfs_complain(PFS_EXIT_REFUSED,
				      "run: %s is set-uid, set-gid or has "
				      "capabilities: nothing can be preloaded into it",
				      path);
	else if (is_elf && begin.head.e_ident[EI_CLASS] != ELFCLASS64)
		status = pfs_complain(PFS_EXIT_REFUSED,
				      "run: %s is a 32-bit program, and " LIBRARY " is not", path);
	else if (is_elf && !has_loader(file, &begin.head))
		status = pfs_complain(PFS_EXIT_REFUSED,
				      "run: %s is linked statically: nothing "
				      "can be preloaded into it",
				      path);
	(void)close(file);
	if (status == PFS_EXIT_FINE && strncmp(begin.text, "#!", 2) == 0 && depth > 0 &&
	    take_interpreter(begin.text, path))
		return check_program(name, path, depth - 1);
	return status;
}

/* ---- options ---- */

struct option_of_run {
	const char *name;
	const char *variable;
	const char *shape;  /* of its value; NULL: no value */
	const char *value;  /* set by an option without a value */
	const char *values; /* allowed values, each followed by a space; NULL: any */
	const char *help;
};

static const struct option_of_run options[] = {
	{ "keep", "PFS_MEM_KEEP", NULL, "1", NULL, "keep the box when the program exits normally" },
	{ "keep-dead", "PFS_MEM_KEEP_DEAD", "N", NULL, NULL,
	  "keep N boxes of dead programs, by cause of death and bytes held; default 32" },
	{ "by", "PFS_MEM_BY", "WHAT", NULL, "library site ",
	  "one instrument for each calling library (default), or for each call site" },
	{ "arenas", "PFS_MEM_ARENAS", "pool", NULL, "pool ",
	  "each pool of threads has its own arena" },
	{ "rule", "PFS_MEM_RULE", "RULE", NULL, "exact freer global ",
	  "exact (default), freer, "
	  "global" },
	{ "tick-ms", "PFS_MEM_TICK_MS", "N", NULL, NULL,
	  "time between two ticks, 0 for none; "
	  "default 1000" },
	{ "instruments", "PFS_MEM_MAX_INSTRUMENTS", "N", NULL, NULL,
	  "how many instruments fit into the box; default 250" },
	{ "threads", "PFS_MEM_MAX_THREADS", "N", NULL, NULL,
	  "how many threads that live at the same time fit into the box, up to 65536; default "
	  "16384" },
	{ "no-profile", "PFS_MEM_PROFILE", NULL, "off", NULL, "without a heap profile" },
	{ "lg-prof-sample", "PFS_MEM_LG_PROF_SAMPLE", "N", NULL, NULL,
	  "one sample per 2^N bytes; default 19" },
	{ "guard", "PFS_MALLOC_CONF", "N", NULL, NULL,
	  "one of N mallocs gets a block that names memory corruption; 1: each, 0: none; default "
	  "500000" },
	{ "for", "", "RUNTIME", NULL, NULL, pfs_runtimes_help },
	{ "dir", "PFS_MEM_DIR", "FOLDER", NULL, NULL, "where the box is" },
	{ "limit", "PFS_MEM_LIMIT", "LIMITS", NULL, NULL,
	  "SCOPE=SIZE[,...]: an allocation beyond SIZE fails (ENOMEM); SCOPE: program, thread, "
	  "account, user, account:USER@HOST, "
	  "user:USER; SIZE: bytes, also with K, M, G or T, or none" },
};
#define OPTIONS (sizeof(options) / sizeof(options[0]))

static bool is_one_of(const char *values, const char *value)
{
	size_t length = strlen(value);
	for (const char *at = values; *at != '\0'; at += strcspn(at, " ") + 1)
		if (strncmp(at, value, length) == 0 && at[length] == ' ')
			return true;
	return false;
}

/* Joins all that are given into one list. */
static enum pfs_status take_limits(const char *name, const char *variable, const char *text,
				   struct pfs_message *message)
{
	static char limits[PATH_BYTES];
	size_t length = strlen(limits);
	const char *fault = NULL;
	if (!pfs_limits_are_fine(text))
		fault = "is not a limit: write program=2G, thread=64M, account:USER@HOST=1G";
	else if (length + strlen(text) + 2 > sizeof(limits))
		fault = "is too long together with the limits before it";
	if (fault == NULL) {
		(void)snprintf(limits + length, sizeof(limits) - length, "%s%s",
			       length != 0 ? "," : "", text);
		if (setenv(variable, limits, 1) == 0)
			return PFS_OK;
		fault = ": no memory for the environment";
	}
	(void)snprintf(message->text, sizeof(message->text), "--%s '%.100s' %s", name, text, fault);
	return PFS_BAD_CONFIG;
}

/* Added to the allocator's options, of which the last counts. */
static bool add_guard(const char *variable, const char *number)
{
	char conf[PATH_BYTES];
	const char *before = getenv(variable);
	bool is_first = before == NULL || before[0] == '\0';
	int length = snprintf(conf, sizeof(conf), "%s%sguard_rate:%s", is_first ? "" : before,
			      is_first ? "" : ",", number);
	return length < (int)sizeof(conf) && setenv(variable, conf, 1) == 0;
}

/* Sets it in the program's environment. */
static enum pfs_status take_option(void *context, const struct pfs_option *option, const char *text,
				   struct pfs_message *message)
{
	const struct option_of_run *own = &options[option->key - 256];
	uint64_t number;
	(void)context;
	if (strcmp(own->name, "limit") == 0)
		return take_limits(option->name, own->variable, text, message);
	if (strcmp(own->name, "for") == 0)
		return pfs_runtime_set(text, message) ? PFS_OK : PFS_BAD_CONFIG;
	if (own->values != NULL && !is_one_of(own->values, text))
		return pfs_read_choice(option->name, text, own->values, message);
	if (own->values == NULL && own->shape != NULL && strcmp(own->shape, "N") == 0 &&
	    pfs_read_number(option->name, text, 0, 99999999, &number, message) != PFS_OK)
		return PFS_BAD_CONFIG;
	if (strcmp(own->name, "guard") == 0
		    ? add_guard(own->variable, text)
		    : setenv(own->variable, own->shape != NULL ? text : own->value, 1) == 0)
		return PFS_OK;
	(void)snprintf(message->text, sizeof(message->text), "--%s: no memory for the environment",
		       option->name);
	return PFS_NO_MEMORY;
}

/* PFS_GO_ON, with the index of the command in *next; or the exit status. */
static int read_options(int argc, char **argv, int *next)
{
	struct pfs_option table[OPTIONS];
	for (size_t i = 0; i < OPTIONS; i++)
		table[i] = (struct pfs_option){ .name = options[i].name,
						.key = 256 + (int)i,
						.value = options[i].shape,
						.help = options[i].help,
						.kind = PFS_OPTION_READ,
						.read = take_option };
	/* clang-format off */
	const struct pfs_command_line line = {
		.program = "pfs-mem run", .words = "[--] COMMAND [ARGUMENT...]", .words_min = 1,
		.stops = true, .options = table, .option_count = OPTIONS,
		.about = "run a program and count all its allocations: read its box with pfs-mem "
			 "top last, while it runs and after it was killed",
	};
	/* clang-format on */
	return pfs_command_line_read(&line, argc, argv, next);
}

/* ---- run ---- */

static bool preload(const char *library)
{
	char list[2 * PATH_BYTES];
	const char *others = getenv("LD_PRELOAD");
	(void)snprintf(list, sizeof(list), "%s%s%.4000s", library,
		       others != NULL && others[0] != '\0' ? ":" : "",
		       others != NULL ? others : "");
	return setenv("LD_PRELOAD", list, 1) == 0;
}

int pfs_run_program(int argc, char **argv)
{
	char library[PATH_BYTES], path[PATH_BYTES];
	int at = 1, status = read_options(argc, argv, &at);
	if (status != PFS_GO_ON)
		return status;
	if (!find_library(library))
		return pfs_complain(PFS_EXIT_REFUSED,
				    "run: " LIBRARY
				    " is neither next to this program nor in ../lib");
	if (!name_without_space(library))
		return pfs_complain(PFS_EXIT_REFUSED,
				    "run: LD_PRELOAD cannot hold the path '%.200s', which has a "
				    "space or a colon: move the library",
				    library);
	if (!find_command(argv[at], path))
		return pfs_complain(127, "run: command '%.200s' is not found", argv[at]);
	status = check_program(argv[at], path, SCRIPTS_MOST);
	if (status != PFS_EXIT_FINE)
		return status;
	if (!preload(library))
		return pfs_complain(PFS_EXIT_REFUSED, "run: no memory for the environment");
	(void)execvp(argv[at], argv + at);
	return pfs_complain(errno == ENOENT ? 127 : 126, "run: %.200s cannot be run (%s)", argv[at],
			    strerror(errno));
}
