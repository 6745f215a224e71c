#define _GNU_SOURCE
#include "check/front/libc.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include <wchar.h>

#include "check/front/heap.h"
#include "check/front/names.h"
#include "check/front/refuse.h"
#include "check/front/user.h"
#include "check/machine/trace.h"

#define HERE __builtin_return_address(0)
#define ALIGN_USUAL ((size_t)16)

/* ---- what libc would allocate in its own heap ---- */

static void *copy_of(const void *bytes, size_t size, const void *code)
{
	void *block = pfs_names_take(ALIGN_USUAL, size, code);
	return block != NULL ? memcpy(block, bytes, size) : NULL;
}

static char *text_of(const char *text, size_t length, const void *code)
{
	char *block = pfs_names_take(ALIGN_USUAL, length + 1, code);
	if (block == NULL)
		return NULL;
	memcpy(block, text, length);
	block[length] = '\0';
	return block;
}

/* What libc allocated, in the program's heap. */
static void *moved(void *bytes, size_t size, const void *code)
{
	void *block = bytes != NULL ? copy_of(bytes, size, code) : NULL;
	int error = errno;
	free(bytes);
	errno = error;
	return block;
}

static char *user_strdup(const char *text)
{
	pfs_user_plain(text, strlen(text) + 1, false, HERE);
	return text_of(text, strlen(text), HERE);
}

static char *user_strndup(const char *text, size_t most)
{
	pfs_user_plain(text, strnlen(text, most), false, HERE);
	return text_of(text, strnlen(text, most), HERE);
}

static wchar_t *user_wcsdup(const wchar_t *text)
{
	size_t size = (wcslen(text) + 1) * sizeof(wchar_t);
	pfs_user_plain(text, size, false, HERE);
	return copy_of(text, size, HERE);
}

__attribute__((format(printf, 2, 0))) static int print(char **text, const char *format,
						       va_list values, const void *code)
{
	int length = vasprintf(text, format, values);
	pfs_user_plain(text, sizeof(*text), true, code);
	if (length >= 0)
		*text = moved(*text, (size_t)length + 1, code);
	return length >= 0 && *text == NULL ? -1 : length;
}

__attribute__((format(printf, 2, 3))) static int user_asprintf(char **text, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	int length = print(text, format, values, HERE);
	va_end(values);
	return length;
}

__attribute__((format(printf, 2, 0))) static int user_vasprintf(char **text, const char *format,
								va_list values)
{
	return print(text, format, values, HERE);
}

__attribute__((format(printf, 3, 4))) static int user_asprintf_chk(char **text, int flag,
								   const char *format, ...)
{
	va_list values;
	(void)flag;
	va_start(values, format);
	int length = print(text, format, values, HERE);
	va_end(values);
	return length;
}

__attribute__((format(printf, 3, 0))) static int
user_vasprintf_chk(char **text, int flag, const char *format, va_list values)
{
	(void)flag;
	return print(text, format, values, HERE);
}

static ssize_t read_up_to(char **line, size_t *room, int end, FILE *file, const void *code)
{
	char *own = NULL;
	size_t own_room = 0;
	ssize_t length = getdelim(&own, &own_room, end, file);
	if (length >= 0 && (*line == NULL || *room < (size_t)length + 1)) {
		*room = (size_t)length + 1;
		*line = pfs_names_retake(*line, *room, code);
	}
	if (length >= 0 && *line != NULL)
		memcpy(*line, own, (size_t)length + 1);
	free(own);
	return *line != NULL ? length : -1;
}

static ssize_t user_getdelim(char **line, size_t *room, int end, FILE *file)
{
	return read_up_to(line, room, end, file, HERE);
}

static ssize_t user_getline(char **line, size_t *room, FILE *file)
{
	return read_up_to(line, room, '\n', file, HERE);
}

static char *user_realpath(const char *path, char *resolved)
{
	char *own = resolved == NULL ? realpath(path, NULL) : NULL;
	if (resolved != NULL) {
		char *found = realpath(path, resolved);
		if (found != NULL)
			pfs_user_plain(resolved, strlen(resolved) + 1, true, HERE);
		return found;
	}
	return own != NULL ? moved(own, strlen(own) + 1, HERE) : NULL;
}

static char *user_getcwd(char *folder, size_t size)
{
	char *own = folder == NULL ? getcwd(NULL, size) : NULL;
	if (folder != NULL) {
		char *found = getcwd(folder, size);
		if (found != NULL)
			pfs_user_plain(folder, strlen(folder) + 1, true, HERE);
		return found;
	}
	return own != NULL ? moved(own, strlen(own) + 1, HERE) : NULL;
}

static char *user_get_current_dir_name(void)
{
	char *own = get_current_dir_name();
	return own != NULL ? moved(own, strlen(own) + 1, HERE) : NULL;
}

static void *user_reallocarray(void *block, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return pfs_names_retake(block, count * size, HERE);
}

static size_t user_malloc_usable_size(void *block)
{
	return block != NULL ? pfs_check_heap_size(block) : 0;
}

static void *user_valloc(size_t size)
{
	return pfs_names_take((size_t)sysconf(_SC_PAGESIZE), size, HERE);
}

static int user_at_exit(void (*destroy)(void *), void *object, void *library)
{
	(void)destroy, (void)object, (void)library; /* no execution comes to the program's end */
	return 0;
}

/* ---- what libc copies and reads, unseen ---- */

static void *copy(void *to, const void *from, size_t size, const void *code)
{
	pfs_user_plain(from, size, false, code);
	pfs_user_plain(to, size, true, code);
	return memmove(to, from, size);
}

static void *user_memcpy_chk(void *to, const void *from, size_t size)
{
	return copy(to, from, size, HERE);
}

static void *user_mempcpy(void *to, const void *from, size_t size)
{
	return (char *)copy(to, from, size, HERE) + size;
}

static void user_bcopy(const void *from, void *to, size_t size)
{
	(void)copy(to, from, size, HERE);
}

static void *user_memset_chk(void *to, int value, size_t size)
{
	pfs_user_plain(to, size, true, HERE);
	return memset(to, value, size);
}

static void user_bzero(void *to, size_t size)
{
	pfs_user_plain(to, size, true, HERE);
	memset(to, 0, size);
}

static void *user_memchr(const void *bytes, int value, size_t size)
{
	const void *found = memchr(bytes, value, size);
	size_t looked = found != NULL ? (size_t)((const char *)found - (const char *)bytes) + 1
				      : size;
	pfs_user_plain(bytes, looked, false, HERE);
	return (void *)(uintptr_t)found;
}

static size_t user_strlen(const char *text)
{
	pfs_user_plain(text, strlen(text) + 1, false, HERE);
	return strlen(text);
}

static size_t user_strnlen(const char *text, size_t most)
{
	size_t length = strnlen(text, most);
	pfs_user_plain(text, length < most ? length + 1 : most, false, HERE);
	return length;
}

static char *user_strcpy(char *to, const char *from)
{
	return copy(to, from, strlen(from) + 1, HERE);
}

static char *user_stpcpy(char *to, const char *from)
{
	size_t length = strlen(from);
	return (char *)copy(to, from, length + 1, HERE) + length;
}

static char *user_strncpy(char *to, const char *from, size_t size)
{
	size_t length = strnlen(from, size);
	(void)copy(to, from, length, HERE);
	pfs_user_plain(to + length, size - length, true, HERE);
	memset(to + length, 0, size - length);
	return to;
}

static char *user_strcat(char *to, const char *from)
{
	size_t length = strlen(to);
	pfs_user_plain(to, length + 1, false, HERE);
	(void)copy(to + length, from, strlen(from) + 1, HERE);
	return to;
}

static char *user_strncat(char *to, const char *from, size_t most)
{
	size_t length = strlen(to), more = strnlen(from, most);
	pfs_user_plain(to, length + 1, false, HERE);
	(void)copy(to + length, from, more, HERE);
	pfs_user_plain(to + length + more, 1, true, HERE);
	to[length + more] = '\0';
	return to;
}

static int compare(const char *a, const char *b, size_t most, const void *code)
{
	size_t at = 0;
	while (at < most && a[at] == b[at] && a[at] != '\0')
		at++;
	pfs_user_plain(a, at < most ? at + 1 : most, false, code);
	pfs_user_plain(b, at < most ? at + 1 : most, false, code);
	return at < most ? (unsigned char)a[at] - (unsigned char)b[at] : 0;
}

static int user_strcmp(const char *a, const char *b)
{
	return compare(a, b, SIZE_MAX, HERE);
}

static int user_strncmp(const char *a, const char *b, size_t most)
{
	return compare(a, b, most, HERE);
}

static char *user_strchr(const char *text, int wanted)
{
	char *found = strchr(text, wanted);
	size_t looked = found != NULL ? (size_t)(found - text) : strlen(text);
	pfs_user_plain(text, looked + 1, false, HERE);
	return found;
}

static char *user_strrchr(const char *text, int wanted)
{
	pfs_user_plain(text, strlen(text) + 1, false, HERE);
	return strrchr(text, wanted);
}

/* ---- what libc keeps ---- */

__attribute__((noreturn)) static void keeps(const char *name, const void *code)
{
	const void *own;
	const struct pfs_sim_place *place = pfs_user_place(code, &own);
	pfs_refuse_now(
		"leave the call out of the scenario, or replace it by a function of your own",
		"calls %s at %s:%d, whose effect cannot be undone before the next execution", name,
		pfs_trace_base_name(place->file), place->line);
}

/* clang-format off */
/* Mappings; files and folders; tables, the environment, the locale; generators of
 * numbers; processes and timers; stacks. */
#define KEEPS(X) \
	X(mmap) X(mmap64) X(munmap) X(mremap) X(mprotect) X(madvise) X(sbrk) X(brk) \
	X(shm_open) X(shmget) X(shmat) \
	X(open) X(open64) X(openat) X(openat64) X(__open_2) X(__open64_2) X(__openat_2) \
	X(__openat64_2) X(creat) X(creat64) X(mkstemp) X(memfd_create) X(eventfd) \
	X(timerfd_create) X(socket) X(socketpair) X(accept) X(accept4) X(pipe) X(pipe2) X(dup) \
	X(dup2) X(dup3) X(epoll_create) X(epoll_create1) X(inotify_init) \
	X(inotify_init1) X(signalfd) X(unlink) X(remove) X(rename) X(mkdir) X(rmdir) X(chdir) \
	X(fopen) X(fopen64) X(fdopen) X(freopen) X(freopen64) X(tmpfile) X(tmpfile64) X(fmemopen) \
	X(open_memstream) X(popen) X(opendir) X(fdopendir) X(scandir) X(scandir64) X(glob) \
	X(glob64) X(wordexp) X(fts_open) X(getaddrinfo) X(getifaddrs) X(regcomp) X(iconv_open) \
	X(setlocale) X(newlocale) X(duplocale) X(uselocale) \
	X(setenv) X(putenv) X(unsetenv) X(clearenv) X(tsearch) X(tdelete) X(hcreate) X(hsearch) \
	X(strtok) X(srand) X(srandom) X(initstate) X(setstate) X(random_r) \
	X(drand48) X(lrand48) X(mrand48) X(srand48) X(seed48) X(lcong48) X(getentropy) \
	X(arc4random) X(arc4random_uniform) X(arc4random_buf) \
	X(system) X(execl) X(execlp) X(execle) X(execv) X(execvp) X(execve) X(execvpe) \
	X(posix_spawn) X(posix_spawnp) X(wait) X(waitpid) X(alarm) X(ualarm) X(setitimer) \
	X(sigprocmask) X(sigaltstack) X(makecontext) X(swapcontext) X(setcontext) X(__longjmp_chk)

#define DEFINE(name) static void keeps_##name(void) { keeps(#name, HERE); }
KEEPS(DEFINE)

#define OURS(name, function) { name, (void *)(uintptr_t)(function) }
#define USER(name) OURS(#name, user_##name)
#define KEPT(name) OURS(#name, keeps_##name),
/* And the name with which headers call it if _FORTIFY_SOURCE is defined. */
#define BOTH(name) USER(name), OURS("__" #name "_chk", user_##name)

const struct pfs_name pfs_libc_names[] = {
	USER(strdup), OURS("__strdup", user_strdup), USER(strndup), OURS("__strndup", user_strndup),
	USER(wcsdup), USER(asprintf), USER(vasprintf), OURS("__asprintf_chk", user_asprintf_chk),
	OURS("__vasprintf_chk", user_vasprintf_chk), USER(getline), USER(getdelim),
	OURS("__getdelim", user_getdelim), BOTH(realpath), BOTH(getcwd), USER(get_current_dir_name),
	USER(reallocarray), USER(malloc_usable_size), USER(valloc), OURS("pvalloc", user_valloc),
	OURS("__cxa_atexit", user_at_exit),
	OURS("__memcpy_chk", user_memcpy_chk), OURS("__memmove_chk", user_memcpy_chk),
	OURS("__memset_chk", user_memset_chk), BOTH(mempcpy), OURS("__mempcpy", user_mempcpy),
	USER(bcopy), USER(bzero), OURS("explicit_bzero", user_bzero),
	OURS("__explicit_bzero_chk", user_bzero), USER(memchr), USER(strlen), USER(strnlen),
	BOTH(strcpy), BOTH(stpcpy), BOTH(strncpy), BOTH(strcat), BOTH(strncat), USER(strcmp),
	USER(strncmp), USER(strchr), USER(strrchr),
	KEEPS(KEPT)
	{ NULL, NULL },
};
/* clang-format on */
