/*
 * compile.c - see compile.h. One command compiles and links. It names the libraries, because gcc
 * would otherwise link its own run-time of -fsanitize=thread.
 */
#define _GNU_SOURCE
#include "check/front/compile.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define PARENTS 4 /* of the program's own folder; in a build folder the third has the headers */

static struct {
	char folder[PATH_BYTES], program[PATH_BYTES];
	pid_t owner; /* 0: nothing was made */
} made;

/* The file that --example prints. */
__asm__(".pushsection .rodata\n"
	".global pfs_check_example\n"
	".hidden pfs_check_example\n"
	".type pfs_check_example, @object\n"
	"pfs_check_example:\n"
	".incbin \"" PFS_CHECK_EXAMPLE "\"\n"
	".byte 0\n"
	".size pfs_check_example, . - pfs_check_example\n"
	".popsection\n");

static bool is_cxx(const char *word)
{
	static const char *const endings[] = { ".cc", ".cpp", ".cxx", ".c++", ".C" };
	const char *ending = strrchr(word, '.');
	for (size_t i = 0; ending != NULL && i < sizeof(endings) / sizeof(endings[0]); i++) {
		if (strcmp(ending, endings[i]) == 0)
			return true;
	}
	return false;
}

bool pfs_compile_is_source(const char *word)
{
	const char *ending = strrchr(word, '.');
	return is_cxx(word) || (ending != NULL && strcmp(ending, ".c") == 0);
}

/* ---- the folder ---- */

void pfs_compile_end(void)
{
	if (made.owner != getpid()) /* nothing, or in a child, which does not own it */
		return;
	made.owner = 0;
	(void)unlink(made.program);
	(void)rmdir(made.folder);
}

static void on_signal(int number)
{
	pfs_compile_end();
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

static bool make_folder(const char *source)
{
	const char *parent = getenv("TMPDIR"), *slash = strrchr(source, '/');
	const char *base = slash != NULL ? slash + 1 : source;
	const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	if (parent == NULL || parent[0] == '\0')
		parent = "/tmp";
	int length = snprintf(made.folder, sizeof(made.folder), "%s/pfs-check-XXXXXX", parent);
	if (length >= (int)sizeof(made.folder) || mkdtemp(made.folder) == NULL)
		return false;
	made.owner = getpid();
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (signal(ends[i], on_signal) == SIG_IGN)
			(void)signal(ends[i], SIG_IGN);
	}
	return snprintf(made.program, sizeof(made.program), "%.2000s/%.*s.so", made.folder,
			(int)(strrchr(base, '.') - base), base) < (int)sizeof(made.program);
}

/* -IFOLDER of pfslab/check.h, which is in include/ next to our own folder, or above it. */
static bool find_headers(char *option, size_t bytes)
{
	char own[PATH_BYTES - 64], header[PATH_BYTES];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	if (length < 0)
		return false;
	own[length] = '\0';
	for (int i = 0; i < PARENTS; i++) {
		char *slash = strrchr(own, '/');
		if (slash == NULL)
			return false;
		*slash = '\0';
		(void)snprintf(header, sizeof(header), "%s/include/pfslab/check.h", own);
		if (access(header, R_OK) == 0)
			return snprintf(option, bytes, "-I%s/include", own) < (int)bytes;
	}
	return false;
}

/* ---- the compiler ---- */

/* Its exit status; $CC and $CXX may have several words. */
static int run(const char *const *command)
{
	extern char **environ;
	pid_t child;
	int status;
	if (posix_spawn(&child, "/bin/sh", NULL, NULL, (char *const *)(uintptr_t)command,
			environ) != 0)
		return -1;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *const front[] = { "-g", "-O1", "-fsanitize=thread", "-fPIC", "-shared", "-o" };
/* The last word on these flags: with others, accesses would not be seen (check_copies.h). */
static const char *const back[] = {
	"-U_FORTIFY_SOURCE", "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset",
	"-nodefaultlibs", "-Wl,--as-needed", "-lm", "-lgcc_s", "-lc", NULL
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The compiler by its variable, and for volatile accesses the option that its family has. */
#define CALL(compiler) "exec " compiler " \"$@\""
#define CALL_VOLATILE(compiler)                                           \
	"case $(" compiler " --version) in *clang*) "                     \
	"exec " compiler " -mllvm -tsan-distinguish-volatile=1 \"$@\";; " \
	"*) exec " compiler " --param=tsan-distinguish-volatile=1 \"$@\";; esac"

/* Its exit status. headers: NULL, or an option of the compiler. */
static int compile(char **words, int count, bool cxx, bool tells_volatile, const char *headers)
{
	size_t used = 0;
	const char **command = calloc((size_t)count + COUNT(front) + COUNT(back) + 10,
				      sizeof(*command));
	if (command == NULL)
		return -1;
	command[used++] = "sh";
	command[used++] = "-c";
	if (tells_volatile)
		command[used++] = cxx ? CALL_VOLATILE("${CXX:-c++}") : CALL_VOLATILE("${CC:-cc}");
	else
		command[used++] = cxx ? CALL("${CXX:-c++}") : CALL("${CC:-cc}");
	command[used++] = "pfs-check";
	for (size_t i = 0; i < COUNT(front); i++)
		command[used++] = front[i];
	command[used++] = made.program;
	for (int i = 0; i < count; i++)
		command[used++] = words[i];
	if (headers != NULL) {
		command[used++] = headers;
		command[used++] = "-include";
		command[used++] = "pfslab/check_copies.h";
	}
	if (cxx)
		command[used++] = "-lstdc++";
	for (size_t i = 0; i < COUNT(back); i++)
		command[used++] = back[i];
	int status = run(command);
	free(command);
	return status;
}

const char *pfs_compile(char **words, int count, bool tells_volatile, const char **program)
{
	char headers[PATH_BYTES];
	bool cxx = false, has_headers = find_headers(headers, sizeof(headers));
	for (int i = 0; i < count; i++) {
		cxx |= is_cxx(words[i]);
		if (pfs_compile_is_source(words[i]) && access(words[i], R_OK) != 0)
			return strerror(errno);
	}
	if (!make_folder(words[0]))
		return "cannot create a folder for compiled files; set TMPDIR";
	int status = compile(words, count, cxx, tells_volatile, has_headers ? headers : NULL);
	*program = made.program;
	if (status == 0)
		return NULL;
	if (status == 127)
		return "no compiler found: install gcc or clang, or set CC (CXX for C++)";
	return has_headers ? "compilation failed: see the compiler's messages above"
			   : "compilation failed, and <pfslab/check.h> is not next to pfs-check, "
			     "where its package has it: add -- -IFOLDER";
}
