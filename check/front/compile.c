/*
 * compile.c - see compile.h. Each source is compiled into assembly (assembly.h), and all of it is
 * linked by one more command.
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

#include "check/front/assembly.h"

#define PATH_BYTES 4096
#define PARENTS 4 /* of the program's own folder; in a build folder the third has the headers */

static struct {
	char folder[PATH_BYTES], program[PATH_BYTES];
	uint32_t count; /* of files with assembly */
	pid_t owner;    /* 0: nothing was made */
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

static void name_assembly(uint32_t number, char *path)
{
	(void)snprintf(path, PATH_BYTES, "%.2000s/%u.s", made.folder, number);
}

void pfs_compile_end(void)
{
	char path[PATH_BYTES];
	if (made.owner != getpid()) /* nothing, or in a child, which does not own it */
		return;
	made.owner = 0;
	for (uint32_t i = 0; i < made.count; i++) {
		name_assembly(i, path);
		(void)unlink(path);
	}
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

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* gcc: a static variable that is only written is written. clang 14 warns of its own assembly if
 * that has the hashes of DWARF 5. */
#define CALL(compiler, gcc, clang)                                          \
	"case $(" compiler " --version 2>/dev/null) in *clang*) "           \
	"exec " compiler " -gdwarf-4 -Qunused-arguments" clang " \"$@\";; " \
	"*) exec " compiler " -fno-ipa-reference-addressable" gcc " \"$@\";; esac"
#define CALL_VOLATILE(compiler)                                \
	CALL(compiler, " --param=tsan-distinguish-volatile=1", \
	     " -mllvm -tsan-distinguish-volatile=1")

/* The last word on these flags: with others, accesses would not be seen (check_copies.h). */
static const char *const copies[] = { "-U_FORTIFY_SOURCE", "-fno-builtin-memcpy",
				      "-fno-builtin-memmove", "-fno-builtin-memset" };
/* Not gcc's own run-time of -fsanitize=thread. */
static const char *const libraries[] = { "-nodefaultlibs", "-Wl,--as-needed", "-lm", "-lgcc_s",
					 "-lc" };

struct command {
	const char **words;
	size_t used;
};

static void add(struct command *self, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		self->words[self->used++] = words[i];
}

/* What is to be compiled, and how. */
struct request {
	char **words;
	size_t count;
	bool cxx, tells_volatile;
	const char *headers; /* NULL, or an option of the compiler */
};

static bool begin(struct command *self, const struct request *request)
{
	const char *calls = request->tells_volatile ? request->cxx ? CALL_VOLATILE("${CXX:-c++}")
								   : CALL_VOLATILE("${CC:-cc}")
			    : request->cxx ? CALL("${CXX:-c++}", "", "")
						    : CALL("${CC:-cc}", "", "");
	const char *const first[] = {
		"sh", "-c", calls, "pfs-check", "-fsanitize=thread", "-fPIC"
	};
	self->words = calloc(request->count + 40, sizeof(*self->words));
	self->used = 0;
	if (self->words != NULL)
		add(self, first, COUNT(first));
	return self->words != NULL;
}

static bool ends_with(const char *word, const char *ending)
{
	size_t length = strlen(word), ending_length = strlen(ending);
	return length > ending_length && strcmp(word + length - ending_length, ending) == 0;
}

/* How many words from here are for the linker alone. */
static size_t linked_words(const char *word)
{
	static const char *const pairs[] = { "-l", "-L", "-z", "-T", "-Xlinker" };
	for (size_t i = 0; i < COUNT(pairs); i++) {
		if (strcmp(word, pairs[i]) == 0)
			return 2;
	}
	if (word[0] != '-')
		return ends_with(word, ".o") || ends_with(word, ".a") ||
		       strstr(word, ".so") != NULL;
	return word[1] == 'l' || word[1] == 'L' || strncmp(word, "-Wl,", 4) == 0;
}

/* One source, into assembly, whose own part is looked at. */
static int compile_one(const struct request *request, const char *source, const char *path)
{
	struct command command;
	const char *const first[] = { "-g", "-O1", "-S", "-o", path, source };
	const char *const included[] = { request->headers, "-include", "pfslab/check_copies.h" };
	if (!begin(&command, request))
		return -1;
	add(&command, first, COUNT(first));
	for (size_t i = 0; i < request->count;) {
		size_t linked = linked_words(request->words[i]);
		if (linked == 0 && !pfs_compile_is_source(request->words[i]))
			command.words[command.used++] = request->words[i];
		i += linked > 0 ? linked : 1;
	}
	if (request->headers != NULL)
		add(&command, included, COUNT(included));
	add(&command, copies, COUNT(copies));
	int status = run(command.words);
	free(command.words);
	if (status == 0)
		pfs_assembly_read(path);
	return status;
}

static int link_all(const struct request *request)
{
	struct command command;
	const char *const first[] = { "-shared", "-o", made.program };
	const char *const cxx_library = "-lstdc++";
	char(*paths)[PATH_BYTES] = calloc(made.count, sizeof(*paths));
	if (paths == NULL || !begin(&command, request))
		return -1;
	add(&command, first, COUNT(first));
	for (uint32_t i = 0; i < made.count; i++) {
		name_assembly(i, paths[i]);
		command.words[command.used++] = paths[i];
	}
	for (size_t i = 0; i < request->count; i++) {
		if (!pfs_compile_is_source(request->words[i]) &&
		    strncmp(request->words[i], "-g", 2) != 0)
			command.words[command.used++] = request->words[i];
	}
	if (request->cxx)
		add(&command, &cxx_library, 1);
	add(&command, libraries, COUNT(libraries));
	int status = run(command.words);
	free(command.words);
	free(paths);
	return status;
}

static int compile(const struct request *request)
{
	char path[PATH_BYTES];
	for (size_t i = 0; i < request->count; i++) {
		if (!pfs_compile_is_source(request->words[i]))
			continue;
		name_assembly(made.count++, path);
		int status = compile_one(request, request->words[i], path);
		if (status != 0)
			return status;
	}
	return link_all(request);
}

const char *pfs_compile(char **words, int count, bool tells_volatile, const char **program)
{
	char headers[PATH_BYTES];
	struct request request = { .words = words,
				   .count = (size_t)count,
				   .tells_volatile = tells_volatile };
	if (find_headers(headers, sizeof(headers)))
		request.headers = headers;
	for (int i = 0; i < count; i++) {
		request.cxx |= is_cxx(words[i]);
		if (pfs_compile_is_source(words[i]) && access(words[i], R_OK) != 0)
			return strerror(errno);
	}
	if (!make_folder(words[0]))
		return "cannot create a folder for compiled files; set TMPDIR";
	int status = compile(&request);
	*program = made.program;
	if (status == 0)
		return NULL;
	if (status == 127)
		return "no compiler found: install gcc or clang, or set CC (CXX for C++)";
	return request.headers != NULL
		       ? "compilation failed: see the compiler's messages above"
		       : "compilation failed, and <pfslab/check.h> is not next to pfs-check, "
			 "where its package has it: add -- -IFOLDER";
}
