#define _GNU_SOURCE
#include "check/front/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/front/names.h"
#include "check/machine/finding.h"

/* Calls that no thread of the machine can make with their meaning: by their first letters. */
/* clang-format off */
static const char *const refused_families[] = {
	"__atomic_", "__tsan_java_", "__tsan_mutex_", "pthread_", "sem_",
	"thrd_", "mtx_", "cnd_", "tss_", "mq_", "timer_", "dlopen", "dlsym", "dlvsym", "sigwait",
	"_ZNSt6chrono3_V2", "_ZNSt13random_device", /* clocks of libstdc++; of libc++: */
	"_ZNSt3__16chrono12steady_clock", "_ZNSt3__16chrono12system_clock",
	"_ZNSt3__113random_device",
	NULL
};
/* clang-format on */
static const char *const refused_names[] = { "fork",
					     "vfork",
					     "clone",
					     "signal",
					     "sigaction",
					     "raise",
					     "kill",
					     "longjmp",
					     "_longjmp",
					     "siglongjmp",
					     "call_once",
					     "rand",
					     "random",
					     "rand_r",
					     "getrandom",
					     "time",
					     "clock",
					     "clock_gettime",
					     "gettimeofday",
					     "__cxa_thread_atexit",
					     "__cxa_thread_atexit_impl",
					     "select",
					     "poll",
					     "epoll_wait",
					     "epoll_pwait",
					     "pselect",
					     "ppoll",
					     "sigsuspend",
					     "pause",
					     NULL };
static const char *const harmless[] = { "__atomic_is_lock_free",
					"pthread_equal",
					"pthread_mutexattr_init",
					"pthread_mutexattr_settype",
					"pthread_mutexattr_destroy",
					"pthread_attr_init",
					"pthread_attr_destroy",
					"pthread_attr_setstacksize",
					"pthread_attr_setdetachstate",
					"pthread_condattr_init",
					"pthread_condattr_setclock",
					"pthread_condattr_destroy",
					"pthread_rwlockattr_init",
					"pthread_rwlockattr_setkind_np",
					"pthread_rwlockattr_destroy",
					"pthread_barrierattr_init",
					"pthread_barrierattr_destroy",
					"thrd_equal",
					NULL };

#define NOT_SHARED "not a shared object: give one (cc -shared), or sources (.c, .cc, .cpp, .cxx)"
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden"))); /* our own */

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names != NULL; names++) {
		if (strcmp(*names, name) == 0)
			return true;
	}
	return false;
}

static bool is_refused(const char *name, const struct pfs_name *replaced)
{
	for (const struct pfs_name *at = replaced; at->name != NULL; at++) {
		if (strcmp(at->name, name) == 0)
			return false;
	}
	for (const char *const *family = refused_families; *family != NULL; family++) {
		if (strncmp(name, *family, strlen(*family)) == 0)
			return !is_one_of(name, harmless);
	}
	return is_one_of(name, refused_names);
}

/* ---- sections ---- */

static const Elf64_Shdr *section_of(const struct pfs_elf_file *self, uint32_t type)
{
	const Elf64_Ehdr *head = (const void *)self->bytes;
	for (uint32_t i = 0; i < head->e_shnum; i++) {
		const Elf64_Shdr *section =
			(const void *)(self->bytes + head->e_shoff + i * sizeof(Elf64_Shdr));
		if (section->sh_type == type && section->sh_offset + section->sh_size <= self->size)
			return section;
	}
	return NULL;
}

static const char *string_of(const struct pfs_elf_file *self, const Elf64_Shdr *table, uint64_t at)
{
	const Elf64_Ehdr *head = (const void *)self->bytes;
	const Elf64_Shdr *strings =
		(const void *)(self->bytes + head->e_shoff + table->sh_link * sizeof(Elf64_Shdr));
	return (const char *)self->bytes + strings->sh_offset + at;
}

static int by_address(const void *a, const void *b)
{
	const struct pfs_elf_object *one = a, *other = b;
	return (one->first > other->first) - (one->first < other->first);
}

void pfs_elf_symbols(const struct pfs_elf_file *self, struct pfs_elf_symbols *symbols)
{
	const Elf64_Shdr *table = section_of(self, SHT_DYNSYM);
	*symbols = (struct pfs_elf_symbols){ NULL, 0, NULL };
	if (table == NULL)
		return;
	symbols->first = (const void *)(self->bytes + table->sh_offset);
	symbols->count = table->sh_size / sizeof(Elf64_Sym);
	symbols->strings = string_of(self, table, 0);
}

/* Variables, or thread-local ones. */
static void read_objects(const struct pfs_elf_file *self, int type, struct pfs_elf_objects *objects)
{
	const Elf64_Shdr *table = section_of(self, SHT_SYMTAB);
	if (table == NULL)
		table = section_of(self, SHT_DYNSYM);
	if (table == NULL)
		return;
	const Elf64_Sym *symbols = (const void *)(self->bytes + table->sh_offset);
	size_t count = table->sh_size / sizeof(*symbols);
	objects->at = calloc(count + 1, sizeof(*objects->at));
	for (size_t i = 0; objects->at != NULL && i < count; i++) {
		if ((int)ELF64_ST_TYPE(symbols[i].st_info) != type || symbols[i].st_size == 0 ||
		    symbols[i].st_shndx == SHN_UNDEF)
			continue;
		objects->at[objects->count++] =
			(struct pfs_elf_object){ string_of(self, table, symbols[i].st_name),
						 string_of(self, table, symbols[i].st_name), false,
						 symbols[i].st_value, symbols[i].st_size };
	}
	if (objects->count != 0)
		qsort(objects->at, objects->count, sizeof(*objects->at), by_address);
}

/* A position-independent executable looks like a shared object, except for a flag. */
static bool is_executable(const struct pfs_elf_file *self)
{
	const Elf64_Ehdr *head = (const void *)self->bytes;
	const Elf64_Shdr *table = section_of(self, SHT_DYNAMIC);
	if (head->e_type != ET_DYN || table == NULL)
		return head->e_type == ET_EXEC;
	const Elf64_Dyn *at = (const void *)(self->bytes + table->sh_offset);
	for (size_t i = 0; i < table->sh_size / sizeof(*at) && at[i].d_tag != DT_NULL; i++) {
		if (at[i].d_tag == DT_FLAGS_1 && (at[i].d_un.d_val & DF_1_PIE) != 0)
			return true;
	}
	return false;
}

bool pfs_elf_has_lines(const struct pfs_elf_file *self)
{
	const Elf64_Ehdr *head = (const void *)self->bytes;
	const Elf64_Shdr *first = (const void *)(self->bytes + head->e_shoff);
	if (head->e_shstrndx >= head->e_shnum)
		return false;
	const char *names = (const char *)self->bytes + first[head->e_shstrndx].sh_offset;
	for (uint32_t i = 0; i < head->e_shnum; i++) {
		if (strstr(names + first[i].sh_name, "debug_line") != NULL)
			return true;
	}
	return false;
}

/* NULL: its bytes are mapped, and its header describes its sections. */
static const char *map(struct pfs_elf_file *self, const char *path)
{
	struct stat about;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || fstat(file, &about) != 0)
		return strerror(errno);
	self->path = path;
	self->size = (size_t)about.st_size;
	self->bytes = self->size >= sizeof(Elf64_Ehdr)
			      ? mmap(NULL, self->size, PROT_READ, MAP_PRIVATE, file, 0)
			      : MAP_FAILED;
	(void)close(file);
	if (self->bytes == MAP_FAILED)
		return NOT_SHARED;
	const Elf64_Ehdr *head = (const void *)self->bytes;
	if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
		return NOT_SHARED;
	if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != __ehdr_start.e_machine)
		return "made for another architecture: compile it for that of pfs-check";
	if (head->e_type == ET_REL)
		return "an object file: link it with `cc -shared -o check.so` first";
	if (head->e_shoff + (uint64_t)head->e_shnum * sizeof(Elf64_Shdr) > self->size)
		return "truncated: link it again";
	return NULL;
}

bool pfs_elf_program_has_lines(const char *path)
{
	struct pfs_elf_file file;
	return map(&file, path) == NULL && pfs_elf_has_lines(&file);
}

const char *pfs_elf_read(struct pfs_elf_file *self, const char *path)
{
	const char *error = map(self, path);
	if (error != NULL)
		return error;
	const Elf64_Ehdr *head = (const void *)self->bytes;
	if (is_executable(self))
		return "an executable: link its objects with `cc -shared -o check.so` instead; a "
		       "PFS_CHECK_SCENARIO starts its threads";
	if (head->e_type != ET_DYN)
		return NOT_SHARED;
	read_objects(self, STT_OBJECT, &self->variables);
	read_objects(self, STT_TLS, &self->locals);
	return NULL;
}

/* ---- what cannot be checked ---- */

const char *pfs_elf_unloaded(const char *error)
{
	static const char undefined[] = "undefined symbol: ";
	static char text[512];
	const char *name = strstr(error, undefined);
	if (name == NULL)
		return error;
	name += sizeof(undefined) - 1;
	bool cxx = strncmp(name, "_Z", 2) == 0;
	(void)snprintf(text, sizeof(text),
		       "undefined symbol %.200s: add its source, or link its library%s", name,
		       cxx ? "; if it is C, declare it extern \"C\"" : "");
	return text;
}

static const char *refused_library(const struct pfs_elf_file *self)
{
	static char text[256];
	const Elf64_Shdr *table = section_of(self, SHT_DYNAMIC);
	if (table == NULL)
		return NULL;
	const Elf64_Dyn *at = (const void *)(self->bytes + table->sh_offset);
	for (size_t i = 0; i < table->sh_size / sizeof(*at) && at[i].d_tag != DT_NULL; i++) {
		if (at[i].d_tag != DT_NEEDED)
			continue;
		const char *name = string_of(self, table, at[i].d_un.d_val);
		if (strstr(name, "tsan") == NULL && strstr(name, "asan") == NULL)
			continue;
		(void)snprintf(text, sizeof(text),
			       "linked with %.60s, which replaces pfs-check: compile with "
			       "-fsanitize=thread, but link with `cc -shared` without it",
			       name);
		return text;
	}
	return NULL;
}

const char *pfs_elf_refusal(const struct pfs_elf_file *self, const struct pfs_name *names)
{
	static char text[256];
	const char *linked = refused_library(self);
	const Elf64_Shdr *table = section_of(self, SHT_DYNSYM);
	if (linked != NULL || table == NULL)
		return linked;
	const Elf64_Sym *symbols = (const void *)(self->bytes + table->sh_offset);
	bool instrumented = false;
	for (size_t i = 1; i < table->sh_size / sizeof(*symbols); i++) {
		const char *name = string_of(self, table, symbols[i].st_name);
		instrumented |= strncmp(name, "__tsan_", 7) == 0;
		if (symbols[i].st_shndx == SHN_UNDEF && strcmp(name, "syscall") == 0 &&
		    !pfs_elf_has_lines(self))
			return "calls syscall(), whose waits are found by source lines: compile it "
			       "with -g";
		if (symbols[i].st_shndx != SHN_UNDEF ||
		    ELF64_ST_BIND(symbols[i].st_info) != STB_GLOBAL || !is_refused(name, names))
			continue;
		(void)snprintf(text, sizeof(text), "calls %.100s, which is not modelled", name);
		return text;
	}
	return instrumented ? NULL
			    : "nothing in it was compiled with -fsanitize=thread: compile its "
			      "sources with that option";
}

/* Of a variable that C++ calls "_ZL4ring", or "_Z4ring": ring. Others stay. */
static const char *plain_name(const char *name)
{
	char *end;
	if (strncmp(name, "_Z", 2) != 0)
		return name;
	const char *number = name + (name[2] == 'L' ? 3 : 2);
	long letters = strtol(number, &end, 10);
	return end == number || letters != (long)strlen(end) ? name : end;
}

/* How many earlier objects have the same name. */
static size_t count_before(const struct pfs_elf_file *self, size_t at, const char *name)
{
	size_t count = 0, length = strlen(name);
	for (size_t before = 0; before < at; before++) {
		const char *other = self->variables.at[before].name;
		count += strncmp(other, name, length) == 0 &&
			 (other[length] == '\0' || other[length] == '#');
	}
	return count;
}

static void shorten(struct pfs_elf_file *self, size_t at)
{
	struct pfs_elf_object *object = &self->variables.at[at];
	char text[PFS_SHORT_BYTES + 24];
	if (strlen(object->whole) <= PFS_SHORT_CHARS)
		return;
	pfs_finding_shorten(object->whole, text);
	size_t before = count_before(self, at, text);
	if (before != 0)
		(void)snprintf(text + strlen(text), 24, "#%zu", before + 1);
	char *name = strdup(text);
	if (name != NULL)
		object->name = name;
}

void pfs_elf_demangle(struct pfs_elf_file *self, pfs_elf_demangler *demangler)
{
	for (size_t at = 0; at < self->variables.count; at++) {
		struct pfs_elf_object *object = &self->variables.at[at];
		int status = 0;
		const char *name = plain_name(object->whole);
		if (strncmp(name, "_Z", 2) == 0 && demangler != NULL)
			name = demangler(object->whole, NULL, NULL, &status);
		if (name != NULL)
			object->name = object->whole = name;
		shorten(self, at);
	}
}

bool pfs_elf_calls(const struct pfs_elf_file *self, const char *beginning, bool is_whole)
{
	const Elf64_Shdr *table = section_of(self, SHT_DYNSYM);
	const Elf64_Sym *symbols = (const void *)(self->bytes + table->sh_offset);
	for (size_t i = 1; i < table->sh_size / sizeof(*symbols); i++) {
		const char *name = string_of(self, table, symbols[i].st_name);
		if (symbols[i].st_shndx == SHN_UNDEF &&
		    strncmp(name, beginning, strlen(beginning) + is_whole) == 0)
			return true;
	}
	return false;
}

void pfs_elf_forget_names(struct pfs_elf_file *self)
{
	for (size_t at = 0; at < self->variables.count; at++)
		self->variables.at[at].was_named = false;
}

void pfs_elf_short_names(const struct pfs_elf_file *self,
			 void (*visit)(void *context, const char *name, const char *whole),
			 void *context)
{
	for (size_t at = 0; at < self->variables.count; at++) {
		const struct pfs_elf_object *object = &self->variables.at[at];
		if (object->was_named && object->name != object->whole)
			visit(context, object->name, object->whole);
	}
}

static bool name_in(const struct pfs_elf_objects *objects, uint64_t address, char *name,
		    size_t name_bytes)
{
	size_t low = 0, high = objects->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (objects->at[middle].first <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	struct pfs_elf_object *object = &objects->at[low - 1];
	uint64_t inside = address - object->first;
	if (inside >= object->bytes)
		return false;
	object->was_named = true;
	if (inside == 0)
		(void)snprintf(name, name_bytes, "%s", object->name);
	else
		(void)snprintf(name, name_bytes, "%s+%llu", object->name,
			       (unsigned long long)inside);
	return true;
}

bool pfs_elf_name(const struct pfs_elf_file *self, uint64_t address, char *name, size_t name_bytes)
{
	return name_in(&self->variables, address, name, name_bytes);
}

bool pfs_elf_local_name(const struct pfs_elf_file *self, uint64_t offset, char *name,
			size_t name_bytes)
{
	return name_in(&self->locals, offset, name, name_bytes);
}
