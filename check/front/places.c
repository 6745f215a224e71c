#define _GNU_SOURCE
#include "check/front/places.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/machine/host.h"
#include "check/machine/trace.h"

struct known {
	struct pfs_sim_place place; /* first: pfs_places_named */
	struct named *named;
	bool is_foreign, is_spin, is_shared_mutex, is_outside;
	const void *code; /* NULL: unused */
};

/* The same place with another text. */
struct named {
	struct pfs_sim_place place;
	struct named *next;
};

static struct {
	char path[4096];
	uintptr_t bias;
	FILE *questions, *answers; /* of addr2line, from the first question; NULL: none */
	bool was_started, was_answered;
	int error; /* why it was not started, or 0 */
	volatile sig_atomic_t is_asking;
	struct known **known; /* open addressing; places stay where they are */
	uint32_t room, count;
} places;

static struct {
	const char *text;
	bool is_own;
} rules[PFS_PLACES_RULES_MAX];
static uint32_t rule_count;

bool pfs_places_rule(const char *text, bool is_own)
{
	if (rule_count == PFS_PLACES_RULES_MAX)
		return false;
	rules[rule_count].text = text;
	rules[rule_count++].is_own = is_own;
	return true;
}

/* Not by fork: a copy of all that the program has allocated could be refused. */
static int spawn(int input, int output)
{
	char *const words[] = { "addr2line", "-a", "-i", "-f", "-C", "-e", places.path, NULL };
	posix_spawn_file_actions_t actions;
	pid_t child;
	int error = posix_spawn_file_actions_init(&actions);
	if (error != 0)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, input, 0);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(&actions, output, 1);
	if (error == 0)
		error = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return error;
}

static void start(void)
{
	int down[2], up[2];
	places.was_started = true;
	if (pipe2(down, O_CLOEXEC) != 0) {
		places.error = errno;
		return;
	}
	if (pipe2(up, O_CLOEXEC) != 0) {
		places.error = errno;
		(void)close(down[0]);
		(void)close(down[1]);
		return;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	places.error = spawn(down[0], up[1]);
	(void)close(down[0]);
	(void)close(up[1]);
	if (places.error != 0) {
		(void)close(down[1]);
		(void)close(up[0]);
		return;
	}
	places.questions = fdopen(down[1], "w");
	places.answers = fdopen(up[0], "r");
}

void pfs_places_forked(void)
{
	if (places.questions != NULL)
		(void)fclose(places.questions);
	if (places.answers != NULL)
		(void)fclose(places.answers);
	places.questions = places.answers = NULL;
	places.was_started = false;
}

void pfs_places_begin(const char *path, uintptr_t bias)
{
	(void)snprintf(places.path, sizeof(places.path), "%s", path);
	places.bias = bias;
}

/* A line of any length, in memory that the next call reuses or frees. */
struct line {
	char *text;
	size_t bytes;
};

static bool read_line(struct line *self)
{
	if (places.answers == NULL || getline(&self->text, &self->bytes, places.answers) < 0)
		return false;
	self->text[strcspn(self->text, "\n")] = '\0';
	places.was_answered = true;
	return true;
}

bool pfs_places_are_asked(void)
{
	return places.is_asking != 0;
}

const char *pfs_places_unknown(void)
{
	static char why[128];
	if (places.was_answered || !places.was_started)
		return NULL;
	if (places.error == ENOENT)
		return "is not in the PATH, but is needed for source lines: install binutils";
	if (places.error == 0)
		return "is needed for source lines, but has not answered";
	(void)snprintf(why, sizeof(why), "is needed for source lines, but could not be started: %s",
		       strerror(places.error));
	return why;
}

static bool is_foreign_file(const char *file)
{
	bool is_foreign = strncmp(file, "/usr/", 5) == 0;
	for (uint32_t i = 0; i < rule_count; i++) {
		if (strstr(file, rules[i].text) != NULL)
			is_foreign = !rules[i].is_own;
	}
	return is_foreign;
}

static void take_frame(struct known *self, const char *function, char *file)
{
	char *colon = strrchr(file, ':');
	self->is_spin |= strstr(file, "/bits/atomic_wait.h:") != NULL ||
			 strstr(file, "/bits/atomic_timed_wait.h:") != NULL;
	self->is_shared_mutex |= strstr(file, "/shared_mutex:") != NULL;
	if (colon == NULL || !self->is_foreign || file[0] == '?')
		return;
	*colon = '\0';
	self->is_foreign = is_foreign_file(file);
	self->place.line = atoi(colon + 1);
	free((void *)(uintptr_t)self->place.file);
	free((void *)(uintptr_t)self->place.function);
	self->place.file = strdup(file);
	self->place.function = strdup(function);
}

/* The innermost frame of the user's own code; else the outermost. A question for address 0 after it
 * shows where the answer ends. */
static void ask(struct known *self)
{
	static struct line function, file;
	if (!places.was_started)
		start();
	if (places.questions == NULL ||
	    fprintf(places.questions, "0x%llx\n0x0\n",
		    (unsigned long long)((uintptr_t)self->code - places.bias - 1)) < 0 ||
	    fflush(places.questions) != 0 || !read_line(&file))
		return;
	while (read_line(&function) && strncmp(function.text, "0x", 2) != 0 && read_line(&file))
		take_frame(self, function.text, file.text);
	(void)(read_line(&function) && read_line(&file));
}

/* Of another library: its caller is wanted. */
static bool is_outside(const void *code, Dl_info *about)
{
	return dladdr(code, about) != 0 && (uintptr_t)about->dli_fbase != places.bias;
}

static struct known *new_known(const void *code)
{
	struct known *self = calloc(1, sizeof(*self));
	char text[32];
	Dl_info about;
	(void)snprintf(text, sizeof(text), "0x%llx",
		       (unsigned long long)((uintptr_t)code - places.bias));
	if (self == NULL)
		abort();
	self->code = code;
	self->is_foreign = true;
	int error = errno; /* the program's */
	bool outside = self->is_outside = is_outside(code, &about);
	self->place = (struct pfs_sim_place){
		strdup(pfs_trace_base_name(outside ? about.dli_fname : places.path)),
		strdup(outside && about.dli_sname != NULL ? about.dli_sname : text),
		PFS_PLACES_TEXT, 0
	};
	if (outside)
		return self;
	places.is_asking = 1;
	ask(self);
	places.is_asking = 0;
	errno = error;
	return self;
}

/* room: a power of two. */
static uint32_t slot_of(const void *code, uint32_t room)
{
	return (uint32_t)((uintptr_t)code * 2654435761u) & (room - 1);
}

static void widen(void)
{
	uint32_t room = places.room != 0 ? 2 * places.room : 1024;
	struct known **wider = calloc(room, sizeof(struct known *));
	if (wider == NULL)
		abort();
	for (uint32_t i = 0; i < places.room; i++) {
		if (places.known[i] == NULL)
			continue;
		uint32_t at = slot_of(places.known[i]->code, room);
		while (wider[at] != NULL)
			at = (at + 1) & (room - 1);
		wider[at] = places.known[i];
	}
	free((void *)places.known);
	places.known = wider;
	places.room = room;
}

static struct known *known_of(const void *code)
{
	/* In the constructors of globals it is not known yet which program runs. */
	static struct known unknown = { .place = { "", "?", PFS_PLACES_TEXT, 0 } };
	if (places.path[0] == '\0')
		return &unknown;
	if (2 * places.count >= places.room)
		widen();
	uint32_t at = slot_of(code, places.room);
	while (places.known[at] != NULL && places.known[at]->code != code)
		at = (at + 1) & (places.room - 1);
	if (places.known[at] == NULL) {
		places.known[at] = new_known(code);
		places.count++;
	}
	return places.known[at];
}

struct pfs_places_recent pfs_places_recent[PFS_PLACES_RECENT];

const struct pfs_sim_place *pfs_places_of(const void *code, bool *is_foreign)
{
	const struct known *known = known_of(code);
	*is_foreign = known->is_foreign;
	if (!known->is_foreign && known->code == code)
		pfs_places_recent[(uintptr_t)code % PFS_PLACES_RECENT] =
			(struct pfs_places_recent){ code, &known->place };
	return &known->place;
}

const char *pfs_places_library(const void *code)
{
	Dl_info about;
	return is_outside(code, &about) ? pfs_trace_base_name(about.dli_fname) : NULL;
}

bool pfs_places_is_outside(const void *code)
{
	return known_of(code)->is_outside;
}

bool pfs_places_is_shared_mutex(const void *code)
{
	return known_of(code)->is_shared_mutex;
}

bool pfs_places_is_spin(const void *code)
{
	return known_of(code)->is_spin;
}

const struct pfs_sim_place *pfs_places_named(const struct pfs_sim_place *place, const char *text)
{
	/* All places come from here, and are the first member of a known one. */
	struct known *known = (struct known *)(uintptr_t)place;
	struct named *named = known->named;
	while (named != NULL && named->place.text != text)
		named = named->next;
	if (named != NULL)
		return &named->place;
	named = calloc(1, sizeof(*named));
	if (named == NULL)
		abort();
	named->place = *place;
	named->place.text = text;
	named->next = known->named;
	known->named = named;
	return &named->place;
}

/* For the machine's messages of races. */
const struct pfs_host_entries *const pfs_host_entries; /* none */

/* Instrumented code calls tsan.c: the machine's own way is not used. */
bool pfs_plain_is_seen(void)
{
	return false;
}

const struct pfs_sim_place *pfs_place_of_code(const void *code)
{
	return &known_of(code)->place;
}
