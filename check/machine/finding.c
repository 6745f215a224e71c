#define _GNU_SOURCE
#include "check/machine/finding.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check/machine/current.h"
#include "check/machine/trace.h"

const char *pfs_finding_words(enum pfs_finding_kind kind)
{
	static const char *const words[] = {
#define WORDS(name, text) text,
		PFS_FINDINGS(WORDS)
#undef WORDS
	};
	return words[kind];
}

struct pfs_finding_side pfs_side(uint32_t thread, const char *does,
				 const struct pfs_sim_place *place)
{
	return (struct pfs_finding_side){ thread, does, place->function, place->file, place->line };
}

struct pfs_finding_side pfs_side_here(const char *does, const struct pfs_sim_place *place)
{
	const struct pfs_vthread *running = pfs_current != NULL ? pfs_current->run.running : NULL;
	return pfs_side(running != NULL ? running->id : PFS_THREAD_NONE, does, place);
}

uint32_t pfs_side_after(const struct pfs_vthread *thread, struct pfs_finding_side *side)
{
	const struct pfs_sim_place *place = thread->pending.place;
	if (place == NULL)
		return 0;
	*side = pfs_side(thread->id, "after", place);
	return 1;
}

/* ---- names ---- */

/* Does a bracket of arguments begin here? Not one of a name, such as "operator()", "operator<" or
 * "(anonymous namespace)". */
static bool opens(const char *name, size_t at)
{
	static const char operator_[] = "operator", space[] = "(anonymous namespace)";
	size_t length = sizeof(operator_) - 1;
	bool is_operator = at >= length && memcmp(name + at - length, operator_, length) == 0;
	return (name[at] == '<' && !is_operator) ||
	       (name[at] == '(' && !is_operator &&
		strncmp(name + at, space, sizeof(space) - 1) != 0);
}

static bool closes(const char *name, size_t at)
{
	return name[at] == ')' || (name[at] == '>' && (at == 0 || name[at - 1] != '-'));
}

void pfs_finding_shorten(const char *name, char *text)
{
	size_t length = 0, total = 0;
	unsigned depth = 0;
	char inside[PFS_SHORT_BYTES];
	bool is_plain = strlen(name) <= PFS_SHORT_CHARS;
	for (size_t at = 0; name[at] != '\0'; at++) {
		bool opened = !is_plain && opens(name, at);
		if (depth == 0 || (depth == 1 && !opened && closes(name, at))) {
			inside[length % PFS_SHORT_CHARS] = name[at];
			if (total++ < PFS_SHORT_CHARS / 2)
				text[total - 1] = name[at];
			length++;
		}
		if (opened && depth++ == 0) {
			for (int dots = 0; dots < 2; dots++, length++) {
				inside[length % PFS_SHORT_CHARS] = '.';
				if (total++ < PFS_SHORT_CHARS / 2)
					text[total - 1] = '.';
			}
		} else if (depth != 0 && closes(name, at)) {
			depth--;
		}
	}
	size_t kept = length < PFS_SHORT_CHARS / 2 ? length : PFS_SHORT_CHARS / 2,
	       rest = length - kept;
	if (rest > PFS_SHORT_CHARS / 2) {
		memcpy(text + kept, "..", 2);
		kept += 2;
		rest = PFS_SHORT_CHARS / 2;
	}
	for (size_t at = length - rest; at < length; at++)
		text[kept++] = inside[at % PFS_SHORT_CHARS];
	text[kept] = '\0';
}

/* The name of a side in texts. Another name that would become the same has a number. */
static void put_name(const struct pfs_finding *self, uint32_t at, char *text)
{
	uint32_t others = 0;
	const char *name = self->sides[at].function;
	pfs_finding_shorten(name, text);
	for (uint32_t before = 0; before < at; before++) {
		char other[PFS_SHORT_BYTES];
		const char *whole = self->sides[before].function;
		if (whole == NULL || strcmp(whole, name) == 0)
			continue;
		pfs_finding_shorten(whole, other);
		others += strcmp(other, text) == 0;
	}
	if (others != 0)
		(void)sprintf(text + strlen(text), "#%u", others + 1);
}

/* The first side with this function. */
static uint32_t first_of(const struct pfs_finding *self, uint32_t at)
{
	uint32_t first = 0;
	while (self->sides[first].function == NULL ||
	       strcmp(self->sides[first].function, self->sides[at].function) != 0)
		first++;
	return first;
}

void pfs_finding_short_names(const struct pfs_finding *self,
			     void (*visit)(void *context, const char *name, const char *whole),
			     void *context)
{
	for (uint32_t at = 0; at < self->side_count; at++) {
		char text[PFS_SHORT_BYTES + 16];
		const char *name = self->sides[at].function;
		if (name == NULL || first_of(self, at) != at)
			continue;
		put_name(self, at, text);
		if (strcmp(text, name) != 0)
			visit(context, text, name);
	}
}

static void put_side(const struct pfs_finding *self, uint32_t at, FILE *out)
{
	const struct pfs_finding_side *side = &self->sides[at];
	char name[PFS_SHORT_BYTES + 16] = "";
	if (side->function != NULL)
		put_name(self, first_of(self, at), name);
	if (side->file == NULL)
		(void)fputs(name, out);
	else
		(void)fprintf(out, side->function != NULL ? "%s (%s:%d)" : "%s%s:%d", name,
			      pfs_trace_base_name(side->file), side->line);
}

/* ---- the text ---- */

static void put_text(const struct pfs_finding *self, const char *format, va_list arguments,
		     char *text, size_t bytes)
{
	char *words = NULL;
	FILE *out = fmemopen(text, bytes, "w");
	if (out == NULL || vasprintf(&words, format, arguments) < 0)
		words = NULL;
	for (const char *at = words; at != NULL && *at != '\0'; at++) {
		if (*at >= *PFS_SIDE_1 && *at <= *PFS_SIDE_3 && (uint32_t)*at <= self->side_count)
			put_side(self, (uint32_t)*at - 1, out);
		else
			(void)fputc(*at, out);
	}
	free(words);
	if (out != NULL)
		(void)fclose(out);
	text[bytes - 1] = '\0';
}

void pfs_machine_end_here(struct pfs_machine *self, enum pfs_machine_end end)
{
	self->run.end = end;
	pfs_current_quiet = 0; /* it ends where it stood, perhaps in a quiet part */
	if (self->run.running != NULL)
		pfs_current_leave(self, self->run.running);
	if (self->aside.is_on)
		pfs_fiber_switch(&self->aside.fiber, &self->run.caller);
}

/* Where gdb stops. */
__attribute__((noinline)) void pfs_machine_failed(struct pfs_machine *self)
{
	pfs_machine_end_here(self, PFS_END_FAILED);
}

static void find(enum pfs_finding_kind kind, const struct pfs_finding_side *sides, uint32_t count,
		 const char *format, va_list arguments)
{
	struct pfs_machine *self = pfs_current;
	if (self == NULL) {
		(void)vfprintf(stderr, format, arguments);
		(void)fputc('\n', stderr);
		abort();
	}
	if (self->run.end == PFS_END_FAILED)
		return; /* the first one stays */
	struct pfs_finding *finding = &self->run.finding;
	finding->kind = kind;
	finding->side_count = count;
	if (count != 0)
		memcpy(finding->sides, sides, count * sizeof(*sides));
	put_text(finding, format, arguments, self->run.message, sizeof(self->run.message));
}

void pfs_machine_fail(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	find(PFS_FOUND_FAILURE, NULL, 0, format, arguments);
	va_end(arguments);
	pfs_machine_failed(pfs_current);
}

void pfs_machine_find(enum pfs_finding_kind kind, const struct pfs_finding_side *sides,
		      uint32_t count, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	find(kind, sides, count, format, arguments);
	va_end(arguments);
	pfs_machine_failed(pfs_current);
}

/* ---- threads that wait forever ---- */

/* Who holds a mutex of the machine: 0, or the thread and 1. */
static uint32_t holder_of(const struct pfs_vthread *thread)
{
	uint32_t word;
	if (thread->pending.kind != PFS_SIM_LOCK || thread->pending.size_bytes != sizeof(word))
		return PFS_THREAD_NONE;
	memcpy(&word, thread->pending.address, sizeof(word));
	return word - 1;
}

void pfs_finding_waits(struct pfs_machine *self)
{
	struct pfs_finding *finding = &self->run.finding;
	const struct pfs_hooks *hooks = &self->hooks;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	*finding = (struct pfs_finding){ .kind = PFS_FOUND_LIVELOCK };
	for (uint32_t id = 0; id < self->thread_count; id++) {
		const struct pfs_vthread *thread = self->threads[id];
		if (thread->state == PFS_VTHREAD_FINISHED || thread->steps >= thread->stop_after)
			continue;
		struct pfs_awaited awaited = { .holder = holder_of(thread) };
		if (hooks->awaits != NULL && !hooks->awaits(hooks->name_context, id, &awaited))
			continue;
		bool yields = thread->pending.kind == PFS_SIM_YIELD;
		const struct pfs_sim_place *place = thread->pending.place;
		const char *file = pfs_trace_base_name(place->file);
		if (!yields)
			finding->kind = PFS_FOUND_DEADLOCK;
		if (out == NULL || finding->side_count == PFS_FINDING_SIDES_MAX)
			continue;
		if (finding->side_count++ != 0)
			(void)fputs("; ", out);
		finding->sides[finding->side_count - 1] = pfs_side(id, yields ? "yields" : "waits",
								   place);
		(void)fprintf(out,
			      yields ? "thread %u calls %s (%s:%d) forever: no thread changes what "
				       "it reads"
				     : "thread %u waits forever for %s (%s:%d)",
			      id, place->text, file, place->line);
		if (awaited.object[0] != '\0')
			(void)fprintf(out, " of %s", awaited.object);
		if (awaited.holder < self->thread_count)
			(void)fprintf(out, ", which thread %u holds", awaited.holder);
	}
	if (out != NULL && fclose(out) == 0)
		(void)snprintf(self->run.message, sizeof(self->run.message), "%s: %s",
			       pfs_finding_words(finding->kind), text);
	free(text);
}
